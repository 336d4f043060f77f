//! The program, as a shell runs it.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a program that cannot be run fails its test")]

mod faulty;

#[path = "cli/failures.rs"]
mod failures;
#[path = "cli/files.rs"]
mod files;

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use faulty::{CANARY, FaultyServer, Reply, no_groups, ok, one_gateway, reply};
use sallyport_client::{InstanceStatus, Protocol};

const PAGE: &str = r#"{"code":200,"message":"ok","requestId":"r","data":{"items":[{"instanceId":9001,"offerId":31,
    "status":"active","ip":"203.0.113.7","port":20001,"protocols":["http","socks5"],"countryCode":"USA",
    "cityCode":"New, York","ispType":1,"expiresAt":null,"activatedAt":"2026-01-31T08:00:00Z","capabilities":{},
    "groupId":null}],"page":1,"pageSize":1000,"total":1}}"#;

/// The program with base URL and token in the environment.
fn program(server: &FaultyServer, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sallyport"));
    command.env("SALLYPORT_BASE_URL", server.base_url()).env("SALLYPORT_API_KEY", CANARY).args(arguments);
    command
}

/// Runs the program on a thread that may wait.
async fn run(server: &FaultyServer, arguments: &[&str], input: &str) -> Output {
    start(program(server, arguments), input.to_owned()).await
}

async fn start(mut command: Command, input: String) -> Output {
    let output = tokio::task::spawn_blocking(move || {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that refuses its arguments ends before it reads anything.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    })
    .await
    .unwrap();
    for text in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(text).contains("T0ken"), "{output:?}");
    }
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Asserts that the program ends with this exit code and says this on standard error; returns all that it says there.
#[track_caller]
fn failed(output: &Output, code: i32, message: &str) -> String {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(text.contains(message), "expected {message:?} in {text}");
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extraction_is_lines_or_json() {
    let server = FaultyServer::start(vec![one_gateway()]).await;
    assert_eq!(stdout(&run(&server, &["extract", "1"], "").await), "gw.invalid:80\n");
    let text = stdout(&run(&server, &["extract", "1", "--format", "json", "--protocol", "socks5"], "").await);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["endpoints"][0]["port"], &value["partial"]), (&80.into(), &false.into()));
    assert!(server.requests()[1].contains("protocol=socks5"));
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_a_table_or_json() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    assert!(stdout(&run(&server, &["groups"], "").await).starts_with("ID"));
    assert_eq!(stdout(&run(&server, &["groups", "--format", "json"], "").await), "[]\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_come_from_standard_input_and_instances_in_two_forms() {
    let server = FaultyServer::start(vec![ok(PAGE)]).await;
    let input = "# mine\n203.0.113.7\n\n  203.0.113.8:80\n";
    let table = stdout(&run(&server, &["search", "--file", "-"], input).await);
    let cells = [
        "9001",
        "31",
        "active",
        "203.0.113.7",
        "20001",
        "http socks5",
        "USA",
        "New, York",
        "2026-01-31T08:00:00Z",
    ];
    let row = table.lines().nth(1).unwrap().split("  ").filter(|cell| !cell.is_empty());
    assert_eq!(row.map(str::trim).collect::<Vec<_>>(), cells, "{table}");
    assert!(server.requests()[0].contains(r#"["203.0.113.7","203.0.113.8:80"]"#), "{:?}", server.requests());
    let lines = stdout(&run(&server, &["search", "203.0.113.7", "--format", "jsonl"], "").await);
    let instance: serde_json::Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(instance["instanceId"], 9001);
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_chosen_by_number_or_none() {
    for (arguments, sent) in
        [(["--group", "7"].as_slice(), r#""groupId":7"#), (&["--group", "none"], r#""groupId":0"#)]
    {
        let server = FaultyServer::start(vec![ok(PAGE)]).await;
        stdout(&run(&server, &[&["search", "203.0.113.7"], arguments].concat(), "").await);
        assert!(server.requests()[0].contains(sent), "{arguments:?}: {:?}", server.requests());
    }
    let server = FaultyServer::start(vec![ok(PAGE)]).await;
    let output = run(&server, &["search", "203.0.113.7", "--group", "all"], "").await;
    failed(&output, 2, "number of a group or `none`");
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_of_countries_are_sent_in_upper_case() {
    let server = FaultyServer::start(vec![one_gateway(), ok(PAGE)]).await;
    stdout(&run(&server, &["extract", "1", "--region", "usa"], "").await);
    stdout(&run(&server, &["search", "203.0.113.7", "--country", "usa"], "").await);
    let seen = server.requests();
    assert!(seen[0].contains("regions=USA") && seen[1].contains(r#""countryCode":"USA""#), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_tell_what_went_wrong() {
    for (script, arguments, code) in [
        (ok(r#"{"code":7,"message":"no"}"#), vec!["groups"], 1),
        (ok("garbage"), vec!["groups"], 1),
        (ok("garbage"), vec!["search", "192.0.2.1"], 1),
        (reply(429, &[("retry-after", "9000")], ""), vec!["groups"], 3),
        (Reply::Raw(Vec::new()), vec!["groups", "--retries", "0"], 3),
    ] {
        let server = FaultyServer::start(vec![script]).await;
        let output = run(&server, &arguments, "").await;
        assert!(!failed(&output, code, "").is_empty() && output.stdout.is_empty(), "{arguments:?}");
    }
}

/// What a hostile service may put into any text: ESC, BEL, CSI as a C1 control, DEL, line ends, reordering.
const STEERING: &str = "北京\u{1b}[2J\u{7}\u{9b}31m\u{7f}\u{85}\n\r\u{2028}\u{202e}\u{2066}";

#[track_caller]
fn assert_harmless(output: &Output) {
    for text in [&output.stdout, &output.stderr] {
        // The program's own lines end so.
        let text = std::str::from_utf8(text).unwrap().replace("\r\n", "\n");
        let odd = |letter: char| !(letter.is_ascii_graphic() || " \n北京…".contains(letter));
        assert!(!text.contains(odd), "{text:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_text_of_the_service_steers_the_terminal() {
    let page = serde_json::json!({
        "code": 200, "message": STEERING, "requestId": STEERING,
        "data": {"items": [{
            "instanceId": 1, "offerId": 1, "status": STEERING, "ip": STEERING, "port": 1, "protocols": [STEERING],
            "countryCode": STEERING, "cityCode": STEERING, "ispType": 1, "expiresAt": null, "activatedAt": null,
            "capabilities": {}, "groupId": null,
        }], "page": 1, "pageSize": 1000, "total": 1},
    });
    let groups = serde_json::json!({
        "code": 200, "message": STEERING, "requestId": STEERING,
        "data": {"items": [{"groupId": 1, "name": STEERING, "createdAt": "2026-01-01T00:00:00Z",
                            "updatedAt": "2026-01-01T00:00:00Z"}]},
    });
    let gateways = serde_json::json!({
        "code": 0, "success": true, "msg": STEERING, "data": [{"ip": STEERING, "port": 80}], "request_ip": STEERING,
    });
    let rejection =
        serde_json::json!({"code": STEERING, "message": STEERING, "requestId": STEERING}).to_string();
    for (script, arguments, lines) in [
        (ok(&page.to_string()), vec!["search", "192.0.2.1"], 2),
        (ok(&page.to_string()), vec!["search", "192.0.2.1", "--format", "jsonl"], 1),
        (ok(&groups.to_string()), vec!["groups"], 2),
        (ok(&groups.to_string()), vec!["groups", "--format", "json"], 1),
        (ok(&gateways.to_string()), vec!["extract", "1"], 1),
        (ok(&gateways.to_string()), vec!["extract", "1", "--format", "json"], 1),
    ] {
        let server = FaultyServer::start(vec![script]).await;
        let output = run(&server, &arguments, "").await;
        assert_harmless(&output);
        let text = stdout(&output);
        assert!(text.lines().count() == lines && text.contains("北京"), "{arguments:?}: {text}");
        if text.starts_with(['{', '[']) {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let steering = ["/ip", "/0/name", "/endpoints/0/ip"].into_iter().find_map(|at| value.pointer(at));
            assert_eq!(steering, Some(&STEERING.into()), "{text}");
        }
    }
    for script in [
        reply(400, &[], &rejection),
        reply(429, &[("retry-after", "9000")], &rejection),
        reply(500, &[], STEERING),
        ok(&rejection),
        ok(STEERING),
        ok(&groups.to_string().replace("2026-01-01T00:00:00Z", "soon\\u001b[2J")),
        reply(302, &[("location", "https://else.invalid")], STEERING),
    ] {
        for command in [["groups"].as_slice(), &["search", "192.0.2.1"], &["extract", "1"]] {
            let server = FaultyServer::start(vec![script.clone()]).await;
            let output = run(&server, &[command, &["--retries", "0"]].concat(), "").await;
            assert_harmless(&output);
            let text = stderr(&output);
            assert!(!output.status.success() && text.lines().count() == 1, "{command:?}: {text}");
        }
    }
    let server = FaultyServer::start(vec![no_groups()]).await;
    let long = STEERING.repeat(20);
    for arguments in [
        vec!["search", STEERING],
        vec!["search", "192.0.2.1", "--status", STEERING],
        vec!["search", "--file", STEERING],
        vec!["extract", "1", "--protocol", STEERING],
        vec!["extract", "1", "--request-id", &long],
        vec![STEERING],
    ] {
        let output = run(&server, &arguments, "").await;
        assert_harmless(&output);
        assert!(!output.status.success() && !output.stderr.is_empty(), "{output:?}");
    }
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_of_the_environment_sees_nothing_of_this_machine() {
    let (server, proxy) =
        (FaultyServer::start(vec![no_groups()]).await, FaultyServer::start(vec![no_groups()]).await);
    let mut command = program(&server, &["groups"]);
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(variable, proxy.base_url());
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    stdout(&start(command, String::new()).await);
    assert_eq!((proxy.requests().len(), server.requests().len()), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socks_proxy_of_the_environment_is_used_and_one_of_an_unknown_scheme_is_an_error() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let proxy = server.socks_proxy().await;
    let start_with = |variable: &str, scheme: &str, host: &str| {
        let mut command = program(&server, &["groups", "--allow-http", "--base-url", host]);
        for name in ["ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"] {
            command.env_remove(name);
        }
        command.env(variable, format!("{scheme}://{proxy}"));
        start(command, String::new())
    };
    stdout(&start_with("ALL_PROXY", "socks5h", "http://api.invalid").await);
    stdout(&start_with("HTTP_PROXY", "socks5", "http://203.0.113.7:8080").await);
    let seen = server.requests();
    assert!(seen.len() == 2 && seen.iter().all(|request| request.starts_with("GET /openapi")), "{seen:?}");
    for (variable, scheme) in [("ALL_PROXY", "socks"), ("http_proxy", "ftp")] {
        let output = start_with(variable, scheme, "http://api.invalid").await;
        let text = failed(&output, 2, &format!("unknown scheme in the environment variable {variable}"));
        assert!(text.contains("socks5h") && !text.contains(&proxy.to_string()), "{text}");
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_settings_are_named() {
    for (variable, expected) in
        [("SALLYPORT_BASE_URL", "--base-url"), ("SALLYPORT_API_KEY", "SALLYPORT_API_KEY")]
    {
        for is_empty in [false, true] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sallyport"));
            command.env("SALLYPORT_BASE_URL", "http://127.0.0.1:9").env("SALLYPORT_API_KEY", CANARY);
            command.env(variable, "").arg("groups");
            if !is_empty {
                command.env_remove(variable);
            }
            let text = failed(&start(command, String::new()).await, 2, expected);
            assert!(text.starts_with("sallyport: missing "), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn completions_need_no_service() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sallyport"));
    command.args(["completions", "bash"]);
    assert!(stdout(&start(command, String::new()).await).contains("_sallyport"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partial_result_is_reported_on_standard_error() {
    let server = FaultyServer::start(vec![one_gateway()]).await;
    let output = run(&server, &["extract", "3"], "").await;
    assert_eq!(stdout(&output), "gw.invalid:80\n");
    assert_eq!(stderr(&output), "sallyport: partial result: 1 of 3 requested gateways\n");
    let output = run(&server, &["extract", "1"], "").await;
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    // What the service says about waiting is passed on.
    let waiting = reply(200, &[("retry-after", "7")], r#"{"code":0,"data":[{"ip":"gw.invalid","port":80}]}"#);
    let server = FaultyServer::start(vec![waiting]).await;
    let output = run(&server, &["extract", "2", "--json"], "").await;
    assert!(stderr(&output).contains("1 of 2 requested gateways; retry after 7s"), "{output:?}");
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&value["partial"], &value["retryAfter"]), (&true.into(), &7.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_result_is_a_failure_in_every_format() {
    let server = FaultyServer::start(vec![ok(r#"{"code":0,"data":[]}"#)]).await;
    for format in [vec![], vec!["--json"]] {
        failed(&run(&server, &[vec!["extract", "2"], format].concat(), "").await, 3, "0 of 2");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_prints_json() {
    let group =
        r#"{"groupId":1,"name":"a","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}"#;
    let groups = ok(&format!(r#"{{"code":200,"data":{{"items":[{group},{group}]}}}}"#));
    for (script, arguments, lines) in [
        (one_gateway(), vec!["extract", "1"], 1),
        (groups, vec!["groups"], 2),
        (ok(PAGE), vec!["search", "203.0.113.7"], 1),
    ] {
        let server = FaultyServer::start(vec![script]).await;
        let text = stdout(&run(&server, &[arguments.as_slice(), &["--json"]].concat(), "").await);
        assert_eq!(text.lines().count(), lines, "{text}");
        for line in text.lines() {
            assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object(), "{line}");
        }
        let output =
            run(&server, &[arguments.as_slice(), &["--json", "--format", "json"]].concat(), "").await;
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_comes_from_a_file_under_either_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sallyport-cli-token");
    std::fs::write(&path, format!("{CANARY}\n")).unwrap();
    let server = FaultyServer::start(vec![no_groups()]).await;
    let start_with = |option: &str, path: &std::path::Path| {
        let mut command = program(&server, &["groups", option]);
        command.env_remove("SALLYPORT_API_KEY").arg(path);
        start(command, String::new())
    };
    for option in ["--api-key-file", "--token-file"] {
        stdout(&start_with(option, &path).await);
    }
    assert!(
        server.requests().iter().all(|request| request.contains("canary%2FT0ken%2B9")),
        "{:?}",
        server.requests()
    );
    std::fs::remove_file(&path).unwrap();
    failed(&start_with("--api-key-file", &path).await, 2, "sallyport-cli-token");
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_is_waited_for_within_the_timeout_unless_max_wait_is_shorter() {
    let throttled = || reply(429, &[("retry-after", "31")], "");
    for arguments in [["groups", "--timeout", "30"], ["groups", "--max-wait", "30"]] {
        let server = FaultyServer::start(vec![throttled(), no_groups()]).await;
        let output = run(&server, &arguments, "").await;
        assert_eq!((output.status.code(), server.requests().len()), (Some(3), 1), "{output:?}");
    }
    let server = FaultyServer::start(vec![reply(429, &[("retry-after", "1")], ""), no_groups()]).await;
    stdout(&run(&server, &["groups", "--max-wait", "1"], "").await);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_list_the_values_of_an_argument() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let known = |values: &[&str]| format!("[possible values: {}]", values.join(", "));
    let (protocols, statuses) = (known(Protocol::KNOWN), known(InstanceStatus::KNOWN));
    for (arguments, values) in [
        (vec!["extract", "1", "--protocol", "https"], protocols.as_str()),
        (vec!["search", "192.0.2.1", "--status", "gone"], statuses.as_str()),
        (vec!["extract", "1", "--format", "xml"], "possible values: lines, json"),
        (vec!["groups", "--format", "csv"], "possible values: table, json, jsonl"),
        (vec!["search", "192.0.2.1", "--format", "xml"], "possible values: table, jsonl"),
        (vec!["completions", "dos"], "possible values: bash, elvish, fish, powershell, zsh"),
    ] {
        failed(&run(&server, &arguments, "").await, 2, values);
    }
    assert!(server.requests().is_empty());
}
