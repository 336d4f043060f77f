//! The program, as a shell runs it.
#![allow(clippy::unwrap_used, reason = "a program that cannot be run fails its test")]

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

use regex::Regex;

use crate::faulty::{CANARY, FaultyServer, Reply, no_groups, ok, one_gateway, reply};
use serde_json::{Value, json};

/// The program with base URL and token in the environment.
fn program(server: &FaultyServer, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sallyport"));
    command.env("SALLYPORT_BASE_URL", server.base_url()).env("SALLYPORT_API_KEY", CANARY).args(arguments);
    for name in ["ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program on a thread that may wait.
async fn run(mut command: Command, input: &str) -> Output {
    let input = input.to_owned();
    let running = move || {
        let mut child = command.spawn().unwrap();
        // A program that refuses its arguments ends before it reads anything.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    };
    let output = tokio::task::spawn_blocking(running).await.unwrap();
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

/// The request id of the first request.
fn sent_id(server: &FaultyServer) -> String {
    let seen = server.requests();
    seen[0].split("request_id=").nth(1).unwrap().split(['&', ' ']).next().unwrap().to_owned()
}

/// A service for command lines, each with its standard input. `NAME=value` before the arguments sets a variable, `''` is an empty
/// argument, and `FOLDER` the one with the files of the test.
type Row = (Vec<Reply>, &'static [(&'static str, &'static str)]);

/// Runs each command line and returns all that can be seen of it: what was sent, written and returned.
async fn seen_of(rows: &[Row]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let many = "nope\n".repeat(500);
    for (name, content) in [
        ("one", "\u{feff}192.0.2.1\r\n# more\r\n".as_bytes()),
        ("two", b"192.0.2.2\n"),
        ("bad", b"# mine\n192.0.2.1\n\nnope\n10.0.0.0/8\n192.0.2.1:0\n"),
        ("many", many.as_bytes()),
        ("none", b"# none\n\n"),
        ("binary", b"\xff\xfe1\0"),
        ("token", b"canary/T0ken+9\n"),
    ] {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let mut seen = String::new();
    for (script, lines) in rows {
        for (line, input) in *lines {
            let server = FaultyServer::start(script.clone()).await;
            writeln!(seen, "$ {line}").unwrap();
            seen.push_str(&seen_of_one(&server, line, input, folder.path()).await);
        }
    }
    seen
}

async fn seen_of_one(server: &FaultyServer, line: &str, input: &str, folder: &Path) -> String {
    let is_variable =
        |word: &&str| word.split_once('=').is_some_and(|(name, _)| name.starts_with("SALLYPORT_"));
    let folder = folder.to_str().unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    let (variables, arguments) = words.split_at(words.iter().take_while(|word| is_variable(word)).count());
    let expand = |word: &&str| if *word == "''" { String::new() } else { word.replace("FOLDER", folder) };
    let arguments: Vec<String> = arguments.iter().map(expand).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = program(server, &arguments);
    command.envs(variables.iter().filter_map(|word| word.split_once('=')));
    let output = run(command, input).await;
    let mut seen = String::new();
    for request in server.requests() {
        let (line, body) = (request.lines().next().unwrap(), request.split("\r\n\r\n").nth(1).unwrap());
        writeln!(seen, "> {} {body}", line.trim_end_matches(" HTTP/1.1")).unwrap();
    }
    for text in [&output.stdout, &output.stderr] {
        seen.push_str(std::str::from_utf8(text).unwrap());
    }
    let code = output.status.code().unwrap();
    writeln!(seen, "[exit {code}]\n").unwrap();
    for (volatile, name) in [
        ("[0-9a-f]{32}", "ID"),
        (r"in \d\.\d s", "in N s"),
        (&regex::escape(folder), "FOLDER"),
        ("canary%2FT0ken%2B9", "TOKEN"),
    ] {
        seen = Regex::new(volatile).unwrap().replace_all(&seen, name).into_owned();
    }
    seen
}

/// A success of a search with one instance.
fn page() -> Reply {
    ok(
        r#"{"code":200,"data":{"items":[{"instanceId":9001,"offerId":31,"status":"active","ip":"203.0.113.7","port":20001,
        "protocols":["http","socks5"],"countryCode":"USA","cityCode":"New, York","ispType":1,"expiresAt":null,
        "activatedAt":"2026-01-31T08:00:00Z","capabilities":{},"groupId":null}],"page":1,"pageSize":1000,"total":1}}"#,
    )
}

fn two_groups() -> Reply {
    let group =
        r#"{"groupId":1,"name":"a","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}"#;
    ok(&format!(r#"{{"code":200,"data":{{"items":[{group},{group}]}}}}"#))
}

#[tokio::test(flavor = "multi_thread")]
async fn successes() {
    let partial = reply(200, &[("retry-after", "7")], r#"{"code":0,"data":[{"ip":"gw.invalid","port":80}]}"#);
    let throttled = |wait| vec![reply(429, &[("retry-after", wait)], ""), reply(503, &[], ""), no_groups()];
    let rows: [Row; 6] = [
        (
            vec![one_gateway()],
            &[
                ("extract 1", ""),
                ("extract 1 --region usa --protocol socks5 --request-id mine --format json", ""),
                ("extract 1 --json", ""),
                ("extract 3", ""),
            ],
        ),
        (vec![partial], &[("extract 2 --json", "")]),
        (
            vec![no_groups()],
            &[
                ("groups", ""),
                ("groups --format json", ""),
                ("SALLYPORT_API_KEY= groups --api-key-file FOLDER/token", ""),
                ("SALLYPORT_API_KEY= groups --token-file FOLDER/token", ""),
                ("SALLYPORT_API_KEY= groups --api-key-file -", "canary/T0ken+9\n"),
            ],
        ),
        (vec![two_groups()], &[("groups", ""), ("groups --json", ""), ("groups --format json", "")]),
        (
            vec![page()],
            &[
                ("search --file -", "# mine\n203.0.113.7\n\n  203.0.113.8:80\n"),
                ("search 203.0.113.7 --json", ""),
                ("search 203.0.113.7 --group 7 --country usa --order SO-1 --city NYC --format jsonl", ""),
                ("search 203.0.113.7 --group none --status active --page 2 --page-size 5", ""),
                (
                    "search 203.0.113.7 --activated-from 2026-01-31T00:00:00+02:00 --activated-to 2026-01-31T00:00:00Z",
                    "",
                ),
                ("search 192.0.2.9 --file FOLDER/one --file FOLDER/two --file -", "\u{feff}192.0.2.3"),
            ],
        ),
        (throttled("1"), &[("groups --verbose --max-wait 1", ""), ("groups", "")]),
    ];
    insta::assert_snapshot!(seen_of(&rows).await);
}

/// Whatever fails is one line on standard error, with exit code and advice, and nothing on standard output.
#[tokio::test(flavor = "multi_thread")]
async fn failures() {
    let rejection = r#"{"code":40001,"message":"no","requestId":"trace-1"}"#;
    let cut = Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec());
    let rows: [Row; 9] = [
        (vec![ok(r#"{"code":7,"message":"no"}"#)], &[("groups", "")]),
        (vec![reply(400, &[], rejection)], &[("groups", ""), ("groups --json", ""), ("extract 1", "")]),
        (vec![ok("garbage")], &[("groups", ""), ("search 192.0.2.1", ""), ("extract 1", "")]),
        (
            vec![reply(429, &[("retry-after", "9000")], "")],
            &[("groups", ""), ("groups --max-wait 30", ""), ("groups --format json", ""), ("extract 1", "")],
        ),
        (vec![Reply::Raw(Vec::new())], &[("groups --retries 0", "")]),
        (vec![Reply::Hang], &[("extract 1 --timeout 1", ""), ("extract 1 --timeout 1 --json", "")]),
        (vec![cut], &[("extract 1 --retries 0", "")]),
        (vec![reply(503, &[], "")], &[("extract 1 --retries 0", "")]),
        (vec![ok(r#"{"code":0,"data":[]}"#)], &[("extract 2", ""), ("extract 2 --json", "")]),
    ];
    insta::assert_snapshot!(seen_of(&rows).await);
}

/// Nothing of what is wrong with a command line is sent.
#[tokio::test(flavor = "multi_thread")]
async fn invalid_usage() {
    let rows: [Row; 1] = [(
        vec![no_groups()],
        &[
            ("extract", ""),
            ("extract abc", ""),
            ("extract 101", ""),
            ("extract -1", ""),
            ("extract 0 --json", ""),
            ("extract 0 --format json", ""),
            ("extract 1 --json --format json", ""),
            ("extract 1 --format xml", ""),
            ("extract 1 --protocol https", ""),
            ("extract 1 --request-id ''", ""),
            ("extract 1 --request-id= --json", ""),
            ("extract 1 --region ''", ""),
            ("extract 1 --retries -1", ""),
            ("groups --timeout 0", ""),
            ("groups --timeout 99999999999", ""),
            ("groups --format csv", ""),
            ("groups --base-url http://api.invalid", ""),
            ("groups --base-url https://api.invalid?k=v", ""),
            ("groups --token T", ""),
            ("groups --api-key T", ""),
            ("groups --tokn T", ""),
            ("groups --json --api-key-file FOLDER/missing", ""),
            ("groups --api-key-file FOLDER/binary", ""),
            ("groups --api-key-file -", "\n"),
            ("groups --api-key-file -", "two T0kens"),
            ("SALLYPORT_BASE_URL= groups", ""),
            ("SALLYPORT_API_KEY= groups", ""),
            ("search", ""),
            ("search --format=jsonl", ""),
            ("search nowhere --json", ""),
            ("search 192.0.2.1 --group all", ""),
            ("search 192.0.2.1 --group -1", ""),
            ("search 192.0.2.1 --country ''", ""),
            ("search 192.0.2.1 --order ''", ""),
            ("search 192.0.2.1 --status gone", ""),
            ("search 192.0.2.1 --page 0", ""),
            ("search 192.0.2.1 --page-size 1001", ""),
            ("search 192.0.2.1 --format xml", ""),
            (
                "search 192.0.2.1 --activated-from 2026-02-01T00:00:00Z --activated-to 2026-01-01T00:00:00Z",
                "",
            ),
            ("search --file FOLDER/bad --file - first", "\u{feff}\u{feff}192.0.2.3\n"),
            ("search --file FOLDER/many", ""),
            ("search --file FOLDER/none", ""),
            ("search --file FOLDER/binary", ""),
            ("search --file FOLDER/missing", ""),
            ("search --file - --api-key-file -", "192.0.2.1"),
            ("search --file - --file -", "192.0.2.1"),
            ("completions dos", ""),
        ],
    )];
    let seen = seen_of(&rows).await;
    assert!(!seen.contains("\n> ") && !seen.contains("[exit 0]"), "{seen}");
    insta::assert_snapshot!(seen);
}

#[tokio::test(flavor = "multi_thread")]
async fn completions_and_man_pages_need_no_service() {
    let command = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sallyport"));
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    assert!(stdout(&run(command(&["completions", "bash"]), "").await).contains("_sallyport"));
    let folder = tempfile::tempdir().unwrap();
    stdout(&run(command(&["man", folder.path().to_str().unwrap()]), "").await);
    assert!(folder.path().join("sallyport-search.1").is_file());
}

/// What a hostile service may put into any text: ESC, BEL, CSI as a C1 control, DEL, line ends, reordering.
const STEERING: &str = "北京\u{1b}[2J\u{7}\u{9b}31m\u{7f}\u{85}\n\r\u{2028}\u{202e}\u{2066}";

/// Runs the program, whose output steers no terminal.
async fn harmless(reply: &Reply, arguments: &[&str]) -> Output {
    let server = FaultyServer::start(vec![reply.clone()]).await;
    let output = run(program(&server, arguments), "").await;
    for text in [&output.stdout, &output.stderr] {
        let odd = |letter: char| !(letter.is_ascii_graphic() || " \n北京…".contains(letter));
        assert!(!std::str::from_utf8(text).unwrap().contains(odd), "{output:?}");
    }
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn no_text_of_the_service_steers_the_terminal() {
    let page = json!({
        "code": 200, "message": STEERING, "requestId": STEERING,
        "data": {"items": [{
            "instanceId": 1, "offerId": 1, "status": STEERING, "ip": STEERING, "port": 1, "protocols": [STEERING],
            "countryCode": STEERING, "cityCode": STEERING, "ispType": 1, "expiresAt": null, "activatedAt": null,
            "capabilities": {}, "groupId": null,
        }], "page": 1, "pageSize": 1000, "total": 1},
    });
    let groups = json!({
        "code": 200, "message": STEERING, "requestId": STEERING,
        "data": {"items": [{"groupId": 1, "name": STEERING, "createdAt": "2026-01-01T00:00:00Z",
                            "updatedAt": "2026-01-01T00:00:00Z"}]},
    });
    let gateways =
        json!({"code": 0, "msg": STEERING, "data": [{"ip": STEERING, "port": 80}], "request_ip": STEERING});
    for (body, arguments, lines) in [
        (&page, &["search", "192.0.2.1"][..], 2),
        (&page, &["search", "192.0.2.1", "--json"], 1),
        (&groups, &["groups"], 2),
        (&groups, &["groups", "--format", "json"], 1),
        (&gateways, &["extract", "1"], 1),
        (&gateways, &["extract", "1", "--json"], 1),
    ] {
        let text = stdout(&harmless(&ok(&body.to_string()), arguments).await);
        assert!(text.lines().count() == lines && text.contains("北京"), "{arguments:?}: {text}");
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            let shown = ["/ip", "/0/name", "/endpoints/0/ip"].into_iter().find_map(|at| value.pointer(at));
            assert_eq!(shown, Some(&STEERING.into()), "{text}");
        }
    }
    let rejection = json!({"code": STEERING, "message": STEERING, "requestId": STEERING}).to_string();
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
            let output = harmless(&script, &[command, &["--retries", "0"]].concat()).await;
            assert!(!output.status.success() && stderr(&output).lines().count() == 1, "{output:?}");
        }
    }
    let long = STEERING.repeat(20);
    for arguments in [
        &["search", STEERING][..],
        &["search", "192.0.2.1", "--status", STEERING],
        &["search", "--file", STEERING],
        &["extract", "1", "--protocol", STEERING],
        &["extract", "1", "--request-id", &long],
        &[STEERING],
    ] {
        let output = harmless(&no_groups(), arguments).await;
        assert!(output.status.code() == Some(2) && !output.stderr.is_empty(), "{output:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_of_the_environment_is_used_but_for_this_machine() {
    let (server, unused) =
        (FaultyServer::start(vec![no_groups()]).await, FaultyServer::start(vec![no_groups()]).await);
    let mut command = program(&server, &["groups"]);
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(variable, unused.base_url());
    }
    stdout(&run(command, "").await);
    assert_eq!((unused.requests().len(), server.requests().len()), (0, 1));

    let run_with = |variable: &str, proxy: &str| {
        let mut command = program(&server, &["groups", "--allow-http", "--base-url", "http://api.invalid"]);
        command.env(variable, proxy);
        run(command, "")
    };
    for variable in ["ALL_PROXY", "http_proxy"] {
        stdout(&run_with(variable, &server.base_url()).await);
    }
    assert!(
        server.requests()[1..].iter().all(|request| request.starts_with("GET http://api.invalid/openapi"))
    );
    for (variable, proxy) in [("ALL_PROXY", "socks://T0ken.invalid"), ("http_proxy", "ftp://T0ken.invalid")] {
        let output = run_with(variable, proxy).await;
        let (text, expected) =
            (stderr(&output), format!("environment variable {variable}: expected the URL of a proxy"));
        assert!(output.status.code() == Some(2) && text.contains(&expected), "{text}");
        assert!(text.contains("socks5h"), "{text}");
    }
    assert_eq!(server.requests().len(), 3);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn gateways_that_cannot_be_written_are_not_lost() {
    for format in ["lines", "json"] {
        let server = FaultyServer::start(vec![one_gateway()]).await;
        let mut command = program(&server, &["extract", "1", "--format", format]);
        command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
        let output = run(command, "").await;
        let (text, id) = (stderr(&output), sent_id(&server));
        assert!(output.status.code() == Some(4) && text.contains("cannot write the output"), "{output:?}");
        assert!(text.contains(&format!("repeat it with --request-id {id}")), "{text}");
        let error = serde_json::from_str::<Value>(&text).map(|value| value["error"]["requestId"].clone());
        assert_eq!(error.ok(), (format == "json").then(|| id.into()), "{text}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_prints_the_request_id_of_the_extraction() {
    for (signal, code, message) in [("-INT", 130, "interrupted"), ("-TERM", 143, "terminated")] {
        let server = FaultyServer::start(vec![Reply::Hang]).await;
        let child = program(&server, &["extract", "1"]).spawn().unwrap();
        for _ in 0..1000 {
            if !server.requests().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
        let advice = "to receive the gateways of this extraction, repeat it with --request-id";
        let expected = format!("sallyport: {message}; {advice} {}\n", sent_id(&server));
        assert_eq!((output.status.code(), stderr(&output)), (Some(code), expected));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_of_a_proxy_is_used_and_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let server = FaultyServer::start(vec![no_groups()]).await;
    let proxy = server.base_url().replace("http://", "http://clerk:T0ken-of-the-proxy@");
    let arguments = ["groups", "--base-url", "http://api.invalid", "--allow-http", "--proxy", &proxy];
    stdout(&run(program(&server, &arguments), "").await);
    let request = &server.requests()[0];
    assert!(request.starts_with("GET http://api.invalid/openapi"), "{request}");
    assert!(request.contains("proxy-authorization: Basic "), "{request}");

    fs::write(folder.path().join("key"), "-----BEGIN ENCRYPTED PRIVATE KEY-----").unwrap();
    fs::write(folder.path().join("certificate"), "-----BEGIN CERTIFICATE-----").unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (key, certificate) = (file("key"), file("certificate"));
    for (arguments, expected) in [
        (["--client-key", &key].as_slice(), "--client-key needs --client-certificate"),
        (&["--client-certificate", &certificate, "--client-key", &key], "found an encrypted one"),
        (&["--client-certificate", &key], "key: expected a certificate in PEM format"),
        (&["--ca-file", &key], "key: expected certificates in PEM format"),
        (&["--proxy", "http://qa:a@T0ken/b@p.invalid"], "proxy: expected the URL of a proxy"),
        (&["--proxy", "ftp://T0ken.invalid"], "proxy: expected the URL of a proxy"),
    ] {
        let https = ["groups", "--base-url", "https://api.invalid"];
        let output = run(program(&server, &[https.as_slice(), arguments].concat()), "").await;
        let text = stderr(&output);
        assert!(output.status.code() == Some(2) && text.contains(expected), "{arguments:?}: {text}");
    }
}
