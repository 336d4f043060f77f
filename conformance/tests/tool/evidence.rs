//! What settles an argument: a finding as one file, and requests of one exchange as they are sent again.

use std::io::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::program::{AssertOutput as _, Finish as _, Folder, TOKEN, program, run, text};
use super::server::{self, TestServer};

/// A service that lists its groups in the wrong order, and without a token too.
fn broken() -> TestServer {
    TestServer::start(|stream| server::groups(stream, &[2, 1]))
}

/// The same in order, for the right token.
pub(super) fn fixed() -> TestServer {
    TestServer::start_reading(|stream, request| {
        let path = request.head.split(' ').nth(1).unwrap_or_default();
        let url = reqwest::Url::parse(&format!("http://x.invalid{path}")).expect("a path");
        let tokens = url.query_pairs().filter(|(name, _)| name == "api_key").collect::<Vec<_>>();
        if matches!(tokens.as_slice(), [(_, token)] if token == TOKEN) {
            return server::groups(stream, &[1, 2]);
        }
        rejected(stream)
    })
}

fn rejected(stream: &mut std::net::TcpStream) -> std::io::Result<()> {
    let body = br#"{"code": 1, "message": "no"}"#;
    server::response(stream, "401 Unauthorized", &[("Content-Type", "application/json")], body)
}

const ONLY: [&str; 4] = ["--only", "groups.order.ascending", "--only", "groups.token.*"];

/// Runs against a service, and returns the path of the report.
fn report(folder: &Folder, name: &str, url: &str, code: i32) -> String {
    let file = folder.file(&format!("{name}.json"));
    let pages = format!("json={file},html={file}.html,md={file}.md");
    run(&[&["run", "--base-url", url, "--report", &pages], ONLY.as_slice()].concat()).assert(code, &[]);
    file
}

/// The ids of the findings, as reports name them.
fn ids(report: &Value) -> Vec<String> {
    let checks = report["checks"].as_array().expect("checks");
    let of_check = |check: &Value| {
        let (id, findings) =
            (check["id"].as_str().expect("an id"), check["findings"].as_array().map_or(0, Vec::len));
        let name = |number: usize| if findings == 1 { id.to_owned() } else { format!("{id}#{number}") };
        (1..=findings).map(name).collect::<Vec<_>>()
    };
    checks.iter().flat_map(of_check).collect()
}

#[test]
fn a_finding_is_one_file_that_needs_nothing_else() {
    let (folder, target) = (Folder::new(), broken());
    let file = report(&folder, "report", &target.url(), 1);
    let written = folder.json("report.json");
    let ids = ids(&written);
    assert!(ids.len() > 3, "{ids:?}");
    let (page, summary) = (folder.read("report.json.html"), folder.read("report.json.md"));
    for id in &ids {
        let command = format!("conformance evidence report.json '{id}' -o evidence.html");
        assert!(summary.contains(&command) && page.contains(&command.replace('\'', "&#x27;")), "{command}");
        for name in ["evidence.html", "evidence.md"] {
            run(&["evidence", &file, id, "-o", &folder.file(name)]).assert(0, &[name]);
            let evidence = folder.read(name);
            assert!(!evidence.contains(&TOKEN[..8]), "{evidence}");
            let place = if name.ends_with("md") {
                " of `openapi/openapi.yaml`"
            } else {
                "<code>openapi/openapi.yaml</code> line "
            };
            for part in [
                place,
                "HTTP 200",
                "accepted when the response has HTTP 200 and code 200",
                "api_key=",
                "curl -sS -i -X GET",
            ] {
                assert!(evidence.contains(part), "{id}: expected {part} in {evidence}");
            }
            let again = format!("conformance replay report.json '{id}' --base-url URL");
            assert!(evidence.replace("&#x27;", "'").contains(&again), "{evidence}");
            if id.starts_with("groups.token") {
                assert!(evidence.contains("What else the run found of this clause"), "{id}: {evidence}");
            }
            assert!(evidence.contains(written["contract_sha256"].as_str().expect("a hash")));
            let roles = ["This response violates the clause", "Judged together"];
            assert!(roles.iter().any(|role| evidence.contains(role)), "{evidence}");
            // A rejection counts beside a request that was accepted.
            assert_eq!(
                evidence.contains("Control request: valid, and accepted"),
                id.starts_with("groups.token"),
                "{id}: {evidence}"
            );
            for loading in ["src=", "<link", "@import", "url(", "fetch(", "<script"] {
                assert!(!evidence.contains(loading), "the page has {loading}");
            }
        }
    }
    let several = ids.iter().find_map(|id| id.strip_suffix("#2")).expect("a check with two findings");
    run(&["evidence", &file, several, "-o", "e.md"]).assert(2, &["choose one of", &format!("{several}#2")]);
    run(&["evidence", &file, "search.total", "-o", "e.md"])
        .assert(2, &["is no finding of this report", &ids[0]]);
    run(&["evidence", &file, &ids[0], "-o", "e.pdf"]).assert(2, &["*.html or *.md"]);
}

/// Two groups for a listing, and for each search three instances with a `total` that follows the size of the page.
pub(super) fn miscounting() -> TestServer {
    TestServer::start_reading(|stream, request| {
        if !request.head.contains("/search") {
            return server::groups(stream, &[1, 2]);
        }
        let body: Value = serde_json::from_str(request.body).unwrap_or_default();
        let (page, size) = (body["page"].as_i64().unwrap_or(1), body["pageSize"].as_i64().unwrap_or(20));
        let items: Vec<Value> = (1..=3).filter(|id| (id - 1) / size + 1 == page).map(instance).collect();
        let total = if size < 3 { items.len() } else { 3 };
        let data = json!({"items": items, "page": page, "pageSize": size, "total": total});
        let body = json!({"code": 200, "message": "ok", "requestId": "r", "data": data});
        server::json(stream, body.to_string().as_bytes())
    })
}

fn instance(id: i64) -> Value {
    json!({"instanceId": id, "offerId": 1, "status": "active", "ip": "203.0.113.7", "port": 8000 + id, "protocols": ["http"],
           "countryCode": "USA", "cityCode": "NYC", "ispType": 1, "expiresAt": null, "activatedAt": null, "capabilities": {},
           "groupId": null})
}

/// A service that shows a password with its gateways and another page than the requested one, or one that denies extraction.
pub(super) fn without_extraction(denies: bool) -> TestServer {
    TestServer::start_reading(move |stream, request| {
        let body = match request.head.split('?').next().unwrap_or_default() {
            path if path.ends_with("/groups") => return server::groups(stream, &[1]),
            path if path.ends_with("/search") => {
                let data = json!({"items": [], "page": 7, "pageSize": 20, "total": 0});
                json!({"code": 200, "message": "ok", "requestId": "r", "data": data})
            }
            _ if denies => {
                let body = br#"{"code": 40303, "message": "no"}"#;
                return server::response(stream, "403 No", &[("Content-Type", "application/json")], body);
            }
            _ => {
                let gateway = json!({"ip": "192.0.2.1", "port": 1, "password": "hunter2-hunter2"});
                json!({"code": 0, "success": true, "msg": "", "data": [gateway], "request_ip": "127.0.0.1"})
            }
        };
        let headers =
            [("Cache-Control", "no-store"), ("X-Request-Id", "r"), ("Content-Type", "application/json")];
        server::response(stream, "200 OK", &headers, body.to_string().as_bytes())
    })
}

/// A listing as the field reports it: the command, and what it printed.
fn listing(folder: &Folder, ids: &[u32]) -> [String; 4] {
    let group = |id: &u32| json!({"groupId": id, "name": "n", "createdAt": "2026-01-04T09:30:00Z", "updatedAt": "2026-01-04T09:30:00Z"});
    let body = json!({"code": 200, "message": "ok", "requestId": "r", "data": {"items": ids.iter().map(group).collect::<Vec<_>>()}});
    let command = format!(
        "curl -i 'https://api.example.com/v2/openapi/v1/static/groups?trace=7&api_key={}'",
        "s3cret-token"
    );
    let response = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nX-Request-Id: r\r\n\r\n{body}"
    );
    let (command, response) = (folder.write("command.txt", command), folder.write("response.txt", response));
    ["--curl".to_owned(), command, "--response".to_owned(), response]
}

fn judge(exchange: &[String], more: &[&str]) -> std::process::Output {
    let exchange: Vec<&str> = exchange.iter().map(String::as_str).collect();
    program(&[&["judge"], exchange.as_slice(), more].concat()).finish()
}

/// Five gateways for each extraction, in a response without `request_ip`.
fn generous(heads: &Arc<Mutex<Vec<String>>>) -> TestServer {
    let heads = Arc::clone(heads);
    TestServer::start_reading(move |stream, request| {
        heads.lock().expect("a lock").push(request.head.to_owned());
        if !request.head.contains("/proxy/extract") {
            return server::groups(stream, &[1, 2]);
        }
        let gateways = [1, 2, 3, 4, 5].map(|port| json!({"ip": "192.0.2.1", "port": port}));
        let body = json!({"code": 0, "success": true, "msg": "", "data": gateways});
        server::json(stream, body.to_string().as_bytes())
    })
}

/// An extraction from the field that `generous` violates, with more options of curl.
fn extraction(folder: &Folder, options: &str) -> [String; 4] {
    let query = "num=5&a=1&b=2&c=3&d=4&e=5&f=6&g=7";
    let command = format!("curl -i 'https://api.example.com/openapi/v1/proxy/extract?{query}' {options}");
    let response = "HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"code\": 0, \"success\": true, \"msg\": \"\", \"data\": []}";
    let (command, response) = (folder.write("command.txt", command), folder.write("response.txt", response));
    ["--curl".to_owned(), command, "--response".to_owned(), response]
}

#[test]
fn a_reduction_takes_one_budget_and_the_token_in_its_header() {
    let (folder, heads) = (Folder::new(), Arc::default());
    let target = generous(&heads);
    let exchange = extraction(&folder, "-H 'X-API-Key: s3cret-token'");
    judge(&exchange, &["--base-url", &target.url()]).assert(
        1,
        &["stopped the limit of 25 gateways is reached", "-H 'X-API-Key: '\"$SALLYPORT_API_KEY\""],
    );
    let heads = heads.lock().expect("a lock");
    let extractions: Vec<&String> = heads.iter().filter(|head| head.contains("/proxy/extract")).collect();
    assert!((2..=5).contains(&extractions.len()), "{extractions:?}");
    let header = format!("x-api-key: {TOKEN}");
    assert!(extractions.iter().all(|head| head.to_lowercase().contains(&header.to_lowercase())), "{heads:?}");
}

#[test]
fn what_is_hidden_is_not_sent() {
    let (folder, heads) = (Folder::new(), Arc::default());
    let target = generous(&heads);
    let cookie = extraction(&folder, "-H 'X-API-Key: s3cret-token' -b sid=s3cret-session");
    judge(&cookie, &["--base-url", &target.url()]).assert(1, &["a credential in `Cookie` is hidden"]);
    assert!(heads.lock().expect("a lock").is_empty());
    judge(&cookie, &["--base-url", &target.url(), "--header", "Cookie: sid=another"])
        .assert(1, &["reproduced at"]);
    // The names of our secrets stand for them, but for the proxy's password.
    let named = extraction(&folder, "-H 'X-API-Key: $SALLYPORT_API_KEY' -H 'X-Note: $PROXY'");
    let proxy = target.url().replace("//", "//user:s3cret-of-proxy@");
    let more = ["--base-url", "http://127.0.0.1:1", "--proxy", &proxy];
    judge(&named, &more).assert(1, &["reproduced at"]);
    let heads = heads.lock().expect("a lock");
    assert!(heads.iter().any(|head| head.contains("$PROXY")), "{heads:?}");
    assert!(!heads.iter().any(|head| head.contains("s3cret-of-proxy")), "{heads:?}");
}

#[test]
fn a_command_of_a_report_sends_what_is_nearly_the_token() {
    let (folder, heads) = (Folder::new(), Arc::new(Mutex::new(Vec::new())));
    let kept = Arc::clone(&heads);
    let target = TestServer::start_reading(move |stream, request| {
        kept.lock().expect("a lock").push(request.head.to_owned());
        server::groups(stream, &[2, 1])
    });
    let exchange = listing(&folder, &[2, 1]);
    let url = "https://api.example.com/openapi/v1/static/groups?api_key=";
    for (change, sent) in [("%?", &TOKEN[..TOKEN.len() - 1]), ("#?", &TOKEN[1..])] {
        folder.write("command.txt", format!("curl -sS -i -X GET '{url}'\"${{SALLYPORT_API_KEY{change}}}\""));
        judge(&exchange, &["--base-url", &target.url()])
            .assert(1, &["reproduced at", &format!("api_key='\"${{SALLYPORT_API_KEY{change}}}\"")]);
        let heads = std::mem::take(&mut *heads.lock().expect("a lock"));
        let sent_token = |head: &String| {
            let path = head.split(' ').nth(1)?.split_once("api_key=")?.1;
            Some(percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned())
        };
        let tokens: Vec<String> = heads.iter().filter_map(sent_token).collect();
        assert!(tokens.iter().any(|token| token == sent), "{change}: {tokens:?}");
    }
}

/// The example of alert rules, by Prometheus itself.
#[test]
fn alert_rules_fire_when_they_should() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/prometheus");
    let promtool = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
    for arguments in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts.test.yml"]] {
        let ended = std::process::Command::new(&promtool).args(arguments).current_dir(folder).output();
        match ended {
            Ok(output) => assert!(output.status.success(), "{}", text(&output)),
            Err(_) => {
                // Past the test harness, which shows what is printed only for tests that fail.
                let _ = writeln!(
                    std::io::stderr(),
                    "SKIPPED alert rules: no promtool; install Debian's package prometheus, or name the program in PROMTOOL"
                );
                return;
            }
        }
    }
    // Each metric of the rules is one that is written.
    let rules = std::fs::read_to_string(format!("{folder}/alerts.yml")).expect("the rules");
    let sources = include_str!("../../src/report/templates/metrics.prom");
    for word in rules.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        if let Some(name) = word.strip_prefix("sallyport_conformance_") {
            assert!(sources.contains(&format!("\"{name}\"")), "unknown metric `{name}`");
        }
    }
}
