//! `conformance observe`: archives of browsers, and what is no archive. The others are in `scripts/observed.txt`.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use super::program::{AssertOutput as _, Finish as _, Folder, TOKEN, every_report, program, text};

fn observe(file: &str, arguments: &[&str]) -> Output {
    program(&[&["observe", file], arguments].concat()).finish()
}

fn written(folder: &Folder, har: &Value) -> String {
    folder.write("session.har", har.to_string())
}

/// An entry as Chrome exports it, with all that the suite does not read.
fn entry(second: u32, method: &str, url: &str, sent: Option<&Value>, response: &Value) -> Value {
    let mut request = json!({
        "method": method, "url": url, "httpVersion": "h2",
        "headers": [
            {"name": ":authority", "value": "api.example.com"}, {"name": "accept", "value": "*/*"},
            {"name": "authorization", "value": format!("Bearer {TOKEN}-bearer")},
            {"name": "cookie", "value": format!("lang=en; session={TOKEN}-cookie")},
            {"name": "referer", "value": format!("https://x.invalid/?token={TOKEN}-referer")},
            {"name": "x-csrftoken", "value": format!("{TOKEN}-csrf")},
            {"name": "content-type", "value": "application/json"},
        ],
        "queryString": [{"name": "api_key", "value": TOKEN}],
        "cookies": [{"name": "session", "value": format!("{TOKEN}-cookie"), "httpOnly": true}],
        "headersSize": -1, "bodySize": 2,
    });
    if let Some(sent) = sent {
        let mut sent = sent.clone();
        sent["api_key"] = format!("{TOKEN}-body").into();
        request["postData"] = json!({"mimeType": "application/json", "text": sent.to_string()});
    }
    let mut response = response.clone();
    response["accessToken"] = format!("{TOKEN}-of-the-response").into();
    let text = response.to_string();
    json!({
        "_initiator": {"type": "script"}, "_priority": "High", "_resourceType": "fetch", "cache": {}, "connection": "1",
        "pageref": "page_1", "serverIPAddress": "192.0.2.1", "time": 12.5, "timings": {"wait": 12.5, "_queued": 1},
        "startedDateTime": format!("2026-01-01T10:00:{second:02}.250Z"),
        "request": request,
        "response": {
            "status": 200, "statusText": "", "httpVersion": "h2", "cookies": [], "redirectURL": "", "headersSize": -1,
            "bodySize": -1, "_transferSize": 900, "_error": null,
            "headers": [
                {"name": "content-type", "value": "application/json"}, {"name": "cache-control", "value": "no-store"},
                {"name": "x-request-id", "value": "r-1"}, {"name": "set-cookie", "value": format!("session={TOKEN}-set")},
            ],
            "content": {"size": text.len(), "mimeType": "application/json", "text": text},
        },
    })
}

fn archive(entries: &[Value]) -> Value {
    json!({"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"},
                   "pages": [{"id": "page_1", "title": "https://console.example.com/"}], "entries": entries}})
}

fn url(path: &str) -> String {
    let token = percent_encoding::utf8_percent_encode(TOKEN, percent_encoding::NON_ALPHANUMERIC);
    format!("https://api.example.com/openapi/v1/{path}?api_key={token}&accessToken={token}-joined")
}

fn groups(ids: &[u32]) -> Value {
    let moment = "2026-01-01T00:00:00Z";
    let group = |id: &u32| json!({"groupId": id, "name": format!("of {TOKEN}"), "createdAt": moment, "updatedAt": moment});
    json!({"code": 200, "message": "ok", "requestId": "r-1", "data": {"items": ids.iter().map(group).collect::<Vec<_>>()}})
}

fn instance(id: u32) -> Value {
    json!({"instanceId": id, "offerId": 1, "status": "active", "ip": "203.0.113.7", "port": 2000 + id, "protocols": ["http"],
           "countryCode": "USA", "cityCode": "NYC", "ispType": 1, "expiresAt": null, "activatedAt": null,
           "capabilities": {}, "groupId": null})
}

fn page(page: u32, total: u32, ids: &[u32]) -> (Value, Value) {
    let items: Vec<_> = ids.iter().map(|id| instance(*id)).collect();
    let sent = json!({"ips": ["203.0.113.7"], "page": page, "pageSize": 2});
    let data = json!({"items": items, "page": page, "pageSize": 2, "total": total});
    (sent, json!({"code": 200, "message": "ok", "requestId": "r-1", "data": data}))
}

fn search(second: u32, (sent, response): (Value, Value)) -> Value {
    entry(second, "POST", &url("static/instances/search"), Some(&sent), &response)
}

fn assert_clean(what: &str, text: &str) {
    for telling in [TOKEN, &TOKEN[..10], "cAn4ry%2F", "cAn4ry\\/"] {
        assert!(!text.contains(telling), "{what} shows {telling}: {text}");
    }
}

#[test]
fn an_archive_of_a_browser_is_judged_and_its_tokens_stay_in_it() {
    let folder = Folder::new();
    let extracted = |port: u32| json!({"code": 0, "success": true, "msg": "ok", "data": [{"ip": "gw.invalid", "port": port}], "request_ip": "192.0.2.9"});
    let extraction = format!("{}&num=1&request_id=order-77", url("proxy/extract"));
    let mut cut = entry(9, "GET", &url("static/groups"), None, &groups(&[1]));
    cut["response"]["content"] = json!({"size": 900, "mimeType": "application/json"});
    let entries = [
        entry(1, "GET", "https://console.example.com/app.js", None, &json!({"password": "hunter2-hunter2"})),
        entry(2, "OPTIONS", &url("static/groups"), None, &json!({})),
        entry(3, "GET", &url("static/groups"), None, &groups(&[2, 1])),
        search(4, page(1, 4, &[1, 2])),
        search(5, page(2, 4, &[2, 3])),
        entry(6, "GET", &extraction, None, &extracted(1)),
        entry(7, "GET", &extraction, None, &extracted(2)),
        entry(8, "GET", &url("static/groups").replace("//api.", "//u:s3cret@other."), None, &groups(&[1])),
        cut,
    ];
    let file = written(&folder, &archive(&entries));

    let choose = "https://api.example.com, https://other.example.com; choose one with --base-url";
    let shown = text(&observe(&file, &[]).assert(2, &[choose]));
    assert_clean("the error", &shown.replace("s3cret", TOKEN));
    observe(&file, &["--base-url", "api.example.com"]).assert(2, &[]);
    observe(&file, &["--report", "har=copy.har"]).assert(2, &["--report har=FILE: expected another format"]);

    let reports = every_report(folder.path());
    let reports = reports.split(",har=").next().expect("the others");
    let observed = observe(&file, &["--base-url", "https://api.example.com", "--verbose", reports]);
    let printed = [
        "failed groups.order.recorded",
        "2 stands before 1, at log.entries[2]",
        "-X GET 'https://api.example.com/openapi/v1/static/groups?api_key='\"$SALLYPORT_API_KEY\"'&accessToken=",
        "at log.entries[2]",
        "failed extract.idempotent.recorded",
        "log.entries[5] and log.entries[6]",
        "5 exchanges of 9 entries",
        "3: no call of an operation of the contract at this service",
        "1: the archive has no body",
        "seen groups.order\n",
        "seen search.match-any-port\n",
        "not seen search.match-port\n",
        "not seen search.status\n",
        "it needs requests that only the suite sends",
    ];
    assert_clean("the screen", &text(&observed.assert(1, &printed)));
    for entry in std::fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path != Path::new(&file) {
            assert_clean(&path.display().to_string(), &std::fs::read_to_string(&path).expect("a report"));
        }
    }
    let report = folder.json("report.json");
    let validator = jsonschema::validator_for(
        &serde_json::from_str(include_str!("../../report.schema.json")).expect("JSON"),
    );
    assert!(validator.expect("a schema").is_valid(&report), "{report}");
}

#[test]
fn what_is_no_archive_is_an_error_with_its_place_and_without_its_text() {
    let folder = Folder::new();
    let deep = "[".repeat(500_000);
    let wrong = [
        (format!("{{\"log\": \"{TOKEN}\"}}").replace("en\\", "en"), "session.har: line 1, column"),
        (
            "{\"log\":\n{\"entries\": 7}}".to_owned(),
            "line 2, column 13: a value of another kind, expected a sequence",
        ),
        (deep, "line 1, column"),
        (String::new(), "line 1, column 0: EOF while parsing a value"),
    ];
    for (text, told) in wrong {
        let file = folder.write("session.har", text);
        let shown = self::text(&observe(&file, &[]).assert(2, &[told, "expected an HTTP Archive"]));
        assert_clean("the error", &shown);
        assert!(shown.len() < 500, "{shown}");
    }
    let file = written(&folder, &archive(&[]));
    observe(&file, &["--max-bytes", "20"]).assert(2, &["expected at most 20 bytes, found more"]);
    observe(&folder.file("missing.har"), &[]).assert(2, &[]);
}
