//! The token is planted everywhere and searched for in all that the suite leaves behind.

use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sallyport_conformance::check::{Case, Cost, Probe, Run, Stop};
use sallyport_conformance::config::Config;
use sallyport_conformance::contract::Clause;
use sallyport_conformance::report::{Format, hush_panics};
use sallyport_conformance::wire::Request;
use sallyport_conformance::{
    Check, Contract, Facts, Options, Outcome, Secret, SilentObserver, Suite, Target, Verdict,
};

use super::program::{
    AssertOutput as _, Finish as _, Folder, TOKEN, every_report, program, run, run_without_token, text,
};
use super::server::{self, Behaviour, TestServer, closed_port};

/// The token in every form that may show it.
fn forms() -> Vec<String> {
    let json = serde_json::json!(TOKEN).to_string();
    let percent = utf8_percent_encode(TOKEN, NON_ALPHANUMERIC).to_string();
    let form: String = reqwest::Url::parse_with_params("http://x.invalid", [("k", TOKEN)])
        .expect("a URL")
        .query()
        .unwrap_or_default()
        .trim_start_matches("k=")
        .to_owned();
    vec![
        TOKEN.to_owned(),
        percent.to_lowercase(),
        percent,
        form,
        json[1..json.len() - 1].to_owned(),
        TOKEN.escape_default().to_string(),
        TOKEN.replace('&', "&amp;").replace('"', "&quot;"),
        STANDARD.encode(TOKEN),
        URL_SAFE_NO_PAD.encode(TOKEN),
    ]
}

/// Half of a form is telling enough, and its beginning stands for base64 of any end.
fn assert_clean(what: &str, artefact: &[u8]) {
    let artefact = String::from_utf8_lossy(artefact).to_lowercase();
    for form in forms() {
        let telling: String = form.chars().take(form.chars().count() / 2).collect();
        let place = artefact.find(&telling.to_lowercase());
        let shown = place.map(|place| &artefact[place.saturating_sub(40)..(place + 40).min(artefact.len())]);
        assert!(shown.is_none(), "{what} shows {telling}: {shown:?}");
    }
}

fn assert_clean_output(what: &str, output: &Output) {
    assert_clean(&format!("standard output of {what}"), &output.stdout);
    assert_clean(&format!("standard error of {what}"), &output.stderr);
}

/// Every file below a folder, and how many there are.
fn assert_clean_files(folder: &Path) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        if entry.path().is_dir() {
            count += assert_clean_files(&entry.path());
        } else {
            assert_clean(&entry.path().display().to_string(), &std::fs::read(entry.path()).expect("a file"));
            count += 1;
        }
    }
    count
}

/// Responses that repeat the token in every form, in headers and body, with a name that reports quote.
fn echo(stream: &mut std::net::TcpStream) -> std::io::Result<()> {
    let forms = forms();
    let body = serde_json::json!({
        "code": 200, "message": forms.join(" "), "requestId": TOKEN,
        "data": { "items": [{ "groupId": TOKEN, TOKEN: TOKEN, "password": TOKEN }], "page": TOKEN },
    });
    let headers =
        [("X-Echo", forms[1].as_str()), ("X-Request-Id", TOKEN), ("Content-Type", "application/json")];
    server::response(stream, "200 OK", &headers, body.to_string().as_bytes())
}

fn raw_echo(stream: &mut std::net::TcpStream) -> std::io::Result<()> {
    std::io::Write::write_all(stream, format!("HTTP/9 {TOKEN}\r\n{TOKEN}").as_bytes())
}

#[test]
fn no_artefact_shows_the_token() {
    let folder = Folder::new();
    let behaviours: [(&str, Behaviour); 5] = [
        ("echo", echo),
        ("raw-echo", raw_echo),
        ("hang", server::hang),
        ("close", server::close),
        ("page", |stream| server::response(stream, "500 Oops", &[], forms().join("\n").as_bytes())),
    ];
    let targets = behaviours.map(|(name, behaviour)| (name, TestServer::start(behaviour).url()));
    let targets = targets.into_iter().chain([("rejected", format!("http://{}", closed_port()))]);
    // Side by side, since most of them wait.
    std::thread::scope(|scope| {
        for (name, url) in targets {
            let folder = &folder;
            scope.spawn(move || leave_artefacts(folder, name, &url));
        }
    });
    let files = assert_clean_files(folder.path());
    assert!(files > 6 * 5, "{files} files were searched");
}

/// Runs, records and replays, and searches what they print.
fn leave_artefacts(folder: &Folder, name: &str, url: &str) {
    let place = folder.path().join(name);
    std::fs::create_dir(&place).expect("a folder");
    let base = ["--base-url", url, "--timeout", "1"];
    let reports = every_report(&place);
    let (recording, report) =
        (folder.file(&format!("{name}/recording")), folder.file(&format!("{name}/report.json")));
    let commands: [&[&str]; 3] = [
        &["run", "--verbose", "--max-seconds", "20", &reports],
        &["record", &recording],
        &["replay", &report, "groups.envelope.success"],
    ];
    for command in commands {
        let output = run(&[command, base.as_slice()].concat());
        assert_clean_output(&format!("{} against {name}", command[0]), &output);
    }
    // What is made of the report, and of the recorded exchanges.
    let (har, evidence) =
        (folder.file(&format!("{name}/report.har")), folder.file(&format!("{name}/evidence.html")));
    for id in ["groups.envelope.schema", "groups.envelope.schema#1"] {
        assert_clean_output("evidence", &run(&["evidence", &report, id, "-o", &evidence]));
    }
    assert_clean_output("judge", &run(&["judge", "--har", &har, "--entry", "0", "--run", &report]));
}

#[test]
fn mistakes_of_usage_show_no_token() {
    let folder = Folder::new();
    let config = folder.write("c.toml", format!("api-key = {}\n", serde_json::json!(TOKEN)));
    let password = format!("http://user:{}@127.0.0.1:1", utf8_percent_encode(TOKEN, NON_ALPHANUMERIC));
    let cases: [&[&str]; 6] = [
        &["run", "--config", &config],
        &["run", "--base-url", &password],
        &["run", "--base-url", "http://127.0.0.1:1", "--proxy", &password],
        &["run", "--base-url", "http://127.0.0.1:1", "--header", TOKEN],
        &["run", "--base-url", "http://127.0.0.1:1", "--api-key", TOKEN],
        &["plan", "--base-url", "http://127.0.0.1:1"],
    ];
    for arguments in cases {
        assert_clean_output(&arguments[..2].join(" "), &run(arguments));
    }
    let warned = text(&run(&["run", "--base-url", "http://127.0.0.1:1", "--api-key", TOKEN]));
    assert!(warned.contains("warning: --api-key"), "{warned}");
}

static PANICS: Check = Check {
    id: "groups.envelope.panics",
    title: "a check that panics with the token in its message",
    why: "",
    operation: None,
    clauses: &[Clause::GroupsEnvelope],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(1), panics)),
};

async fn panics(probe: &Probe<'_>) -> Result<(), Stop> {
    panic!("{} in {:?}", probe.token().expose(), probe.groups())
}

fn target(url: &str) -> Target {
    Target::new(url, Secret::new("API_KEY", TOKEN), Facts::default(), false).expect("a target")
}

#[tokio::test]
async fn a_panic_is_an_error_of_the_suite_and_shows_no_token() {
    let server = TestServer::start(echo);
    let target = target(&server.url());
    let contract = Contract::embedded().expect("contract");
    let suite = Suite::with_checks(contract, &target, Options::default(), &[&PANICS]).expect("a suite");
    assert_clean("Debug of Suite", format!("{suite:?}").as_bytes());
    let report = suite.run(&SilentObserver).await;
    assert!(matches!(report.checks[0].outcome, Outcome::Error(_)));
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert_clean("Debug of Report", format!("{report:?}").as_bytes());
    for format in Format::ALL {
        assert_clean(format.name(), format.render(&report).expect("rendered").as_bytes());
    }
}

/// What the hook of the program prints can only be seen from outside.
#[test]
fn a_panic_prints_its_place_and_not_its_message() {
    let tests = std::env::current_exe().expect("this program");
    let output = std::process::Command::new(tests)
        .args(["--exact", "tool::canary::panic_in_a_child", "--ignored", "--nocapture"])
        .output()
        .expect("the child runs");
    assert_clean_output("a panic", &output);
    assert!(text(&output).contains("a bug of the suite"), "{}", text(&output));
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn panic_in_a_child() {
    hush_panics();
    let caught = std::panic::catch_unwind(|| panic!("{TOKEN}"));
    assert!(caught.is_err());
}

#[test]
fn what_public_types_say_of_themselves_shows_no_token() {
    let contract = Contract::embedded().expect("contract");
    let facts =
        Facts { second_token: Some(Secret::new("SECOND", format!("{TOKEN}-of-second"))), ..Facts::default() };
    let target =
        Target::new("http://127.0.0.1:1", Secret::new("API_KEY", TOKEN), facts, false).expect("a target");
    let request = Request::to(contract.groups()).query("api_key", TOKEN).header("X-API-Key", TOKEN);
    let variable = |_: &str| Some(TOKEN.to_owned());
    let text = "api-key = { env = \"A\" }\n[connection]\nproxy = { env = \"A\" }\nheaders = { x = { env = \"A\" } }\n";
    let config = Config::parse(Path::new("c.toml"), text, &variable).expect("a config");
    assert_clean("Debug of Target", format!("{target:?}").as_bytes());
    assert_clean("Debug of Request", format!("{request:?}").as_bytes());
    assert_clean("Debug of Config", format!("{config:?}").as_bytes());
}

#[test]
fn a_token_is_read_from_a_file_and_from_standard_input() {
    let server = TestServer::start(|stream| server::groups(stream, &[1]));
    let folder = Folder::new();
    let file = folder.write("token", format!("{TOKEN}\n"));
    let base = ["run", "--base-url", &server.url(), "--only", "groups.envelope.success"];
    for (arguments, expected) in
        [(["--api-key-file", &file].as_slice(), 0), (&["--api-key-stdin"], 0), (&[], 2)]
    {
        let mut program = program(&[base.as_slice(), arguments].concat());
        program.stdin(std::fs::File::open(&file).expect("the file"));
        program.env_remove("SALLYPORT_API_KEY").finish().assert(expected, &[]);
    }
}

/// A command gives the token, and runs again each time that the service rejects it. The next tokens are as secret as the first one.
#[test]
fn a_token_from_a_command_is_renewed_and_not_shown() {
    const TOKENS: [&str; 3] = ["first-canary-0123", "second-canary-4567", "third-canary-8901"];
    /// A short one, which is longer than a second.
    const LIFETIME: Duration = Duration::from_millis(1_500);
    let folder = Folder::new();
    let file = folder.write("token", TOKENS[0]);
    let (rotated, renewed) = (file.clone(), Arc::new(AtomicUsize::new(0)));
    let (counted, ended) = (Arc::clone(&renewed), OnceLock::new());
    let target = TestServer::start_reading(move |stream, request| {
        let valid = match request.number {
            0..5 => 0,
            _ => 1 + usize::from(ended.get_or_init(Instant::now).elapsed() >= LIFETIME),
        };
        // The command may run at any moment.
        let next = format!("{rotated}-{}", request.number);
        std::fs::write(&next, TOKENS[valid])?;
        std::fs::rename(&next, &rotated)?;
        // It takes what begins like the token, but for its last character.
        let has = |token: &str| request.head.contains(&format!("api_key={}", &token[..token.len() - 1]));
        counted.fetch_add(usize::from(has(TOKENS[2])), Ordering::SeqCst);
        match has(TOKENS[valid]) {
            true => server::groups(stream, &[2, 1]),
            false => server::response(stream, "401 No", &[], br#"{"code": 40101, "message": "who?"}"#),
        }
    });
    let text_of =
        |command: &str| format!("base-url = \"{}\"\napi-key = {{ command = {command} }}\n", target.url());
    let config = folder.write("c.toml", text_of(&format!("[\"cat\", \"{file}\"]")));
    let place = folder.path().join("reports");
    std::fs::create_dir(&place).expect("a folder");
    let mut command =
        program(&["run", "--config", &config, "--only", "groups.*", "--verbose", &every_report(&place)]);
    let output = command
        .env_remove("SALLYPORT_API_KEY")
        .finish()
        .assert(1, &["groups.order.ascending", "2 token renewals"]);
    let mut shown = text(&output);
    for entry in std::fs::read_dir(&place).expect("a folder") {
        let report = std::fs::read(entry.expect("an entry").path()).expect("a file");
        shown.push_str(&String::from_utf8_lossy(&report));
    }
    assert!(renewed.load(Ordering::SeqCst) > 3, "{shown}");
    // What is nearly the token is made of the one that is valid now.
    for wrong in
        ["the last character of the token is missing", "there is one more character behind the token"]
    {
        assert!(shown.contains(wrong), "{shown}");
    }
    assert!(shown.contains("$API_KEY") && TOKENS.iter().all(|token| !shown.contains(&token[..9])), "{shown}");

    // The second run of a watch begins with the token that the first one got.
    folder.write("token", TOKENS[0]);
    let rotate = format!("[\"sh\", \"-c\", \"cat {file}; printf {} > {file}\"]", TOKENS[1]);
    let (config, history) = (folder.write("w.toml", text_of(&rotate)), folder.path().join("history"));
    let arguments = ["watch", "--config", &config, "--only", "groups.*", "--runs", "2", "--every", "1s"];
    let mut watch = program(&arguments);
    watch.args(["--listen", "127.0.0.1:0", "--history"]).arg(&history).env_remove("SALLYPORT_API_KEY");
    let mut shown = text(&watch.finish().assert(1, &["groups.order"]));
    for entry in std::fs::read_dir(&history).expect("the history") {
        shown.push_str(&std::fs::read_to_string(entry.expect("an entry").path()).expect("a text"));
    }
    assert!(shown.matches("$API_KEY").count() > 20, "{shown}");
    assert!(TOKENS.iter().all(|token| !shown.contains(&token[..9])), "{shown}");

    let config = folder.write("d.toml", text_of("[\"cat\", \"/no/such/file\"]"));
    let failing = run_without_token(&["run", "--config", &config]);
    failing.assert(2, &["the command `cat` for the token failed (exit status: 1)"]);
    // What sends nothing needs no token.
    run_without_token(&["plan", "--config", &config]).assert(0, &[]);
}
