//! What counts as a success, texts, and pages.

use std::time::Duration;

use serde_json::{Value, json};

use super::Calls;
use crate::checks::UNKNOWN_ADDRESS;
use crate::client::case::{ClientCase, Expectation};
use crate::client::duty::Duty;

pub(super) fn cases(calls: &Calls<'_>) -> Vec<ClientCase> {
    [codes(calls), texts(calls), pages(calls)].concat()
}

fn codes(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, title: &str, call| ClientCase::new(Duty::BothCodes, name, call).titled(title);
    let mut cases = vec![
        case("extract-success", "an extraction that is served gives its gateways", calls.extract()),
        case("groups-success", "a listing that is served gives its groups", calls.groups()),
        case("search-success", "a search that is served gives its instances", calls.search(50)),
    ];
    // The first word of a name is the operation.
    let call = |name: &str| match name.split('-').next() {
        Some("extract") => ("extract", calls.extract()),
        Some("text") => ("extract", calls.text("4", None)),
        Some("groups") => ("groups", calls.groups()),
        _ => ("search", calls.search(50)),
    };
    let rejections = [
        (
            "extract-rejected-within-200",
            "an extraction that is rejected within HTTP 200 is an error",
            "code = 40100",
        ),
        (
            "groups-rejected-within-200",
            "a listing that is rejected within HTTP 200 is an error",
            "code = 40100",
        ),
        (
            "search-rejected-within-200",
            "a search that is rejected within HTTP 200 is an error",
            "code = 40000",
        ),
        (
            "text-rejected-within-200",
            "a text extraction that is rejected with JSON within HTTP 200 is an error",
            "code = 40100",
        ),
        (
            "text-rejected-as-plain-text",
            "a text extraction that is rejected with JSON is an error, whatever its Content-Type says",
            r#"body = '{"code": "E101", "message": "no"}'"#,
        ),
        (
            "text-rejected-after-blanks",
            "a text extraction that is rejected with JSON is an error, whatever blanks the JSON has",
            concat!(
                "content-type = 'application/json'\n",
                r#"body = "\r\n\t {\n \"message\" : \"no\",\n \"code\" : 40100 }\n""#
            ),
        ),
        ("text-status-202", "a text under HTTP 202 is not a success", "status = 202\nbody = '192.0.2.1:80'"),
        ("text-status-206", "a text under HTTP 206 is not a success", "status = 206\nbody = '192.0.2.1:80'"),
        ("text-status-403", "a text under HTTP 403 is not a success", "status = 403\nbody = '192.0.2.1:80'"),
        ("groups-status-204", "HTTP 204 is not an empty list of groups", "status = 204"),
        ("groups-empty-body", "HTTP 200 without a body is not an empty list of groups", "body = ''"),
    ];
    cases.extend(rejections.map(|(name, title, step)| {
        let (operation, call) = call(name);
        let steps = format!("[[{operation}]]\nforever = true\n{step}");
        case(name, title, call).expects(Expectation::Error).plays(steps)
    }));
    let unlike_success = [
        ("extract-code-200", 200, "200", "HTTP 200 with code 200 is not a success of an extraction"),
        ("groups-code-0", 200, "0", "HTTP 200 with code 0 is not a success of a listing"),
        ("search-code-0", 200, "0", "HTTP 200 with code 0 is not a success of a search"),
        ("extract-status-403-code-0", 403, "0", "code 0 under HTTP 403 is not a success of an extraction"),
        ("groups-status-403-code-200", 403, "200", "code 200 under HTTP 403 is not a success of a listing"),
        ("extract-status-202-code-0", 202, "0", "code 0 under HTTP 202 is not a success of an extraction"),
        ("groups-status-201-code-200", 201, "200", "code 200 under HTTP 201 is not a success of a listing"),
        ("search-status-202-code-200", 202, "200", "code 200 under HTTP 202 is not a success of a search"),
        ("extract-without-code", 200, "", "HTTP 200 without a code is not a success of an extraction"),
        ("groups-without-code", 200, "", "HTTP 200 without a code is not a success of a listing"),
        // What languages that compare loosely take for the code.
        ("extract-code-false", 200, "false", "the code `false` is not 0"),
        ("extract-code-null", 200, "null", "the code `null` is not 0"),
        ("extract-code-list", 200, "[]", "an empty list is not the code 0"),
        ("extract-code-empty-text", 200, r#""""#, "an empty text is not the code 0"),
        ("extract-code-text", 200, r#""0""#, "the text `0` is not the code 0"),
        ("groups-code-text", 200, r#""200""#, "the text `200` is not the code 200"),
        ("groups-code-true", 200, "true", "the code `true` is not 200"),
        ("search-code-text", 200, r#""200""#, "the text `200` is not the code 200"),
    ];
    cases.extend(unlike_success.map(|(name, status, code, title)| {
        let (operation, call) = call(name);
        case(name, title, call).expects(Expectation::Error).plays(served_with(operation, status, code))
    }));
    cases.push(
        case("extract-partial", "an extraction that gives fewer gateways than asked for is a success", calls.extract())
            .plays(
                r#"
            [[extract]]
            forever = true
            content-type = "application/json"
            headers = { x-proxy-partial = "true", x-proxy-requested-count = "3", x-proxy-returned-count = "1" }
            body = '{"code": 0, "success": true, "msg": "ok", "data": [{"ip": "192.0.2.1", "port": 80}], "request_ip": "127.0.0.1"}'"#,
            ),
    );
    cases
}

/// All that a success of an operation has, under this status and with this code, in JSON; without one where it is empty.
fn served_with(operation: &str, status: u16, code: &str) -> String {
    let mut body = match operation {
        "extract" => json!({
            "success": true, "msg": "ok", "data": [{"ip": "192.0.2.1", "port": 80}], "request_ip": "127.0.0.1",
        }),
        "groups" => json!({"message": "ok", "requestId": "r", "data": {"items": []}}),
        _ => json!({
            "message": "ok", "requestId": "r", "data": {"items": [], "page": 1, "pageSize": 50, "total": 0},
        }),
    };
    if let Ok(code) = serde_json::from_str::<Value>(code) {
        body["code"] = code;
    }
    format!(
        "[[{operation}]]\nforever = true\nstatus = {status}\ncontent-type = \"application/json\"\nbody = '{body}'"
    )
}

fn texts(calls: &Calls<'_>) -> Vec<ClientCase> {
    let separators = [
        ("lb-1", None, "CRLF"),
        ("lb-2", None, "the text /br"),
        ("lb-3", None, "CR"),
        ("lb-4", None, "LF"),
        ("lb-5", None, "TAB"),
        ("lb-6", Some("||"), "a text of its own"),
        ("lb-6-reserved", Some("&+%2F#="), "characters with a meaning in queries"),
        ("lb-6-not-ascii", Some("\u{a7}"), "a character outside of ASCII"),
        ("lb-6-longest", Some("→→→→→→→→→→=="), "32 bytes"),
    ];
    let case = |(name, sb, what): (&str, Option<&str>, &str)| {
        let lb = name.split('-').nth(1).unwrap_or_default();
        ClientCase::new(Duty::TextEntries, name, calls.text(lb, sb))
            .titled(format!("a text is split by {what}"))
    };
    separators.into_iter().map(case).collect()
}

/// Maximum number of pages that a caller may request when all of them are empty.
const MAX_PAGES: usize = 30;

fn pages(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, call| ClientCase::new(Duty::Paging, name, call);
    let none = vec![UNKNOWN_ADDRESS.to_owned()];
    vec![
        case("several-pages", calls.search(3)).titled("several pages are walked to the end"),
        case("one-instance-per-page", calls.search(1)).titled("pages of one instance are walked to the end"),
        case("nothing-found", calls.search_for(none.clone(), 3))
            .titled("a search that finds nothing gives an empty list"),
        case("fewer-than-total", calls.search_for(none, 3))
            .titled("a walk through pages ends when a page is empty, whatever the total says")
            .expects(Expectation::Either)
            .within(Duration::from_secs(3))
            .plays(
                r#"
            [[search]]
            forever = true
            content-type = "application/json"
            body = '{"code": 200, "message": "ok", "requestId": "r", "data": {"items": [], "page": 1, "pageSize": 3, "total": 5}}'"#,
            )
            .judged(|evidence| evidence.too_many_requests(Duty::Paging, MAX_PAGES)),
        case("past-end-rejected", calls.search(1))
            .titled("a service may reject a page past the last one, which nobody needs")
            .varied("search.page-past-end-rejected"),
        case("page-rejected", calls.search(3))
            .titled("a page that is rejected is an error, and not the end of the result")
            .expects(Expectation::Error)
            .plays("[[search]]\n[[search]]\nforever = true\nstatus = 400\ncode = 40000"),
        case("throttled", calls.search(3))
            .titled("HTTP 429 between two pages does not end the result, and is waited out")
            .expects(Expectation::Either)
            .plays("[[search]]\n[[search]]\nstatus = 429\nretry-after = 2")
            .judged(|evidence| evidence.early_requests(Duty::WaitThrottled)),
        case("page-without-response", calls.search(3))
            .titled("a page that never comes is an error, and not the end of the result")
            .expects(Expectation::Error)
            .within(Duration::from_secs(2))
            .plays("[[search]]\n[[search]]\nforever = true\nstall-ms = 60000"),
        case("interrupted", calls.search(3))
            .titled("an interruption between two pages loses and repeats no instance")
            .expects(Expectation::Either)
            .plays("[[search]]\n[[search]]\nreset = true"),
    ]
}
