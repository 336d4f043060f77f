//! Whatever a server does, the program ends with a clear line, the right exit code and whole reports.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::program::{
    AssertOutput as _, Finish as _, Folder, RunningProgram, TOKEN, code, every_report, program, run, text,
    wait_until,
};
use super::server::{self, Behaviour, Request, TestServer, closed_port};

const FINDINGS: i32 = 1;
const UNREACHABLE: i32 = 3;
const INCOMPLETE: i32 = 4;

/// Runs the checks of the groups, and looks at what every run must leave behind.
fn against(url: &str, expected: i32, line: &str) {
    let folder = Folder::new();
    let reports = every_report(folder.path());
    let begun = Instant::now();
    let output = run(&["run", "--base-url", url, "--only", "groups.*", "--timeout", "1", &reports]);
    assert!(begun.elapsed() < Duration::from_secs(120), "{url}: {:?}", begun.elapsed());
    let text = text(&output.assert(expected, &[line]));
    assert!(!text.contains("panic"), "{text}");
    assert!(folder.json("report.json")["verdict"].is_string());
    for form in ["html", "junit", "sarif", "md"] {
        assert!(!folder.read(&format!("report.{form}")).is_empty(), "{form}");
    }
}

/// A file server answers `GET` with a page of HTML and nothing else.
fn files(stream: &mut TcpStream) -> std::io::Result<()> {
    let page = b"<!doctype html><title>Error response</title>";
    server::response(stream, "501 Unsupported method", &[("Content-Type", "text/html")], page)
}

/// A link credential may extract and do nothing else.
fn link_credential(stream: &mut TcpStream, request: &Request<'_>) -> std::io::Result<()> {
    let is_static = request.head.contains("/static/");
    let body: &[u8] = match is_static {
        true => br#"{"code": 40301, "message": "a link credential can only extract", "data": null}"#,
        false => {
            br#"{"code": 0, "success": true, "msg": "ok", "request_ip": "127.0.0.1",
                      "data": [{"ip": "192.0.2.1", "port": 8000}]}"#
        }
    };
    let status = if is_static { "403 Forbidden" } else { "200 OK" };
    server::response(stream, status, &[("Content-Type", "application/json")], body)
}

fn bad_gateway(stream: &mut TcpStream) -> std::io::Result<()> {
    let page = b"<html><title>502 Bad Gateway</title></html>";
    server::response(stream, "502 Bad Gateway", &[("Content-Type", "text/html")], page)
}

/// Serves the first request, and then no more.
fn only_once(stream: &mut TcpStream) -> std::io::Result<()> {
    static SERVED: AtomicUsize = AtomicUsize::new(0);
    if SERVED.fetch_add(1, Ordering::SeqCst) > 0 {
        return bad_gateway(stream);
    }
    let body = br#"{"code": 200, "message": "ok", "requestId": "r-1", "data": {"items": []}}"#;
    server::response(stream, "200 OK", &[("Content-Type", "application/json")], body)
}

#[test]
fn a_service_that_goes_down_breaks_no_rule() {
    let target = TestServer::start(only_once);
    let folder = Folder::new();
    let report = format!("--report=json={}", folder.file("report.json"));
    let output = program(&["run", "--base-url", &target.url(), "--profile", "full", &report])
        .env("SALLYPORT_OWN_ADDRESSES", "192.0.2.1")
        .env("SALLYPORT_FOREIGN_ADDRESSES", "192.0.2.2")
        .env("SALLYPORT_LINK_CREDENTIAL", "link-credential-of-a-test")
        .finish();
    let text = text(&output.assert(INCOMPLETE, &[]));
    assert_eq!(folder.json("report.json")["totals"]["failed"], 0, "{text}");
}

/// What a server does to everybody, how a run against it ends, and what that says.
const SERVERS: [(Behaviour, i32, &str); 13] = [
    (files, UNREACHABLE, "does not look like the API"),
    (bad_gateway, UNREACHABLE, "does not reach it"),
    (server::hang, UNREACHABLE, "timed out"),
    (server::drip, UNREACHABLE, "timed out"),
    (
        server::garbage,
        UNREACHABLE,
        "does not speak HTTP, or closes the connection; if it serves HTTPS, use an https base URL",
    ),
    (server::close, UNREACHABLE, "closes the connection"),
    (server::truncated, UNREACHABLE, "closes the connection"),
    (server::endless, INCOMPLETE, "too large to judge"),
    (server::ten_megabytes, INCOMPLETE, "too large to judge"),
    (server::numbers, INCOMPLETE, "too large to judge"),
    (server::deep, INCOMPLETE, "no verdict"),
    (|stream| server::json(stream, b"[]"), INCOMPLETE, "no verdict"),
    // It says that it is JSON, and no client can read it.
    (server::invalid_utf8, FINDINGS, "a body that is not JSON"),
];

#[test]
fn whatever_a_server_does_a_run_ends_with_its_cause() {
    // It reads no head, since TLS has none, and rejects what it takes for one.
    let plain = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = plain.local_addr().expect("bound");
    std::thread::spawn(move || {
        for stream in plain.incoming() {
            let _ = stream.and_then(|mut stream| {
                let _ = stream.read(&mut [0; 1024])?;
                server::response(&mut stream, "400 Bad Request", &[], b"")
            });
        }
    });
    let link = TestServer::start_reading(link_credential);
    let mut targets = vec![
        (link.url(), UNREACHABLE, "as it does a link credential"),
        (format!("http://{}", closed_port()), UNREACHABLE, "check the host and the port"),
        (
            format!("https://{address}"),
            UNREACHABLE,
            "this port speaks plain http; use http:// in the base URL",
        ),
    ];
    targets.extend(SERVERS.map(|(behaviour, code, line)| (TestServer::start(behaviour).url(), code, line)));
    // Side by side, since most of them wait.
    std::thread::scope(|scope| {
        for (url, code, line) in targets {
            scope.spawn(move || against(&url, code, line));
        }
    });
}

/// What took minutes for one such response, deaf to the time limit.
#[test]
fn a_run_ends_in_time_whatever_a_body_holds() {
    let bodies: [fn() -> String; 6] = [
        || "\\".repeat(200_000),
        || "%5C".repeat(200_000),
        || format!("%{}", "25".repeat(400_000)),
        || format!("&{}", "amp;".repeat(200_000)),
        || format!(r#"{{"code": 500, "message": "{}"}}"#, "\\\\".repeat(300_000)),
        || format!(r#"{{"code": 200, "data": {{"items": [{}0]}}}}"#, "0,".repeat(100_000)),
    ];
    std::thread::scope(|scope| {
        for body in bodies {
            scope.spawn(move || {
                let response = body();
                let target = TestServer::start(move |stream| server::json(stream, response.as_bytes()));
                let begun = Instant::now();
                let output = run(&["run", "--base-url", &target.url(), "--max-seconds", "5"]);
                // Far more than the limit, as machines of tests are slow, and far less than what it took.
                assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
                assert!([FINDINGS, INCOMPLETE].contains(&code(&output)), "{}", text(&output));
            });
        }
    });
}

#[test]
fn the_time_limit_ends_the_question_whether_anybody_is_there() {
    let silent = TestServer::start(server::hang);
    let begun = Instant::now();
    let output = run(&["run", "--base-url", &silent.url(), "--max-seconds", "1", "--timeout", "600"]);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    output.assert(INCOMPLETE, &["the time limit"]);
    let folder = Folder::new();
    let place = &folder.file("recording");
    run(&["record", place, "--base-url", &silent.url(), "--max-seconds", "1", "--timeout", "600"])
        .assert(INCOMPLETE, &[]);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn a_redirect_is_not_followed_with_the_token() {
    let elsewhere = TestServer::start(server::a_page);
    let place = format!("{}/elsewhere?api_key={TOKEN}", elsewhere.url());
    let redirecting = TestServer::start(move |stream| {
        server::response(stream, "307 Temporary Redirect", &[("Location", &place)], b"")
    });
    against(&redirecting.url(), UNREACHABLE, "redirects are not followed");
    assert_eq!(elsewhere.connections(), 0, "the redirect was followed");
}

#[test]
fn a_ceiling_ends_the_run_without_a_verdict() {
    let slow = TestServer::start(|stream| {
        std::thread::sleep(Duration::from_millis(800));
        server::groups(stream, &[1])
    });
    let output = run(&["run", "--base-url", &slow.url(), "--only", "groups.envelope", "--max-seconds", "1"]);
    assert!([INCOMPLETE, FINDINGS].contains(&code(&output)), "{}", text(&output));
    assert!(text(&output).contains("the time limit"), "{}", text(&output));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_was_done() {
    std::thread::scope(|scope| {
        for signal in ["-INT", "-TERM", "-HUP"] {
            scope.spawn(move || interrupted_by(signal));
        }
    });
}

#[cfg(unix)]
fn interrupted_by(signal: &str) {
    let target = TestServer::start(|stream| {
        std::thread::sleep(Duration::from_millis(100));
        server::json(stream, b"[]")
    });
    let folder = Folder::new();
    let reports = every_report(folder.path());
    let arguments = ["run", "--base-url", &target.url(), "--rate", "5", "--retries", "0", &reports];
    let mut running = RunningProgram::start(&mut program(&arguments));
    wait_until(|| target.connections() >= 3);
    running.send(signal);
    let (code, said) = running.finish();
    assert!([Some(FINDINGS), Some(INCOMPLETE)].contains(&code), "{said}");
    assert!(said.contains("the run was interrupted"), "{said}");
    let report = folder.json("report.json");
    assert_eq!(report["stopped"], "the run was interrupted");
    assert!(report["checks"].as_array().is_some_and(|checks| checks.len() > 10));
}
