//! `conformance watch`, over real sockets and files, with intervals of a second.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::program::{
    AssertOutput as _, Finish as _, Folder, RunningProgram, TOKEN, program, text, wait_until,
};
use super::server::{self, TestServer};

/// A watch under way.
struct Watch {
    program: RunningProgram,
    address: String,
}

impl Watch {
    fn start(url: &str, history: &Path, arguments: &[&str]) -> Self {
        let mut command = program(&["watch", "--base-url", url, "--every", "1s", "--listen", "127.0.0.1:0"]);
        command.args(["--only", "groups.order.ascending", "--only", "groups.envelope.success"]);
        command.arg("--history").arg(history).args(arguments);
        let mut program = RunningProgram::start(&mut command);
        let first = program.read_until("http://");
        let address =
            first.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
        let address = address.to_owned();
        Self { program, address }
    }

    fn get(&self, request: &str) -> String {
        self.get_of(request, &self.address)
    }

    fn get_of(&self, request: &str, host: &str) -> String {
        self.send(&format!("{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    fn send(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        write!(stream, "{head}").expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
    }

    fn signal(&mut self, signal: &str) -> Option<i32> {
        self.program.send(signal);
        self.program.ended()
    }
}

/// Groups in ascending order as long as the flag is set.
fn target() -> (TestServer, Arc<AtomicBool>) {
    let is_sorted = Arc::new(AtomicBool::new(true));
    let flag = Arc::clone(&is_sorted);
    let server = TestServer::start(move |stream| {
        server::groups(stream, if flag.load(Ordering::SeqCst) { &[1, 2] } else { &[2, 1] })
    });
    (server, is_sorted)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect()
}

fn every_file(folder: &Folder) -> String {
    names(folder.path()).iter().map(|name| folder.read(name)).collect()
}

#[test]
fn a_watch_reports_changes_serves_the_latest_report_and_goes_on_after_a_restart() {
    let (server, is_sorted) = target();
    let folder = Folder::new();
    let mut watch = Watch::start(&server.url(), folder.path(), &[]);
    watch.program.read_until(" clauses judged");
    is_sorted.store(false, Ordering::SeqCst);
    let changed = watch.program.read_until("          report ");
    for part in ["groups.order is violated, and was not before", "the verdict was conforms and is findings"] {
        assert!(changed.contains(part), "{changed}");
    }
    let report = changed.lines().find_map(|line| line.strip_prefix("          report ")).expect("a report");
    let evidence: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(report).expect("the report")).expect("JSON");
    assert_eq!(evidence["verdict"], "findings");
    assert!(evidence["checks"].to_string().contains("/openapi/v1/static/groups"), "{evidence}");
    is_sorted.store(true, Ordering::SeqCst);
    watch.program.read_until("groups.order is no longer violated");
    is_sorted.store(false, Ordering::SeqCst);
    watch.program.read_until("groups.order is violated, and was not before");
    // What is served is set before the next run.
    watch.program.read_until(" clauses judged");

    let metrics = watch.get("GET /metrics");
    let (head, body) = metrics.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("version=0.0.4"), "{head}");
    super::ci::assert_metrics(body);
    for part in [
        "clause_findings{clause=\"groups.order\"} 2",
        "verdict{verdict=\"findings\"} 1",
        "profile=\"production\"",
    ] {
        assert!(body.contains(part), "{part}: {body}");
    }

    assert!(watch.get("GET /healthz").ends_with("\r\n\r\nok\n"));
    let page = watch.get("GET /");
    assert!(page.contains("groups.order.ascending") && page.contains("default-src 'none'"), "{page}");
    assert!(watch.get("GET /other").starts_with("HTTP/1.1 404"));
    assert!(watch.get("POST /metrics").starts_with("HTTP/1.1 405"));
    for host in ["localhost:1", "[::1]", "rebound.example.com", "192.0.2.1", ""] {
        let expected = if host.starts_with(['l', '[']) { "HTTP/1.1 200" } else { "HTTP/1.1 403" };
        assert!(watch.get_of("GET /metrics", host).starts_with(expected), "{host}");
    }
    // As the health check of the image.
    assert!(watch.send("GET /healthz HTTP/1.0\r\n\r\n").starts_with("HTTP/1.0 200"));
    assert_eq!(watch.signal("-TERM"), Some(0));
    drop(watch);

    let kept = every_file(&folder);
    assert!(kept.contains("\"groups.order\":true") && !kept.contains(&TOKEN[..8]), "{kept}");
    is_sorted.store(true, Ordering::SeqCst);
    let mut again = Watch::start(&server.url(), folder.path(), &["--runs", "1"]);
    again.program.read_until("groups.order is no longer violated");
    assert_eq!(again.program.ended(), Some(0));
}

#[test]
fn a_change_runs_a_command_without_a_shell_and_without_secrets() {
    use std::os::unix::fs::PermissionsExt as _;
    let (server, is_sorted) = target();
    let folder = Folder::new();
    let event = folder.file("event $(id).json");
    let script = format!(
        "#!/bin/sh\n{{ cat; echo; env; }} > '{event}.new' && mv '{event}.new' '{event}'\n(while [ ! -e '{event}.end' ]; do sleep 0.1; done; touch '{event}.late') >/dev/null 2>&1 &\nexit 7\n"
    );
    let script = folder.write("alert $(touch forged)", script);
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let history = folder.path().join("history");
    let mut watch = Watch::start(&server.url(), &history, &["--on-change", &script, "--runs", "3"]);
    watch.program.read_until(" clauses judged");
    assert!(!Path::new(&event).exists(), "nothing has changed");
    is_sorted.store(false, Ordering::SeqCst);
    let (_, warned) = watch.program.finish();
    // What it has started goes on behind it.
    folder.write("event $(id).json.end", "");
    let late = format!("{event}.late");
    wait_until(|| Path::new(&late).exists());
    let written = folder.read("event $(id).json");
    let (json, environment) = written.split_once('\n').expect("two parts");
    let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!((&json["new"][0], &json["verdict"]), (&"groups.order".into(), &"findings".into()), "{json}");
    assert_eq!(json["verdict_before"], "conforms");
    assert!(json["report"].as_str().is_some_and(|path| Path::new(path).exists()), "{json}");
    assert!(!environment.contains("SALLYPORT_") && !written.contains(&TOKEN[..8]), "{written}");
    assert!(!folder.path().join("forged").exists() && names(folder.path()).len() == 5, "a shell ran");
    assert!(warned.contains("warning: --on-change") && warned.contains("exit status: 7"), "{warned}");
}

#[test]
fn a_kill_in_the_middle_of_a_run_loses_that_run_alone() {
    let slow = TestServer::start(|stream| {
        std::thread::sleep(Duration::from_millis(300));
        server::groups(stream, &[2, 1])
    });
    let folder = Folder::new();
    let mut watch = Watch::start(&slow.url(), folder.path(), &[]);
    watch.program.read_until("groups.order is violated, and was not before");
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(watch.signal("-KILL"), None);
    let mut watch = Watch::start(&slow.url(), folder.path(), &["--runs", "1"]);
    let (_, shown) = watch.program.finish();
    assert!(!shown.contains("changed"), "{shown}");
}

#[test]
fn an_interrupt_ends_a_run_under_way() {
    let hanging = TestServer::start(server::hang);
    let folder = Folder::new();
    let mut watch = Watch::start(&hanging.url(), folder.path(), &[]);
    wait_until(|| hanging.connections() > 0);
    assert_eq!(watch.signal("-INT"), Some(0));
    let state = folder.json("state.json");
    let is_empty = state["extractions"].as_array().is_some_and(Vec::is_empty);
    assert!(state["verdict"] == "" && is_empty, "a run cut short is no sample: {state}");
}

#[test]
fn a_folder_belongs_to_one_program_and_one_target() {
    let (server, _) = target();
    let folder = Folder::new();
    let mut watch = Watch::start(&server.url(), folder.path(), &[]);
    watch.program.read_until(" clauses judged");
    let rejected = |url: &str, listen: &str, message: &str| {
        let mut watch =
            program(&["watch", "--base-url", url, "--listen", listen, "--runs", "1", "--history"]);
        watch.arg(folder.path()).finish().assert(2, &[message]);
    };
    rejected(&server.url(), "127.0.0.1:0", "another program writes this folder");
    watch.signal("-TERM");
    rejected("http://127.0.0.1:1", "127.0.0.1:0", "expected the runs of http://127.0.0.1:1/");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    rejected(&server.url(), &address, "choose another address");
    rejected(&server.url(), "0.0.0.0:80", "loopback");
}

#[cfg(feature = "embedded")]
#[test]
fn runs_keep_to_the_gateways_of_a_day() {
    let folder = Folder::new();
    let output = program(&["watch", "--runs", "3", "--every", "1s", "--gateways-per-day", "5"])
        .args(["--listen", "127.0.0.1:0"])
        .args(["--only", "extract.envelope.*", "--only", "extract.count.*", "--history"])
        .arg(folder.path())
        .env_remove("SALLYPORT_API_KEY")
        .finish();
    let shown = text(&output);
    let taken: Vec<u32> = shown
        .lines()
        .filter(|line| line.contains(" clauses judged"))
        .map(|line| {
            let words: Vec<&str> = line.split([' ', ',']).collect();
            let noun =
                words.iter().position(|word| word.starts_with("gateway")).expect("a number of gateways");
            words[noun - 1].parse().expect("a number")
        })
        .collect();
    assert_eq!(taken.len(), 3, "{shown}");
    assert!(taken[0] > 0 && taken[0] <= 5 && taken[1..] == [0, 0], "{shown}");
    let saved: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("   no extraction ")).collect();
    assert_eq!(saved[0], "beyond 5 gateways: --gateways-per-day 5", "{shown}");
    for line in &saved[1..] {
        assert!(
            line.contains("judges fewer clauses: --gateways-per-day 5; the first run after 20"),
            "{line}"
        );
    }
    assert_eq!(saved.len(), 3, "{shown}");
}

#[test]
fn reports_are_kept_up_to_a_number() {
    let (server, is_sorted) = target();
    is_sorted.store(false, Ordering::SeqCst);
    let folder = Folder::new();
    folder.write("report-of-mine.json", "{}");
    let reports = || -> Vec<String> {
        let mut names = names(folder.path());
        names.retain(|name| name.starts_with("report-2"));
        names.sort();
        names
    };
    let run = |most: &str| {
        let mut watch = Watch::start(&server.url(), folder.path(), &["--runs", "4", "--keep-reports", most]);
        watch.program.finish().1
    };
    let shown = run("2");
    let paths = shown.lines().filter_map(|line| line.strip_prefix("          report ")?.rsplit_once('/'));
    let named: Vec<String> = paths.map(|(_, name)| name.to_owned()).collect();
    assert!(reports().len() == 2 && named.ends_with(&reports()), "{shown}");
    is_sorted.store(true, Ordering::SeqCst);
    run("1");
    assert_eq!(reports(), named[named.len() - 1..], "a pass needs no evidence, and old evidence goes");
    run("0");
    assert!(reports().is_empty() && folder.path().join("report-of-mine.json").exists());
    folder.write("state.json", "{");
    program(&["watch", "--base-url", &server.url(), "--listen", "127.0.0.1:0", "--history"])
        .arg(folder.path())
        .finish()
        .assert(2, &["state.json: "]);
}
