//! Readers that are gone, limits of what is read, and signals while they wait for a reader.

use std::fs::File;
use std::io::Write as _;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::program::{
    AssertOutput as _, Finish as _, Folder, RunningProgram, code, ended, program, run, send, text, wait_until,
};
use super::server::{self, TestServer, closed_port};

const RUN: [&str; 5] = ["run", "--profile", "full", "--only", "groups.order"];

fn fifo(folder: &Folder) -> String {
    let path = folder.file("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    path
}

#[test]
fn a_reader_that_is_gone_misses_nothing() {
    let target = TestServer::start(|stream| server::groups(stream, &[1, 2]));
    let url = target.url();
    let with_report = [RUN.as_slice(), &["--base-url", &url, "--report", "json=-"]].concat();
    for arguments in [["completions", "bash"].as_slice(), &["list"], &with_report] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = program(arguments).stdout(writer).output().expect("it ends");
        assert_eq!(code(&output), 0, "{arguments:?}: {}", text(&output));
        assert!(
            !text(&output).contains("panic") && !text(&output).contains("cannot write"),
            "{}",
            text(&output)
        );
    }
}

/// Sends SIGTERM, and returns the exit code.
fn terminated(mut child: Child) -> Option<i32> {
    send(&child, "-TERM");
    ended(&mut child)
}

#[test]
fn a_signal_ends_a_command_whose_report_nobody_reads() {
    let target = TestServer::start(|stream| server::groups(stream, &[2, 1]));
    let folder = Folder::new();
    let (report, url) = (format!("json={}", fifo(&folder)), target.url());
    let ran = [RUN.as_slice(), &["--base-url", &url, "--report", &report]].concat();
    let client = ["client", "--only", "client.both-codes", "--report", &report, "--", "true"];
    // A client that says nothing is no reason for a good verdict.
    for (arguments, expected) in [(ran.as_slice(), [1, 1]), (&client, [1, 4])] {
        if arguments[0] == "client" && !cfg!(feature = "embedded") {
            continue;
        }
        let mut running = RunningProgram::start(&mut program(arguments));
        running.read_until(" verdict ");
        std::thread::sleep(Duration::from_millis(200));
        running.send("-TERM");
        let code = running.ended().expect("it ends by itself");
        assert!(expected.contains(&code), "{arguments:?}: {code}");
    }
    // The same when the signal has ended the run before.
    let hanging = TestServer::start(server::hang);
    let url = hanging.url();
    let arguments = [RUN.as_slice(), &["--base-url", &url, "--report", &report]].concat();
    let child = program(&arguments).stdout(Stdio::null()).spawn().expect("it starts");
    wait_until(|| hanging.connections() > 0);
    assert_eq!(terminated(child), Some(4));
}

/// A pipe that has room for a number of bytes.
fn filled_pipe(room: usize) -> (std::io::PipeReader, std::io::PipeWriter) {
    /// Linux's pipes have sixteen pages.
    const SIZE: usize = 16 * 4096;
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(&vec![b' '; SIZE - room]).expect("it has room");
    (reader, writer)
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_command_whose_lines_nobody_reads() {
    let target = TestServer::start(|stream| server::groups(stream, &[1, 2]));
    let (url, folder, listening) = (target.url(), Folder::new(), closed_port());
    let history = folder.file("history");
    // The first line of the watch fits, and the line of its run does not.
    let watch = ["watch", "--base-url", &url, "--only", "groups.order", "--listen", "127.0.0.1:0"];
    let watch = [watch.as_slice(), &["--every", "1s", "--history", &history]].concat();
    let listen = listening.to_string();
    let proxy = ["proxy", "--upstream", &url, "--listen", &listen];
    for (arguments, room) in [(watch.as_slice(), 100), (&proxy, 0)] {
        let (reader, writer) = filled_pipe(room);
        let child = program(arguments).stdout(writer).spawn().expect("it starts");
        match arguments[0] {
            "proxy" => wait_until(|| TcpStream::connect(listening).is_ok()),
            _ => wait_until(|| target.connections() > 0),
        }
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(terminated(child), Some(0), "{arguments:?}");
        drop(reader);
    }
}

#[cfg(unix)]
#[test]
fn reports_and_recordings_follow_no_links() {
    let target = TestServer::start(|stream| server::groups(stream, &[1, 2]));
    let (url, folder) = (target.url(), Folder::new());
    let [mine, link] = ["mine.txt", "link.json"].map(|name| folder.file(name));
    folder.write("mine.txt", "mine");
    std::os::unix::fs::symlink(&mine, &link).expect("a link");
    let with_report = |report: &str| {
        program(&[RUN.as_slice(), &["--base-url", &url, "--report", report]].concat()).finish()
    };
    with_report(&format!("json={link}")).assert(2, &["is a symbolic link; pass the path of the file"]);
    assert_eq!(target.connections(), 0);
    with_report(&format!("json={}", folder.path().display())).assert(2, &["is a directory"]);
    // Nobody sees a report that is not whole.
    let report = folder.write("report.json", "old");
    let old = File::open(&report).expect("the old report");
    with_report(&format!("json={report}")).assert(0, &[]);
    assert_eq!(std::io::read_to_string(old).expect("text"), "old");
    assert_eq!(folder.json("report.json")["verdict"], "conforms");

    let recording = folder.file("recording");
    run(&["record", &recording, "--base-url", &url]).assert(0, &[]);
    let case = "recording/groups.listed.snap";
    let recorded = folder.read(case);
    std::fs::remove_file(folder.file(case)).expect("removed");
    std::os::unix::fs::symlink(&mine, folder.file(case)).expect("a link");
    run(&["record", &recording, "--base-url", &url]).assert(0, &[]);
    assert_eq!((folder.read("mine.txt").as_str(), folder.read(case)), ("mine", recorded));
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 4, "a file that was written beside another one stays");
}

#[cfg(unix)]
#[test]
fn what_is_read_has_a_limit_and_a_pipe_does_not_block() {
    let folder = Folder::new();
    let empty = fifo(&folder);
    let recording = folder.file("recording");
    std::fs::create_dir(&recording).expect("a folder");
    std::os::unix::fs::symlink("/dev/zero", folder.file("recording/groups.listed.snap")).expect("a link");
    let base = ["run", "--base-url", "http://127.0.0.1:1"];
    let commands = |file: &str| -> Vec<Vec<String>> {
        let config = folder.write(
            &format!("{}.toml", file.replace('/', "-")),
            format!("base-url = \"http://127.0.0.1:1\"\napi-key = {{ file = {file:?} }}\n"),
        );
        let commands: [&[&str]; 7] = [
            &[base.as_slice(), &["--api-key-file", file]].concat(),
            &[base.as_slice(), &["--ca-file", file]].concat(),
            &["plan", "--config", file],
            &["plan", "--config", &config],
            &["replay", file, "groups.order.ascending"],
            &["baseline", file, "--reason", "x"],
            &["proxy", "--embedded", "--scenario", file],
        ];
        commands.map(|command| command.iter().map(|word| (*word).to_owned()).collect()).into()
    };
    // Side by side, since each waits for a pipe.
    std::thread::scope(|scope| {
        for (file, said) in [("/dev/zero", "expected at most"), (empty.as_str(), "found none")] {
            for command in commands(file) {
                scope.spawn(move || {
                    let command: Vec<&str> = command.iter().map(String::as_str).collect();
                    program(&command).finish().assert(2, &[said]);
                });
            }
        }
    });
    run(&["compare", &recording, &recording]).assert(2, &["expected at most"]);
    let zero = File::open("/dev/zero").expect("zeros");
    let standard_input = [base.as_slice(), &["--api-key-stdin"]].concat();
    program(&standard_input).stdin(zero).finish().assert(2, &["expected at most"]);
    // What the shell writes as `<(command)` is a pipe as well.
    let target = TestServer::start(|stream| server::groups(stream, &[1, 2]));
    let url = target.url();
    let arguments = [RUN.as_slice(), &["--base-url", &url, "--api-key-file", &empty]].concat();
    let child = program(&arguments).env_remove("SALLYPORT_API_KEY").spawn().expect("it starts");
    std::fs::write(&empty, "token-in-a-pipe\n").expect("it is read");
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(0));
}

#[test]
fn headers_have_a_limit_and_count_as_bytes() {
    fn with_headers(stream: &mut TcpStream, length: usize) -> std::io::Result<()> {
        let value = "x".repeat(length);
        let names: Vec<String> = (0..60).map(|number| format!("X-{number}")).collect();
        let mut headers: Vec<_> = names.iter().map(|name| (name.as_str(), value.as_str())).collect();
        headers.extend([
            ("Content-Type", "application/json"),
            ("X-Request-Id", "r"),
            ("Cache-Control", "no-store"),
        ]);
        let body = br#"{"code": 200, "message": "ok", "requestId": "r", "data": {"items": []}}"#;
        server::response(stream, "200 OK", &headers, body)
    }
    let folder = Folder::new();
    let report = format!("har={}", folder.file("a.har"));
    let target = TestServer::start(|stream| with_headers(stream, 2_000));
    let url = target.url();
    let arguments = [RUN.as_slice(), &["--base-url", &url, "--report", &report]].concat();
    let said = program(&arguments).finish();
    assert!(text(&said).contains("bytes of headers, which is too large to judge"), "{}", text(&said));
    assert!(std::fs::metadata(folder.file("a.har")).expect("an archive").len() < 100_000);

    let target = TestServer::start(|stream| with_headers(stream, 900));
    let url = target.url();
    let with_limit = [RUN.as_slice(), &["--base-url", &url, "--max-bytes", "150000"]].concat();
    program(&with_limit).finish().assert(4, &["the limit of 150000 bytes is reached"]);
}
