//! Exit codes of the program, and one line of help.

use std::io::Write as _;
use std::net::TcpListener;

use crate::program::{AssertOutput as _, Finish as _, Folder, TOKEN, program, run, text};
use crate::server::{self, TestServer, closed_port};

#[test]
fn without_a_base_url_the_reference_server_is_tested() {
    for arguments in [["run", "--only", "groups.*"].as_slice(), &["--only", "groups.*"]] {
        let output = program(arguments).env_remove("SALLYPORT_API_KEY").finish();
        let text = text(&output.assert(0, &["conforms: no violation found, "]));
        assert!(!text.contains('\u{1b}'), "colours go to terminals only");
    }
}

#[test]
fn wrong_usage_ends_with_2_and_one_line_of_help() {
    let wrong: [(&[&str], bool, &str); 6] = [
        (&["run", "--only", "serch.*"], false, "matches no check"),
        (&["run", "--base-url", "https://api.invalid"], false, "SALLYPORT_API_KEY"),
        (&["run", "--base-url", "http://api.invalid"], true, "--allow-http"),
        (&["run", "--base-url", "api.invalid"], true, "https://"),
        (&["run", "--report", "pdf=x"], false, "json=FILE"),
        (&["explain", "search.nothing"], false, "unknown clause"),
    ];
    for (arguments, has_token, expected) in wrong {
        let mut program = program(arguments);
        if !has_token {
            program.env_remove("SALLYPORT_API_KEY");
        }
        assert!(!text(&program.finish().assert(2, &[expected])).contains(TOKEN));
    }
}

#[test]
fn numbers_out_of_range_are_named_with_their_range() {
    for (arguments, range) in [
        (["run", "--rate", "-5"], "1 to 4294967295"),
        (["run", "--rate", "0"], "1 to 4294967295"),
        (["run", "--max-requests", "0"], "1 to 18446744073709551615"),
        (["run", "--max-bytes", "-1"], "1 to 18446744073709551615"),
        (["run", "--min-clauses", "0"], "1 to "),
        (["run", "--min-clauses", "65535"], "1 to "),
        (["run", "--concurrency", "256"], "1 to 255"),
        (["watch", "--keep", "-1"], "1 to 65535"),
        (["watch", "--gateways-per-day", "-1"], "0 to "),
        (["run", "--detect", "101"], "1 to 100"),
        (["observe", "--max-bytes", "-1"], "1 to "),
        (["client", "--concurrency", "-1"], "1 to 255"),
    ] {
        let said = text(&run(&arguments).assert(2, &[arguments[1], range]));
        assert!(said.contains("invalid value") && !said.contains("unexpected argument"), "{said}");
    }
}

#[test]
fn https_to_a_port_of_plain_http_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("https://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming().take(8) {
            // As servers do that read no request.
            let _ = stream.and_then(|mut stream| stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        }
    });
    run(&["run", "--base-url", &url]).assert(3, &["this port speaks plain http"]);
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
            "unknown environment variable SALLYPORT_ZZZ, which is ignored; `conformance init` writes a file that names \
             the known ones",
        ]
    );
}

#[test]
fn an_unreachable_target_ends_with_3_and_a_used_up_budget_with_4() {
    run(&["run", "--base-url", &format!("http://{}", closed_port())]).assert(3, &[]);
    let mut embedded = program(&["run", "--only", "groups.*", "--max-bytes", "100"]);
    embedded.env_remove("SALLYPORT_API_KEY").finish().assert(4, &[]);
}

#[test]
fn findings_end_with_1_and_no_artefact_shows_the_token() {
    let server = TestServer::start(|stream| {
        let headers = [("Content-Type", "application/json"), ("X-Request-Id", "r"), ("X-Echo", TOKEN)];
        let body = br#"{"code": 200, "message": "ok", "requestId": "r", "data": {"items": []}}"#;
        server::response(stream, "200 OK", &headers, body)
    });
    let folder = Folder::new();
    let report = format!("json={}", folder.file("report.json"));
    let output = run(&["run", "--base-url", &server.url(), "--only", "groups.*", "--report", &report]);
    let printed = text(&output.assert(1, &[]));
    let parsed = folder.json("report.json");
    assert_eq!((&parsed["schema_version"], &parsed["verdict"]), (&2.into(), &"findings".into()));
    for artefact in [printed, folder.read("report.json")] {
        assert!(artefact.contains("API_KEY"));
        assert!(!artefact.contains("cAn4ry/") && !artefact.contains("cAn4ry%2F"), "{artefact}");
    }
}
