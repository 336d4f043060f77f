//! The commands beside `run`, over real files and sockets.

use std::net::TcpStream;

use serde_json::Value;

use crate::misbehaving::{self as server, MisbehavingServer};
use crate::program::{code, program, run, text};

fn groups(stream: &mut TcpStream) -> std::io::Result<()> {
    server::groups(stream, &[1, 2])
}

#[test]
fn a_plan_sends_nothing_and_keeps_to_the_profile() {
    let target = MisbehavingServer::start(groups);
    for arguments in [["plan", "--profile", "smoke"].as_slice(), &["run", "--dry-run", "--profile", "smoke"]]
    {
        let output = run(&[arguments, &["--base-url", &target.url()]].concat());
        assert_eq!(code(&output), 0, "{}", text(&output));
        assert!(text(&output).contains("0 gateways, without retries"), "{}", text(&output));
        assert!(text(&output).contains("known faults"), "{}", text(&output));
    }
    let full = run(&["plan", "--base-url", &target.url()]);
    assert!(text(&full).contains("SALLYPORT_OWN_ADDRESSES"), "{}", text(&full));
    assert_eq!(target.connections(), 0);
}

#[test]
fn a_configuration_is_written_read_and_complained_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("conformance.toml");
    let path = file.to_str().expect("a path in UTF-8");
    assert_eq!(code(&run(&["init", path])), 0);
    assert_eq!(code(&run(&["init", path])), 2, "a file that is there is not written over");
    assert_eq!(code(&run(&["init", path, "--force"])), 0);

    let target = MisbehavingServer::start(groups);
    let configured = format!("base-url = \"{}\"\nonly = [\"groups.envelope.success\"]\n", target.url());
    std::fs::write(&file, configured).expect("written");
    let output = run(&["run", "--config", path]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert!(target.connections() > 0);
    let overruled =
        run(&["run", "--config", path, "--base-url", &format!("http://{}", server::closed_port())]);
    assert_eq!(code(&overruled), 3, "an argument goes before the configuration: {}", text(&overruled));

    std::fs::write(&file, "\nbase-ulr = \"x\"\n").expect("written");
    let output = run(&["run", "--config", path]);
    assert_eq!(code(&output), 2);
    assert!(text(&output).contains("conformance.toml:2: unknown key `base-ulr`; did you mean `base-url`?"));
}

#[test]
fn init_asks_for_each_fact_and_again_where_an_answer_has_another_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("conformance.toml");
    let path = file.to_str().expect("a path in UTF-8");
    // In the order of the questions; what is left out at the end counts as empty.
    let responses = [
        "https://api.invalid",
        "huge",
        "smoke",
        "203.0.113.7, [2001:db8::1]:80",
        "SO-1",
        "SO-1=203.0.113.7",
        "",
        "SO-2",
        "seven",
        "7",
        "",
        "hunter2-secret",
        "MY_SECOND_TOKEN",
    ];
    let input = folder.path().join("answers");
    std::fs::write(&input, responses.join("\n") + "\n").expect("written");
    let input = std::fs::File::open(&input).expect("the responses");
    let output = program(&["init", path, "--ask"]).stdin(input).output().expect("it runs");
    assert_eq!(code(&output), 0, "{}", text(&output));
    for told in ["expected one of smoke", "NUMBER=ADDRESS", "an integer", "not the secret itself"] {
        assert!(text(&output).contains(told), "{told} in {}", text(&output));
    }
    let written = std::fs::read_to_string(&file).expect("a configuration");
    for line in [
        "base-url = \"https://api.invalid\"",
        "profile = \"smoke\"",
        "own-addresses = [\"203.0.113.7\", \"[2001:db8::1]:80\"]",
        "orders = [{ number = \"SO-1\", addresses = [\"203.0.113.7\"] }]",
        "foreign-order = \"SO-2\"",
        "foreign-group = 7",
        "second-api-key = { env = \"MY_SECOND_TOKEN\" }",
        "# egress-ip = \"198.51.100.4\"",
    ] {
        assert!(written.lines().any(|found| found == line), "{line} in {written}");
    }
    assert!(!written.contains("hunter2") && !text(&output).contains("hunter2"), "{written}");
}

#[test]
fn the_server_writes_what_is_known_of_its_sample_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("facts");
    let store = sallyport_server::store::sqlite::SqliteStore::temporary().expect("a database");
    let seeded = sallyport_server::data::seed::seed(&store);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let sample = runtime.block_on(seeded).expect("sample data");
    sallyport_server::data::facts::write(&place, &sample).expect("a folder of facts");
    let mode = |path: &std::path::Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    };
    assert_eq!(mode(&place), 0o700);
    assert_eq!(mode(&place.join("api-key.txt")), 0o600);
    let file = place.join("conformance.toml");
    let config = sallyport_conformance::config::Config::read(&file, &|_| None).expect("a configuration");
    for fact in sallyport_conformance::target::Fact::ALL {
        assert!(config.facts.has(fact), "{fact:?}");
    }
    assert_eq!(config.token.expect("a token").expose(), sample.tokens.main.expose());
    assert!(sallyport_server::data::facts::write(&place, &sample).is_err(), "nothing is written over");
    let configuration = std::fs::read_to_string(&file).expect("it can be read");
    assert!(sample.tokens.list().iter().all(|(_, token)| !configuration.contains(token.expose())));
}

#[test]
fn a_recording_is_compared_with_a_changed_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("before");
    let place = place.to_str().expect("a path in UTF-8");
    let target = MisbehavingServer::start(groups);
    let recorded = run(&["record", place, "--base-url", &target.url()]);
    assert_eq!(code(&recorded), 0, "{}", text(&recorded));
    let same = run(&["compare", place, "--base-url", &target.url()]);
    assert_eq!(code(&same), 0, "{}", text(&same));
    let changed = MisbehavingServer::start(|stream| {
        let body = br#"{"code": 200, "message": "ok", "requestId": "r", "data": {"items": []}}"#;
        server::response(
            stream,
            "200 OK",
            &[("Content-Type", "application/json"), ("X-Request-Id", "r")],
            body,
        )
    });
    let compared = run(&["compare", place, "--base-url", &changed.url()]);
    assert_eq!(code(&compared), 1, "{}", text(&compared));
    for line in
        ["groups.envelope: A successful group listing", "groups.listed", "- header cache-control: no-store"]
    {
        assert!(text(&compared).contains(line), "expected {line:?} in {}", text(&compared));
    }
    assert_eq!(code(&run(&["compare", "no-such-folder", place])), 2);
    assert_eq!(code(&run(&["compare", place, place])), 0);
}

/// A report is data: it does not decide where tokens go.
#[test]
fn a_finding_is_replayed_where_the_user_says_and_nowhere_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let report = report.to_str().expect("a path in UTF-8");
    let broken = MisbehavingServer::start(|stream| server::groups(stream, &[2, 1]));
    let check = "groups.order.ascending";
    let request = format!("json={report}");
    assert_eq!(code(&run(&["run", "--base-url", &broken.url(), "--only", check, "--report", &request])), 1);
    let nowhere = run(&["replay", report, check]);
    assert_eq!(code(&nowhere), 2);
    assert!(text(&nowhere).contains("--base-url"), "{}", text(&nowhere));
    let again = run(&["replay", report, check, "--base-url", &broken.url()]);
    assert_eq!(code(&again), 1, "{}", text(&again));
    let from_environment = program(&["replay", report, check])
        .env("SALLYPORT_BASE_URL", broken.url())
        .output()
        .expect("it runs");
    assert_eq!(code(&from_environment), 1, "{}", text(&from_environment));
    let sent = broken.connections();
    let formerly = program(&["run", "--only", check]).env("CONFORMANCE_BASE_URL", broken.url()).output();
    let formerly = formerly.expect("it runs");
    assert_eq!((code(&formerly), broken.connections()), (2, sent), "{}", text(&formerly));
    assert!(text(&formerly).contains("is now SALLYPORT_BASE_URL"), "{}", text(&formerly));

    let fixed = MisbehavingServer::start(groups);
    let elsewhere = ["replay", report, check, "--base-url", &fixed.url()];
    let rejected = run(&elsewhere);
    assert_eq!(code(&rejected), 2, "{}", text(&rejected));
    assert!(text(&rejected).contains("--allow-other-target"), "{}", text(&rejected));
    assert_eq!(fixed.connections(), 0, "something was sent");
    let allowed = run(&[elsewhere.as_slice(), &["--allow-other-target"]].concat());
    assert_eq!(code(&allowed), 0, "{}", text(&allowed));

    let foreign = MisbehavingServer::start(groups);
    let written = std::fs::read_to_string(report).expect("the report");
    std::fs::write(report, written.replace(&broken.url(), &foreign.url())).expect("written");
    let sent = broken.connections();
    for arguments in
        [["replay", report, check].as_slice(), &["replay", report, check, "--base-url", &broken.url()]]
    {
        let rejected = run(arguments);
        assert_eq!(code(&rejected), 2, "{}", text(&rejected));
    }
    assert_eq!((foreign.connections(), broken.connections()), (0, sent), "a token was sent");

    let unknown = run(&["replay", report, "groups.envelope.success"]);
    assert_eq!(code(&unknown), 2);
    assert!(text(&unknown).contains(check), "the checks with findings are named: {}", text(&unknown));
}

#[test]
fn nobody_gets_the_profile_full_without_asking_for_it() {
    let target = MisbehavingServer::start(groups);
    let planned = |how: &[&str]| {
        let url = target.url();
        text(&run(&[&["plan", "--base-url", &url], how].concat()))
    };
    assert!(planned(&[]).contains("profile production"), "{}", planned(&[]));
    assert!(planned(&["--profile", "full"]).contains("profile full"));
    let embedded = program(&["plan"]).env_remove("SALLYPORT_API_KEY").output().expect("it runs");
    assert!(text(&embedded).contains("profile full"), "the embedded server bears everything");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("c.toml");
    std::fs::write(&file, "profile = \"full\"\n").expect("written");
    assert!(planned(&["--config", file.to_str().expect("UTF-8")]).contains("profile full"));
}

#[test]
fn a_secret_that_is_too_short_to_hide_is_rejected() {
    let target = MisbehavingServer::start(groups);
    let url = target.url();
    let base = ["run", "--base-url", &url];
    let cases: [(&[&str], &str, &str); 4] = [
        (&[], "ex", "API_KEY"),
        (&["--header", "X-Gateway: ab"], "long-enough", "HEADER"),
        (&["--proxy", "http://user:pw@127.0.0.1:1"], "long-enough", "PROXY"),
        (&["--api-key", "x"], "", "API_KEY"),
    ];
    for (arguments, token, name) in cases {
        let output = program(&[base.as_slice(), arguments].concat()).env("SALLYPORT_API_KEY", token).output();
        let output = output.expect("it runs");
        assert_eq!(code(&output), 2, "{}", text(&output));
        assert!(
            text(&output).contains(&format!("`{name}`: expected a secret of at least")),
            "{}",
            text(&output)
        );
    }
    let second = program(&base).env("SALLYPORT_SECOND_API_KEY", "ab").output().expect("it runs");
    assert_eq!(code(&second), 2, "{}", text(&second));
    assert_eq!(target.connections(), 0);
    let shown = run(&[
        "run",
        "--base-url",
        &url,
        "--only",
        "groups.envelope.success",
        "--public-header",
        "X-Gateway: ab",
    ]);
    assert_eq!(code(&shown), 0, "{}", text(&shown));
}

#[test]
fn every_clause_is_explained_with_its_words_and_a_request() {
    let output = run(&["list", "--format", "json"]);
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array");
    for clause in ["search.match-port", "groups.order", "extract.num-range", "all.https"] {
        let output = run(&["explain", clause]);
        assert_eq!(code(&output), 0);
        let text = text(&output);
        assert!(
            text.contains("A request that a conforming service accepts") && text.contains("curl -sS"),
            "{text}"
        );
        let citing = checks.iter().filter(|check| {
            check["clauses"].as_array().is_some_and(|clauses| clauses.iter().any(|cited| cited == clause))
        });
        for check in citing {
            assert!(text.contains(check["id"].as_str().expect("an id")), "{text}");
        }
    }
    let wrong = run(&["explain", "search.mach-port"]);
    assert_eq!(code(&wrong), 2);
    assert!(text(&wrong).contains("search.match-port"), "{}", text(&wrong));
}

#[test]
fn quiet_and_verbose_say_less_and_more() {
    let target = MisbehavingServer::start(groups);
    let said = |how: &[&str]| {
        let url = target.url();
        let arguments = [&["run", "--base-url", &url, "--only", "groups.envelope.success"], how].concat();
        text(&run(&arguments))
    };
    let (quiet, normal, verbose) = (said(&["--quiet"]), said(&[]), said(&["--verbose"]));
    assert_eq!(quiet.trim().lines().count(), 1, "{quiet}");
    assert!(normal.contains("passed groups.envelope.success") && !normal.contains("→ 200"), "{normal}");
    assert!(verbose.contains("→ 200"), "{verbose}");
}

#[test]
fn a_report_on_standard_output_stands_there_alone_and_makes_a_baseline() {
    let server = MisbehavingServer::start(|stream| server::groups(stream, &[2, 1]));
    let output = run(&["run", "--base-url", &server.url(), "--only", "groups.order", "--report", "json=-"]);
    assert_eq!(code(&output), 1, "{}", text(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report and nothing else");
    assert_eq!(report["verdict"], "findings");
    assert!(String::from_utf8_lossy(&output.stderr).contains("does not conform"));

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.json");
    std::fs::write(&file, &output.stdout).expect("written");
    let path = file.to_str().expect("a path in UTF-8");
    let baseline = run(&["baseline", path, "--reason", "ticket \"1\"", "--until", "2999-12-31"]);
    assert_eq!(code(&baseline), 0, "{}", text(&baseline));
    let config = folder.path().join("conformance.toml");
    std::fs::write(&config, &baseline.stdout).expect("written");
    let config = config.to_str().expect("a path in UTF-8");
    let again =
        run(&["run", "--base-url", &server.url(), "--only", "groups.order", "--config", config, "--quiet"]);
    assert_eq!(code(&again), 0, "{}", text(&again));
}

#[test]
fn gates_keep_a_run_from_conforming_and_say_which() {
    let server = MisbehavingServer::start(groups);
    let with = |gate: &[&str]| {
        let base = ["run", "--base-url", &server.url(), "--only", "groups.envelope.success"];
        run(&[base.as_slice(), gate].concat())
    };
    assert_eq!(code(&with(&[])), 0);
    for gate in
        [["--require", "search.page"].as_slice(), &["--min-clauses", "60"], &["--min-detection", "90"]]
    {
        let output = with(gate);
        assert_eq!(code(&output), 4, "{}", text(&output));
        assert!(text(&output).contains(&gate.join(" ")), "{}", text(&output));
    }
    let wrong = with(&["--min-detection", "101"]);
    assert_eq!(code(&wrong), 2);
    for (pattern, line) in
        [("serch.*", "--require serch.*: it matches no clause"), ("client.*", "matches no clause")]
    {
        let idle = with(&["--require", pattern]);
        assert_eq!(code(&idle), 2, "{}", text(&idle));
        assert!(text(&idle).contains(line), "{}", text(&idle));
    }
}

#[test]
fn a_forgotten_base_url_does_not_test_the_embedded_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("conformance.toml");
    let config = file.to_str().expect("UTF-8");
    let of_token = run(&["run", "--only", "groups.order"]);
    std::fs::write(&file, "[facts]\nown-addresses = [\"192.0.2.7\"]\n").expect("a file");
    let of_fact = program(&["run", "--config", config]).env_remove("SALLYPORT_API_KEY").output();
    for output in [of_token, of_fact.expect("the program runs")] {
        assert_eq!(code(&output), 2, "{}", text(&output));
        assert!(text(&output).contains("no base URL to use it with"), "{}", text(&output));
    }
    let embedded = program(&["run", "--only", "groups.order"]).env_remove("SALLYPORT_API_KEY").output();
    let embedded = embedded.expect("the program runs");
    assert_eq!(code(&embedded), 0, "{}", text(&embedded));
    assert!(text(&embedded).contains("the embedded server of this program"), "{}", text(&embedded));
}

/// A configuration that lies in the folder decides nothing, and both commands say so.
#[test]
fn plan_and_run_say_what_they_test_and_by_which_configuration() {
    let target = MisbehavingServer::start(groups);
    let folder = tempfile::tempdir().expect("a folder");
    let config = format!("base-url = \"{}\"\nonly = [\"groups.order.*\"]\n", target.url());
    std::fs::write(folder.path().join("conformance.toml"), config).expect("written");
    let said = |arguments: &[&str], has_token: bool| {
        let mut command = program(arguments);
        command.current_dir(folder.path());
        if !has_token {
            command.env_remove("SALLYPORT_API_KEY");
        }
        let output = command.output().expect("it runs");
        (code(&output), text(&output))
    };
    for command in ["plan", "run"] {
        let (exit, said_here) = said(&[command, "--config", "conformance.toml"], true);
        assert_eq!(exit, 0, "{said_here}");
        assert!(said_here.starts_with(&format!("          target {}/\n", target.url())), "{said_here}");
        assert!(said_here.contains("   configuration conformance.toml\n"), "{said_here}");
        let (exit, said_here) = said(&[command, "--only", "groups.order.*"], true);
        assert_eq!(exit, 2, "{command} with a token and without a base URL: {said_here}");
        assert!(said_here.contains("no base URL to use it with"), "{said_here}");
    }
    let sent = target.connections();
    let embedded: &[&str] = if cfg!(feature = "embedded") { &["plan", "run"] } else { &[] };
    for command in embedded {
        let (exit, said_here) = said(&[command, "--only", "groups.order.*"], false);
        assert_eq!(exit, 0, "{said_here}");
        assert!(
            said_here.starts_with("          target the embedded server with sample data\n"),
            "{said_here}"
        );
        let unread = "none; conformance.toml in this folder is not read, pass --config conformance.toml";
        assert!(said_here.contains(unread), "{said_here}");
        std::fs::rename(folder.path().join("conformance.toml"), folder.path().join("c.toml")).expect("moved");
        let (_, said_here) = said(&[command, "--only", "groups.order.*"], false);
        assert!(said_here.contains("   configuration none\n"), "{said_here}");
        std::fs::rename(folder.path().join("c.toml"), folder.path().join("conformance.toml")).expect("moved");
    }
    assert_eq!(target.connections(), sent);
}

#[test]
fn what_is_skipped_is_named_by_reason_and_folds() {
    let target = MisbehavingServer::start(groups);
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("r.json");
    let html = folder.path().join("r.html");
    let reports = format!("json={},html={}", json.display(), html.display());
    let url = target.url();
    let only =
        ["--only", "groups.order.*", "--only", "search.activated-range.*", "--only", "search.paging.*"];
    let skip = ["--skip", "search.activated-range.format", "--skip", "search.paging.echo"];
    let arguments = [&["run", "--base-url", &url, "--profile", "full"], only.as_slice(), &skip].concat();
    let reason = "supply addresses of the account's instances (SALLYPORT_OWN_ADDRESSES) to run this";
    let plain = run(&arguments);
    let said = text(&plain);
    let line = said.lines().find(|line| line.contains("skipped ") && line.contains(reason));
    assert!(line.is_some_and(|line| line.contains("(search.activated-range.")), "{said}");
    assert!(!said.contains("skipped search.activated-range."), "a line for each skipped check: {said}");
    assert!(
        text(&run(&[arguments.as_slice(), &["--verbose"]].concat()))
            .contains("skipped search.activated-range.")
    );

    let gated = run(&[arguments.as_slice(), &["--fail-on-skip", "--report", &reports]].concat());
    let said = text(&gated);
    assert_eq!(code(&gated), 4, "{said}");
    let line =
        said.lines().find(|line| line.contains("gate not met --fail-on-skip: ") && line.contains(reason));
    let line = line.expect("a line of the gate");
    assert!(line.contains("(search.activated-range.") && line.contains(" more): supply "), "{line}");
    assert!(line.matches("; ").count() <= 5, "{line}");
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(&json).expect("a report")).expect("JSON");
    let page = std::fs::read_to_string(&html).expect("a page");
    let checks = report["checks"].as_array().expect("checks");
    let skipped: Vec<&str> = checks
        .iter()
        .filter(|check| check["outcome"]["reason"].as_str().is_some_and(|found| found.contains(reason)))
        .filter_map(|check| check["id"].as_str())
        .collect();
    assert!(skipped.len() > 1, "{report}");
    assert!(skipped.iter().all(|id| page.contains(id)), "{skipped:?}");
}

#[test]
fn a_region_that_cannot_be_one_is_rejected_before_anything_is_sent() {
    let target = MisbehavingServer::start(groups);
    let url = target.url();
    for (variable, value, found) in [
        ("SALLYPORT_PLENTIFUL_REGION", "USAA", "found `USAA`"),
        ("SALLYPORT_SCARCE_REGION", "12Z", "found `12Z`"),
        ("SALLYPORT_EMPTY_REGION", "token-of-a-test", "found a text of 15 characters"),
        ("SALLYPORT_KNOWN_GATEWAYS", "US/http=gw.invalid:80", "found `US`"),
    ] {
        for command in ["plan", "run"] {
            let output =
                program(&[command, "--base-url", &url]).env(variable, value).output().expect("it runs");
            assert_eq!(code(&output), 2, "{}", text(&output));
            let said = format!(
                "{variable}: expected a three-letter country code such as `USA` or `GLOBAL`, {found}"
            );
            assert!(text(&output).contains(&said), "{said} in {}", text(&output));
        }
    }
    assert_eq!(target.connections(), 0);
}

/// Gives gateways of every region but one, for which it is short of them.
#[test]
fn a_region_without_gateways_is_named_with_its_fact() {
    let target = MisbehavingServer::start_reading(|stream, head| {
        if !head.contains("/extract") && !head.contains("num=") {
            return server::groups(stream, &[1]);
        }
        if head.contains("ZZZ") {
            let body = br#"{"code": 50301, "message": "no gateway", "requestId": "r"}"#;
            let headers = [("Content-Type", "application/json"), ("Retry-After", "1")];
            return server::response(stream, "404 Not Found", &headers, body);
        }
        server::json(stream, br#"{"code": 0, "success": true, "msg": "ok", "request_ip": "127.0.0.1", "data": [{"ip": "192.0.2.1", "port": 1}]}"#)
    });
    let url = target.url();
    let arguments = ["run", "--base-url", &url, "--only", "extract.envelope.success", "--profile", "full"];
    let said = |region: &str| {
        let output = program(&arguments).env("SALLYPORT_PLENTIFUL_REGION", region).output().expect("it runs");
        text(&output)
    };
    let wrong = "the service has returned no gateway of the region `ZZZ` in this run; if it has none there, correct \
                 SALLYPORT_PLENTIFUL_REGION";
    assert!(said("ZZZ").contains(wrong), "{}", said("ZZZ"));
    assert!(!said("USA").contains("SALLYPORT_PLENTIFUL_REGION"), "{}", said("USA"));
}
