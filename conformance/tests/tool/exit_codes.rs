//! Exit codes of the program, and one line of help.

use super::program::{AssertOutput as _, Finish as _, Folder, TOKEN, program, run, run_without_token, text};
use super::server::{self, TestServer};

#[test]
fn without_a_base_url_the_reference_server_is_tested() {
    for arguments in [["run", "--only", "groups.*"].as_slice(), &["--only", "groups.*"]] {
        let output = run_without_token(arguments);
        let text = text(&output.assert(0, &["conforms: no violation found, "]));
        assert!(!text.contains('\u{1b}'), "colours go to terminals only");
    }
}

#[test]
fn each_usage_ends_with_its_code_and_a_line_of_help() {
    for row in include_str!("usage.txt").lines().filter(|row| !row.starts_with('#')) {
        let (arguments, expected) = row.split_once(" => ").expect("arguments and what they come to");
        let (has_no_token, arguments) = (arguments.starts_with("! "), arguments.trim_start_matches("! "));
        let arguments: Vec<&str> = arguments.split(' ').collect();
        if !cfg!(feature = "embedded") && ["client", "docs", "proxy"].contains(&arguments[0]) {
            continue;
        }
        let output = if has_no_token { run_without_token(&arguments) } else { run(&arguments) };
        let (code, parts) = expected.split_once(' ').expect("a code and texts");
        let parts: Vec<&str> = parts.split(" | ").collect();
        let said = text(&output.assert(code.parse().expect("a code"), &parts));
        assert!(!said.contains(TOKEN) && !said.contains("unexpected argument"), "{row}: {said}");
    }
}

#[test]
fn odd_environment_variables_are_named() {
    let server = TestServer::start(|stream| server::groups(stream, &[1]));
    let folder = Folder::new();
    let config = folder.write("c.toml", "[facts]\nrevoked-api-key = { env = \"SALLYPORT_OF_MY_OWN\" }\n");
    let mut program =
        program(&["run", "--base-url", &server.url(), "--only", "groups.order", "--config", &config]);
    program.env("SALLYPORT_API_KEY", format!("{TOKEN}\n")).env("SALLYPORT_OF_MY_OWN", " a-revoked-token");
    program.env("SALLYPORT_EMPTY_REGON", "ATA").env("SALLYPORT_ZZZ", "1").env("SALLYPORT_DB", "x");
    let shown = text(&program.finish().assert(0, &[]));
    let warnings: Vec<&str> =
        shown.lines().filter_map(|line| line.strip_prefix("conformance: warning: ")).collect();
    assert_eq!(
        warnings,
        [
            "SALLYPORT_API_KEY: white space around the value is ignored",
            "SALLYPORT_OF_MY_OWN: white space around the value is ignored",
            "unknown environment variable SALLYPORT_EMPTY_REGON, which is ignored; did you mean SALLYPORT_EMPTY_REGION?",
        ]
    );
}

/// Each obstacle is said once, with what to do about it.
#[test]
fn what_keeps_a_run_from_beginning_says_where_to_look() {
    let rejecting = |status: &'static str, code: u32| {
        TestServer::start(move |stream| {
            let body = format!(r#"{{"code": {code}, "message": "no"}}"#);
            server::response(stream, status, &[("Content-Type", "application/json")], body.as_bytes())
        })
    };
    let folder = Folder::new();
    let by_command = folder.write("c.toml", "api-key = { command = [\"echo\", \"wrong-token\"] }\n");
    let elsewhere = "the target does not serve the host of the base URL (HTTP 421 with code 42100: no)";
    for (server, arguments, advice) in [
        (rejecting("401 Unauthorized", 40102), &[][..], "check SALLYPORT_API_KEY and the base URL"),
        (
            rejecting("401 Unauthorized", 40102),
            &["--config", &by_command],
            "check what the command of the token (`api-key`) prints",
        ),
        (rejecting("421 Misdirected Request", 42100), &[], elsewhere),
    ] {
        let url = server.url();
        let arguments = [&["run", "--base-url", &url], arguments].concat();
        let ended = match arguments.contains(&"--config") {
            true => run_without_token(&arguments),
            false => run(&arguments),
        };
        let said = text(&ended.assert(3, &[advice]));
        assert_eq!(said.matches(advice).count(), 1, "{said}");
    }
    let config = folder.write("c.toml", "[connection]\nca-file = \"\"\n");
    run(&["run", "--config", &config]).assert(2, &["c.toml:2: `ca-file`: expected the path of a file"]);
}

/// What several cases find in the same words is shown once.
#[test]
fn findings_that_say_the_same_fold_beneath_the_smallest() {
    let server = TestServer::start(|stream| server::groups(stream, &[2, 1]));
    let (folder, url) = (Folder::new(), server.url());
    let report = format!("json={}", folder.file("report.json"));
    let base = ["run", "--base-url", &url, "--only", "groups.order.ascending", "--report", &report];
    let said = text(&run(&base).assert(1, &["folded 1 further finding agrees: groups.order.ascending (1)"]));
    assert_eq!(said.matches("2 stands before 1").count(), 1, "{said}");
    assert_eq!(said.matches("conformance evidence ").count(), 1, "{said}");
    let all = text(&run(&[base.as_slice(), &["--verbose"]].concat()).assert(1, &[]));
    assert_eq!(all.matches("2 stands before 1").count(), 2, "{all}");
    assert!(all.contains(" Finding groups.order.ascending#2"), "{all}");
}
