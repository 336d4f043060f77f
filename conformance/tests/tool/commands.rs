//! The commands beside `run`, over real files and sockets.

use std::net::TcpStream;

use serde_json::Value;

use super::program::{AssertOutput as _, Finish as _, Folder, program, run, run_without_token, text};
use super::server::{self, TestServer};

fn groups(stream: &mut TcpStream) -> std::io::Result<()> {
    server::groups(stream, &[1, 2])
}

#[test]
fn a_plan_sends_nothing_and_keeps_to_the_profile() {
    let target = TestServer::start(groups);
    run(&["plan", "--profile", "smoke", "--base-url", &target.url()])
        .assert(0, &["0 gateways, without retries", "known faults"]);
    let looks = "the run first looks for addresses of the account's instances (SALLYPORT_OWN_ADDRESSES)";
    run(&["plan", "--base-url", &target.url()]).assert(0, &[looks]);
    assert_eq!(target.connections(), 0);
}

#[test]
fn a_configuration_is_written_read_and_complained_of() {
    let folder = Folder::new();
    let path = &folder.file("conformance.toml");
    run(&["init", path]).assert(0, &[]);
    run(&["init", path]).assert(2, &["already exists"]);
    run(&["init", path, "--force"]).assert(0, &[]);

    let target = TestServer::start(groups);
    let configured = format!("base-url = \"{}\"\nonly = [\"groups.envelope.success\"]\n", target.url());
    folder.write("conformance.toml", configured);
    run(&["run", "--config", path]).assert(0, &[]);
    assert!(target.connections() > 0);
    // An argument goes before the configuration.
    let closed = format!("http://{}", server::closed_port());
    run(&["run", "--config", path, "--base-url", &closed]).assert(3, &[]);

    folder.write("conformance.toml", "\nbase-ulr = \"x\"\n");
    run(&["run", "--config", path])
        .assert(2, &["conformance.toml:2: unknown key `base-ulr`; did you mean `base-url`?"]);
}

#[test]
fn the_server_writes_what_is_known_of_its_sample_data() {
    let folder = Folder::new();
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
    let Some(sallyport_conformance::config::TokenSource::Given(token)) = config.token else {
        panic!("a token of a file")
    };
    assert_eq!(token.expose(), sample.tokens.main.expose());
    assert!(sallyport_server::data::facts::write(&place, &sample).is_err(), "nothing is written over");
    let configuration = std::fs::read_to_string(&file).expect("it can be read");
    assert!(sample.tokens.list().iter().all(|it| !configuration.contains(it.token.expose())));
}

#[test]
fn a_recording_is_compared_with_a_changed_target() {
    let folder = Folder::new();
    let place = &folder.file("before");
    let target = TestServer::start(groups);
    run(&["record", place, "--base-url", &target.url()]).assert(0, &[]);
    run(&["compare", place, "--base-url", &target.url()]).assert(0, &[]);
    let changed = TestServer::start(|stream| {
        let body = br#"{"code": 200, "message": "ok", "requestId": "r", "data": {"items": []}}"#;
        let headers = [("Content-Type", "application/json"), ("X-Request-Id", "r")];
        server::response(stream, "200 OK", &headers, body)
    });
    let lines =
        ["groups.envelope: A successful group listing", "groups.listed", "- header cache-control: no-store"];
    run(&["compare", place, "--base-url", &changed.url()]).assert(1, &lines);
    run(&["compare", "no-such-folder", place]).assert(2, &[]);
    run(&["compare", place, place]).assert(0, &[]);
}

/// A report is data: it does not decide where tokens go.
#[test]
fn a_finding_is_replayed_where_the_user_says_and_nowhere_else() {
    let folder = Folder::new();
    let report = &folder.file("report.json");
    let broken = TestServer::start(|stream| server::groups(stream, &[2, 1]));
    let check = "groups.order.ascending";
    let request = format!("json={report}");
    run(&["run", "--base-url", &broken.url(), "--only", check, "--report", &request]).assert(1, &[]);
    run(&["replay", report, check]).assert(2, &["--base-url"]);
    run(&["replay", report, check, "--base-url", &broken.url()]).assert(1, &[]);
    program(&["replay", report, check]).env("SALLYPORT_BASE_URL", broken.url()).finish().assert(1, &[]);

    let fixed = TestServer::start(groups);
    let elsewhere = ["replay", report, check, "--base-url", &fixed.url()];
    run(&elsewhere).assert(2, &["--allow-other-target"]);
    assert_eq!(fixed.connections(), 0, "something was sent");
    run(&[elsewhere.as_slice(), &["--allow-other-target"]].concat()).assert(0, &[]);

    let foreign = TestServer::start(groups);
    folder.write("report.json", folder.read("report.json").replace(&broken.url(), &foreign.url()));
    let sent = broken.connections();
    run(&["replay", report, check]).assert(2, &[]);
    run(&["replay", report, check, "--base-url", &broken.url()]).assert(2, &[]);
    assert_eq!((foreign.connections(), broken.connections()), (0, sent), "a token was sent");

    // The checks with findings are named.
    run(&["replay", report, "groups.envelope.success"]).assert(2, &[check]);
}

#[test]
fn every_finding_is_replayed_passive_ones_too() {
    let folder = Folder::new();
    let report = &folder.file("report.json");
    // In the wrong order, without a name, and without the headers.
    let broken = TestServer::start(|stream| {
        let group = |id: u8| serde_json::json!({"groupId": id, "createdAt": "2026", "updatedAt": ""});
        let data = serde_json::json!({"items": [group(2), group(1)]});
        let body = serde_json::json!({"code": 200, "message": "ok", "requestId": "r", "data": data});
        server::response(stream, "200 OK", &[("X-Request-Id", "")], body.to_string().as_bytes())
    });
    let fixed = TestServer::start(groups);
    let request = format!("json={report}");
    run(&["run", "--base-url", &broken.url(), "--only", "groups.*", "--report", &request]).assert(1, &[]);
    let written = folder.json("report.json");
    let checks = written["checks"].as_array().expect("checks");
    let with_findings = checks.iter().filter(|check| check["findings"][0]["severity"] == "fail");
    let ids: Vec<_> = with_findings.filter_map(|check| check["id"].as_str()).collect();
    for passive in ["groups.envelope.schema", "groups.headers.request-id"] {
        assert!(ids.contains(&passive), "{ids:?}");
        let elsewhere = ["replay", report, passive, "--base-url", &fixed.url(), "--allow-other-target"];
        run(&elsewhere).assert(0, &[]);
    }
    for check in ids {
        run(&["replay", report, check, "--base-url", &broken.url()]).assert(1, &["Reproduce curl"]);
    }
    // What compares exchanges of recorded traffic, too.
    let (har, recorded) = (folder.file("run.har"), &folder.file("recorded.json"));
    let run_again = ["run", "--base-url", &broken.url(), "--only", "groups.order.ascending", "--report"];
    run(&[run_again.as_slice(), &[&format!("har={har}")]].concat()).assert(1, &[]);
    run(&["observe", &har, "--report", &format!("json={recorded}")]).assert(1, &["groups.order.recorded"]);
    let again = ["replay", recorded, "groups.order.recorded", "--base-url"];
    run(&[again.as_slice(), &[&broken.url()]].concat()).assert(1, &["Reproduce curl"]);
    run(&[again.as_slice(), &[&fixed.url(), "--allow-other-target"]].concat()).assert(0, &[]);
    // A report is of others: no request of it leaves the base URL, with the token or without.
    let elsewhere = TestServer::start(groups);
    let host = elsewhere.url().replace("http://", "");
    let written = folder.read("report.json");
    for target in [format!("@{host}/x?"), format!(".{host}/"), "x".to_owned()] {
        folder.write(
            "report.json",
            written.replace("\"target\": \"/openapi", &format!("\"target\": \"{target}/openapi")),
        );
        run(&["replay", report, "groups.envelope.schema", "--base-url", &broken.url()])
            .assert(2, &["expected the requests of `groups.envelope.schema` in `exchanges`"]);
    }
    assert_eq!(elsewhere.connections(), 0);
    folder.write("report.json", written);
    let cut = folder.read("report.json").replace("\"request_body_cut\": false", "\"request_body_cut\": true");
    folder.write("report.json", cut);
    run(&["replay", report, "groups.envelope.schema", "--base-url", &broken.url()])
        .assert(2, &["expected the requests of `groups.envelope.schema` in `exchanges`"]);
}

#[test]
fn nobody_gets_the_profile_full_without_asking_for_it() {
    let target = TestServer::start(groups);
    let planned = |how: &[&str]| {
        let url = target.url();
        text(&run(&[&["plan", "--base-url", &url], how].concat()))
    };
    assert!(planned(&[]).contains("profile production"), "{}", planned(&[]));
    assert!(planned(&["--profile", "full"]).contains("profile full"));
    // The embedded server bears everything.
    run_without_token(&["plan"]).assert(0, &["profile full"]);
    let folder = Folder::new();
    let config = folder.write("c.toml", "profile = \"full\"\n");
    assert!(planned(&["--config", &config]).contains("profile full"));
}

#[test]
fn a_secret_that_is_too_short_to_hide_is_rejected() {
    let target = TestServer::start(groups);
    let url = target.url();
    let base = ["run", "--base-url", &url];
    let cases: [(&[&str], &str, &str); 4] = [
        (&[], "ex", "SALLYPORT_API_KEY"),
        (&["--header", "X-Gateway: ab"], "long-enough", "--header"),
        (&["--proxy", "http://user:pw@127.0.0.1:1"], "long-enough", "--proxy"),
        (&["--api-key", "x"], "", "SALLYPORT_API_KEY"),
    ];
    for (arguments, token, name) in cases {
        program(&[base.as_slice(), arguments].concat())
            .env("SALLYPORT_API_KEY", token)
            .finish()
            .assert(2, &[&format!("`{name}`: expected a secret of at least")]);
    }
    program(&base).env("SALLYPORT_SECOND_API_KEY", "ab").finish().assert(2, &[]);
    let proxy = [base.as_slice(), &["--proxy", "http://user:pw@127.0.0.1:1"]].concat();
    run(&proxy).assert(2, &["give the user of the proxy a longer password"]);
    assert_eq!(target.connections(), 0);
    let public = ["--only", "groups.envelope.success", "--public-header", "X-Gateway: ab"];
    run(&[base.as_slice(), &public].concat()).assert(0, &[]);
}

#[test]
fn a_proxy_that_cannot_be_used_is_an_error_and_nothing_is_sent() {
    let target = TestServer::start(groups);
    let (here, elsewhere) = (target.url(), "https://api.invalid".to_owned());
    for (base, arguments, variable, named) in [
        (&here, &["--proxy", "::::"][..], None, "the proxy"),
        (&here, &["--proxy", "ftp://u:hunter22@127.0.0.1:1"], None, "the proxy"),
        (&here, &["--proxy", "socks://127.0.0.1:1"], None, "the proxy"),
        (&here, &["--proxy", "http://u:ab@hunter22/c@127.0.0.1:1"], None, "the proxy"),
        (&elsewhere, &[], Some(("HTTPS_PROXY", "http//u:hunter22@127.0.0.1:1")), "`HTTPS_PROXY`"),
        (&elsewhere, &[], Some(("HTTPS_PROXY", "http://u:hunter 22@127.0.0.1:1")), "`HTTPS_PROXY`"),
        (&elsewhere, &[], Some(("ALL_PROXY", "ftp://u:hunter22@127.0.0.1:1")), "`ALL_PROXY`"),
        (&elsewhere, &[], Some(("https_proxy", "::::")), "`https_proxy`"),
    ] {
        let mut command = program(&[&["run", "--base-url", base], arguments].concat());
        for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        let output =
            command.envs(variable).finish().assert(2, &[&format!("{named}: expected a URL such as")]);
        assert!(!text(&output).contains("hunter22"), "{}", text(&output));
    }
    assert_eq!(target.connections(), 0);
}

#[test]
fn every_clause_is_explained_with_its_words_and_a_request() {
    let output = run(&["list", "--format", "json"]);
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array");
    assert_eq!(checks.len(), sallyport_conformance::registry().len());
    let cited = checks.iter().take(3).filter_map(|check| check["clauses"][0].as_str());
    for clause in cited.chain(["search.match-port", "groups.order", "extract.num-range", "all.https"]) {
        let output = run(&["explain", clause]);
        let text = text(&output.assert(0, &["A request that a conforming service accepts", "curl -sS"]));
        let citing = checks.iter().filter(|check| {
            check["clauses"].as_array().is_some_and(|clauses| clauses.iter().any(|cited| cited == clause))
        });
        for check in citing {
            assert!(text.contains(check["id"].as_str().expect("an id")), "{text}");
        }
    }
}

#[test]
fn quiet_and_verbose_say_less_and_more() {
    let target = TestServer::start(groups);
    let said = |how: &[&str]| {
        let url = target.url();
        let arguments = [&["run", "--base-url", &url, "--only", "groups.envelope.success"], how].concat();
        text(&run(&arguments))
    };
    let (quiet, normal, verbose) = (said(&["--quiet"]), said(&[]), said(&["--verbose"]));
    assert_eq!(quiet.trim().lines().count(), 1, "{quiet}");
    assert!(!normal.contains("passed groups.envelope.success"), "{normal}");
    assert!(verbose.contains("passed groups.envelope.success") && verbose.contains("→ 200"), "{verbose}");
}

/// The verdict, what it rests on, and what would raise that: no line for each check.
#[cfg(feature = "embedded")]
#[test]
fn a_run_without_findings_has_a_few_lines_and_the_verdict_first() {
    let said = text(&run_without_token(&["run", "--profile", "smoke"]).assert(0, &[]));
    assert!(said.lines().count() <= 15, "{said}");
    let (_, summary) = said.split_once("\n\n").expect("a summary");
    let labels: Vec<&str> = summary.lines().filter_map(|line| line.get(..16)).map(str::trim).collect();
    assert_eq!(labels[..4], ["verdict", "coverage", "detection", "to judge more"], "{said}");
}

#[test]
fn what_is_explained_may_be_a_pattern() {
    let listed =
        text(&run(&["explain", "groups.*"]).assert(0, &["groups.order  ", "groups.order.ascending  "]));
    assert!(listed.lines().all(|line| line.starts_with("groups.")), "{listed}");
}

#[test]
fn a_report_on_standard_output_stands_there_alone_and_makes_a_baseline() {
    let server = TestServer::start(|stream| server::groups(stream, &[2, 1]));
    let base = ["run", "--base-url", &server.url(), "--only", "groups.order"];
    let output = run(&[base.as_slice(), &["--report", "json=-"]].concat()).assert(1, &[]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report and nothing else");
    assert_eq!(report["verdict"], "findings");
    assert!(String::from_utf8_lossy(&output.stderr).contains(" findings: 1 clause violated, "));

    let folder = Folder::new();
    let path = folder.write("report.json", &output.stdout);
    let baseline = run(&["baseline", &path, "--reason", "ticket \"1\"", "--until", "2999-12-31"]);
    let config = folder.write("conformance.toml", &baseline.assert(0, &[]).stdout);
    run(&[base.as_slice(), &["--config", &config, "--quiet"]].concat()).assert(0, &[]);
}

#[test]
fn gates_keep_a_run_from_conforming_and_say_which() {
    let server = TestServer::start(groups);
    let with = |gate: &[&str]| {
        let base = ["run", "--base-url", &server.url(), "--only", "groups.envelope.success"];
        run(&[base.as_slice(), gate].concat())
    };
    with(&[]).assert(0, &[]);
    for gate in [["--require", "search.page"], ["--min-clauses", "60"], ["--min-detection", "90"]] {
        with(&gate).assert(4, &[&gate.join(" ")]);
    }
}

#[test]
fn a_forgotten_base_url_does_not_test_the_embedded_server() {
    let folder = Folder::new();
    let config = folder.write("conformance.toml", "[facts]\nown-addresses = [\"192.0.2.7\"]\n");
    let of_token = run(&["run", "--only", "groups.order"]);
    let of_fact = run_without_token(&["run", "--config", &config]);
    let empty = folder.write("empty.toml", "");
    let of_configuration = run_without_token(&["run", "--config", &empty]);
    for output in [of_token, of_fact, of_configuration] {
        output
            .assert(2, &["missing base URL for", "--base-url", "SALLYPORT_BASE_URL", "base-url in the conf"]);
    }
    let named = [" (the embedded server of this program) conforms: "];
    run_without_token(&["run", "--only", "groups.order"]).assert(0, &named);
    let embedded = ["run", "--embedded", "--only", "groups.order", "--implementation", "gateway 4.2"];
    let embedded_anyway = [embedded.as_slice(), &["--config", &config]].concat();
    program(&embedded_anyway).env("SALLYPORT_BASE_URL", "https://api.invalid").finish().assert(0, &named);
    run(&[embedded.as_slice(), &["--base-url", "https://api.invalid"]].concat())
        .assert(2, &["cannot be used"]);
}

/// A configuration that lies in the folder decides nothing, and both commands say so.
#[test]
fn plan_and_run_say_what_they_test_and_by_which_configuration() {
    let target = TestServer::start(groups);
    let folder = Folder::new();
    let config = format!("base-url = \"{}\"\nonly = [\"groups.order.*\"]\n", target.url());
    let (here, away) = (folder.write("conformance.toml", config), folder.file("c.toml"));
    let said = |arguments: &[&str], has_token: bool, expected: i32, printed: &[&str]| {
        let mut command = program(arguments);
        command.current_dir(folder.path());
        if !has_token {
            command.env_remove("SALLYPORT_API_KEY");
        }
        text(&command.finish().assert(expected, printed))
    };
    for command in ["plan", "run"] {
        let configured = ["   configuration conformance.toml\n"];
        let text = said(&[command, "--config", "conformance.toml"], true, 0, &configured);
        assert!(text.starts_with(&format!("          target {}/\n", target.url())), "{text}");
        said(&[command, "--only", "groups.order.*"], true, 2, &["missing base URL for"]);
    }
    let sent = target.connections();
    let embedded: &[&str] = if cfg!(feature = "embedded") { &["plan", "run"] } else { &[] };
    for command in embedded {
        let unread = "none; conformance.toml in this folder is not read, pass --config conformance.toml";
        let text = said(&[command, "--only", "groups.order.*"], false, 0, &[unread]);
        assert!(text.starts_with("          target the embedded server with sample data\n"), "{text}");
        std::fs::rename(&here, &away).expect("moved");
        said(&[command, "--only", "groups.order.*"], false, 0, &["   configuration none\n"]);
        std::fs::rename(&away, &here).expect("moved");
    }
    assert_eq!(target.connections(), sent);
}

#[test]
fn what_is_skipped_is_named_by_reason_and_folds() {
    let target = TestServer::start(groups);
    let folder = Folder::new();
    let reports = format!("json={},html={}", folder.file("r.json"), folder.file("r.html"));
    let url = target.url();
    let only =
        ["--only", "groups.order.*", "--only", "search.activated-range.*", "--only", "search.paging.*"];
    let skip = ["--skip", "search.activated-range.format"];
    let arguments = [&["run", "--base-url", &url, "--profile", "full"], only.as_slice(), &skip].concat();
    let reason = "supply addresses of the account's instances (SALLYPORT_OWN_ADDRESSES) to run this";
    let said = text(&run(&arguments));
    let line = said.lines().find(|line| line.contains("to judge more ") && line.contains(reason));
    assert!(line.is_some_and(|line| line.contains(" checks: supply ")), "{said}");
    assert!(!said.contains("search.activated-range."), "a line for each skipped check: {said}");
    let verbose = text(&run(&[arguments.as_slice(), &["--verbose"]].concat()));
    assert!(verbose.contains("skipped search.activated-range."), "{verbose}");

    let gated = run(&[arguments.as_slice(), &["--fail-on-skip", "--report", &reports]].concat());
    let said = text(&gated.assert(4, &[]));
    let line =
        said.lines().find(|line| line.contains("gate not met --fail-on-skip: ") && line.contains(reason));
    let line = line.expect("a line of the gate");
    assert!(line.contains("(search.activated-range.") && line.contains(" more): supply "), "{line}");
    assert!(line.matches("; ").count() <= 5, "{line}");
    let (report, page) = (folder.json("r.json"), folder.read("r.html"));
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
    let target = TestServer::start(groups);
    let url = target.url();
    for (variable, value, found) in [
        ("SALLYPORT_PLENTIFUL_REGION", "USAA", "found `USAA`"),
        ("SALLYPORT_SCARCE_REGION", "12Z", "found `12Z`"),
        ("SALLYPORT_EMPTY_REGION", "token-of-a-test", "found a text of 15 characters"),
        ("SALLYPORT_KNOWN_GATEWAYS", "US/http=gw.invalid:80", "found `US`"),
    ] {
        for command in ["plan", "run"] {
            let said = format!(
                "{variable}: expected a three-letter country code such as `USA` or `GLOBAL`, {found}"
            );
            program(&[command, "--base-url", &url]).env(variable, value).finish().assert(2, &[&said]);
        }
    }
    assert_eq!(target.connections(), 0);
}

/// Gives gateways of every region but one, for which it is short of them.
#[test]
fn a_region_without_gateways_is_named_with_its_fact() {
    let target = TestServer::start_reading(|stream, request| {
        let head = request.head;
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
    let said = |region: &str| text(&program(&arguments).env("SALLYPORT_PLENTIFUL_REGION", region).finish());
    let wrong = "the service has returned no gateway of the region `ZZZ` in this run; if it has none there, correct \
                 SALLYPORT_PLENTIFUL_REGION";
    assert!(said("ZZZ").contains(wrong), "{}", said("ZZZ"));
    assert!(!said("USA").contains("SALLYPORT_PLENTIFUL_REGION"), "{}", said("USA"));
}

#[cfg(all(unix, feature = "embedded"))]
#[test]
fn a_client_under_test_gets_none_of_the_testers_tokens() {
    const TOKENS: [&str; 3] = ["second-cAn4ry-77", "rejected-cAn4ry-78", "own-cAn4ry-79"];
    let folder = Folder::new();
    let environment = folder.file("environment");
    let known = folder.write("known", TOKENS.join("\n"));
    // The second one gets them anyway, and shows them.
    for (more, code, printed) in
        [("", 0, "1 case"), ("cat \"$0\" >&2;", 1, "a token of the tester's environment")]
    {
        let answer = r#"{"error": {"class": "rejected", "message": "x"}}"#;
        let script = format!("cat > /dev/null; env > '{environment}'; {more} echo '{answer}'");
        let client = [
            "client",
            "--only",
            "client.https-only.plain-http",
            "--report",
            "json=-",
            "--",
            "sh",
            "-c",
            &script,
            &known,
        ];
        let output = program(&client)
            .env("SALLYPORT_API_KEY", TOKENS[2])
            .env("SALLYPORT_SECOND_API_KEY", TOKENS[0])
            .env("SALLYPORT_REJECTED_TOKENS", format!("revoked={}", TOKENS[1]))
            .env("SALLYPORT_OWN_ADDRESSES", "203.0.113.7")
            .env("SALLYPORT_DB", "server.db")
            .finish();
        let shown = text(&output.assert(code, &[printed]));
        let handed = std::fs::read_to_string(&environment).expect("the environment");
        for token in TOKENS {
            assert!(!shown.contains(token) && !handed.contains(token), "{token}: {shown}{handed}");
        }
        assert!(handed.contains("SALLYPORT_API_KEY=") && !handed.contains("SALLYPORT_OWN"), "{handed}");
        assert!(!handed.contains("SALLYPORT_DB"), "{handed}");
    }
}
