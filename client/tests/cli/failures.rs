//! What the program says and returns when it fails.

use std::{
    fs::OpenOptions,
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;

use sallyport_client::contract::{ExtractProxies, SearchStaticInstances};

use crate::faulty::{CANARY, FaultyServer, Reply, no_groups, ok, one_gateway, reply};
use crate::{failed, program, run, start, stderr, stdout};

/// The object on the last line of standard error.
#[track_caller]
fn error(output: &Output) -> Value {
    let text = stderr(output);
    let value: Value = serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap();
    value["error"].clone()
}

/// The request id of the only request.
fn sent_id(server: &FaultyServer) -> String {
    let seen = server.requests();
    let id = seen[0].split("request_id=").nth(1).unwrap();
    id.split(['&', ' ']).next().unwrap().to_owned()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn gateways_that_cannot_be_written_are_not_lost() {
    for format in ["lines", "json"] {
        let server = FaultyServer::start(vec![one_gateway()]).await;
        let mut command = program(&server, &["extract", "1", "--format", format]);
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        command.stdout(full).stderr(Stdio::piped());
        let output =
            tokio::task::spawn_blocking(move || command.spawn().unwrap().wait_with_output().unwrap());
        let output = output.await.unwrap();
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let advice = format!("repeat it with --request-id {}", sent_id(&server));
        assert!(stderr(&output).contains(&advice), "{output:?}");
        assert!(stderr(&output).contains("cannot write the output"), "{output:?}");
        if format == "json" {
            assert_eq!(error(&output)["requestId"], sent_id(&server));
        }
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_prints_the_request_id_of_the_extraction() {
    for (signal, code, message) in [("-INT", 130, "interrupted"), ("-TERM", 143, "terminated")] {
        let server = FaultyServer::start(vec![Reply::Hang]).await;
        let mut command = program(&server, &["extract", "1"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        for _ in 0..1000 {
            if !server.requests().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let id = sent_id(&server);
        assert_eq!(id.len(), 32, "{id}");
        assert_eq!(
            stderr(&output),
            format!(
                "sallyport: {message}; to receive the gateways of this extraction, repeat it with --request-id {id}\n"
            )
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_value_is_not_taken_for_an_absent_one() {
    let server = FaultyServer::start(vec![one_gateway()]).await;
    for (arguments, expected) in [
        (
            ["extract", "1", "--request-id", ""],
            "expected the request id of an extraction, found an empty value",
        ),
        (["extract", "1", "--request-id=", "--json"], "leave the option out for a new extraction"),
        (["extract", "1", "--region", ""], "expected a value, found an empty one"),
        (["search", "192.0.2.1", "--country", ""], "expected a value, found an empty one"),
        (["search", "192.0.2.1", "--order", ""], "expected a value, found an empty one"),
    ] {
        failed(&run(&server, &arguments, "").await, 2, expected);
    }
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_extraction_says_how_to_repeat_it() {
    for (script, code, is_advised) in [
        (Reply::Hang, 3, true),
        (Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec()), 3, true),
        (ok("garbage"), 1, true),
        (reply(503, &[], ""), 3, true),
        // Nothing was extracted.
        (reply(429, &[], ""), 3, false),
        (reply(400, &[], r#"{"code":7,"message":"no"}"#), 1, false),
    ] {
        let server = FaultyServer::start(vec![script]).await;
        let arguments = ["extract", "1", "--timeout", "1", "--retries", "0"];
        let output = run(&server, &arguments, "").await;
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let (text, id) = (stderr(&output), sent_id(&server));
        assert_eq!(text.contains(&format!("repeat it with --request-id {id}")), is_advised, "{text}");
        assert_eq!((text.matches(&id).count(), text.lines().count()), (1, 1), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_json_a_failure_is_an_object_on_standard_error() {
    let rejection = r#"{"code":40001,"message":"no","requestId":"trace-1"}"#;
    let server = FaultyServer::start(vec![reply(400, &[], rejection)]).await;
    let found = error(&run(&server, &["groups", "--json"], "").await);
    let expected = serde_json::json!({
        "kind": "rejected", "message": "rejected by the service: HTTP 400, code 40001: no", "status": 400, "code": 40001,
        "traceId": "trace-1",
    });
    assert_eq!(found, expected);

    let server = FaultyServer::start(vec![reply(429, &[("retry-after", "9000")], "")]).await;
    let found = error(&run(&server, &["groups", "--format", "json"], "").await);
    assert_eq!((&found["kind"], &found["retryAfter"]), (&"throttled".into(), &9000.into()));

    let server = FaultyServer::start(vec![Reply::Hang]).await;
    let found = error(&run(&server, &["extract", "1", "--json", "--timeout", "1"], "").await);
    let id = sent_id(&server);
    assert_eq!((&found["kind"], &found["requestId"]), (&"timeout".into(), &id.as_str().into()));
    assert_eq!(found["message"], "call, retries included, timed out after 1s");
    assert!(found["advice"].as_str().unwrap().ends_with(&format!("--request-id {id}")), "{found}");

    let server = FaultyServer::start(vec![no_groups()]).await;
    for (arguments, code, kind) in [
        (vec!["extract", "0", "--json"], 2, "usage"),
        (vec!["extract", "0", "--format", "json"], 2, "usage"),
        (vec!["search", "--format=jsonl"], 2, "usage"),
        (vec!["search", "nowhere", "--json"], 2, "usage"),
        (vec!["groups", "--json", "--api-key-file", "/dev/null/none"], 2, "configuration"),
    ] {
        let output = run(&server, &arguments, "").await;
        assert_eq!(failed(&output, code, "").lines().count(), 1, "{output:?}");
        assert_eq!(error(&output)["kind"], kind, "{output:?}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_name_options_and_limits() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let limits = |option: &str, minimum: i64, maximum: i64| {
        format!("'{option}': expected a number from {minimum} to {maximum}")
    };
    let count = limits("<COUNT>", ExtractProxies::NUM_MINIMUM, ExtractProxies::NUM_MAXIMUM);
    let page =
        limits("--page <NUMBER>", SearchStaticInstances::PAGE_MINIMUM, SearchStaticInstances::PAGE_MAXIMUM);
    let (smallest, largest) =
        (SearchStaticInstances::PAGE_SIZE_MINIMUM, SearchStaticInstances::PAGE_SIZE_MAXIMUM);
    let size = limits("--page-size <COUNT>", smallest, largest);
    let (many, longer) = ((ExtractProxies::NUM_MAXIMUM + 1).to_string(), (largest + 1).to_string());
    for (arguments, expected) in [
        (vec!["extract", "abc"], count.as_str()),
        (vec!["extract", many.as_str()], &count),
        (vec!["extract", "-1"], &count),
        (vec!["extract", "1", "--retries", "-1"], "'--retries <COUNT>': expected a number from 0 to "),
        (vec!["groups", "--timeout", "0"], "'--timeout <SECONDS>': expected a number from 1 to "),
        (vec!["groups", "--timeout", "99999999999"], "expected a number from 1 to 4294967295"),
        (vec!["search", "192.0.2.1", "--page", "0"], &page),
        (vec!["search", "192.0.2.1", "--page-size", &longer], &size),
        (vec!["search", "192.0.2.1", "--group", "-1"], "number of a group or `none`; numbers start at 1"),
        (
            vec![
                "search",
                "192.0.2.1",
                "--activated-from",
                "2026-02-01T00:00:00Z",
                "--activated-to",
                "2026-01-01T00:00:00Z",
            ],
            "--activated-to: expected a time not before --activated-from",
        ),
        (vec!["groups", "--base-url", "http://api.invalid"], "use https, or pass --allow-http"),
        (vec!["groups", "--base-url", "https://api.invalid?k=v"], "with SALLYPORT_API_KEY or --api-key-file"),
        (vec!["search"], "missing addresses; pass them as arguments, in a file (--file FILE)"),
    ] {
        let text = failed(&run(&server, &arguments, "").await, 2, expected);
        assert!(!text.contains("tip:") && !text.contains("()"), "{arguments:?}: {text}");
        assert!(text.starts_with("sallyport: ") && text.lines().count() == 1, "{arguments:?}: {text}");
    }
    // A token would be readable by every user of the machine, so that there is no option for it.
    for arguments in
        [["groups", "--token", "T0ken"], ["groups", "--api-key", "T0ken"], ["groups", "--tokn", "T0ken"]]
    {
        let tip = "tip: a similar argument exists: '--api-key-file'";
        failed(&run(&server, &arguments, "").await, 2, tip);
    }
    let maximum = ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES;
    let output = run(&server, &["extract", "1", "--request-id", &"x".repeat(maximum + 1)], "").await;
    let expected = format!("expected at most {maximum} bytes of UTF-8, found {}", maximum + 1);
    assert!(stderr(&output).contains(&expected), "{output:?}");
    // The environment has the base URL.
    let text = stderr(&run(&server, &["extract"], "").await);
    assert!(text.contains("Usage: sallyport extract <COUNT>"), "{text}");
    assert!(server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_are_reported_when_asked_for() {
    let script = || vec![reply(429, &[("retry-after", "1")], ""), reply(503, &[], ""), no_groups()];
    let server = FaultyServer::start(script()).await;
    let output = run(&server, &["groups", "--verbose"], "").await;
    stdout(&output);
    let text = stderr(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("sallyport: rate limit exceeded: HTTP 429"), "{text}");
    assert!(lines[0].contains("; retry 1 of 3 in 1."), "{text}");
    assert!(lines[1].contains("HTTP 503") && lines[1].contains("; retry 2 of 3 in 0."), "{text}");

    let server = FaultyServer::start(script()).await;
    let output = run(&server, &["groups"], "").await;
    stdout(&output);
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_comes_from_standard_input() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let start_with = |arguments: &[&str], input: &str| {
        let mut command = program(&server, arguments);
        command.env_remove("SALLYPORT_API_KEY");
        start(command, input.to_owned())
    };
    stdout(&start_with(&["groups", "--api-key-file", "-"], &format!("{CANARY}\n")).await);
    assert!(server.requests()[0].contains("canary%2FT0ken%2B9"), "{:?}", server.requests());
    for (arguments, input, expected) in [
        (vec!["groups", "--api-key-file", "-"], "\n", "cannot read the token on standard input: it is empty"),
        (
            vec!["groups", "--api-key-file", "-"],
            "two T0kens",
            "standard input: invalid token: expected printable",
        ),
        (
            vec!["search", "--file", "-", "--api-key-file", "-"],
            "192.0.2.1",
            "standard input can be read once",
        ),
        (vec!["search", "--file", "-", "--file", "-"], "192.0.2.1", "standard input can be read once"),
    ] {
        failed(&start_with(&arguments, input).await, 2, expected);
    }
    assert_eq!(server.requests().len(), 1);
}
