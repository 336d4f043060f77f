//! What counts as a success, texts, and pages.

use std::time::Duration;

use serde_json::json;

use super::Calls;
use crate::checks::UNKNOWN_ADDRESS;
use crate::client::case::{ClientCase, Expectation};
use crate::client::duty::Duty;

pub(super) fn cases(calls: &Calls<'_>) -> Vec<ClientCase> {
    [codes(calls), texts(calls), pages(calls)].concat()
}

fn codes(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, call| ClientCase::new(Duty::BothCodes, name, call);
    let rejected =
        |name: &str, call, steps: &'static str| case(name, call).expects(Expectation::Error).plays(steps);
    // The first word of a name is the operation.
    let unlike_success = |name: &str, title: &str, status: u16, code: Option<i64>| {
        let operation = name.split('-').next().unwrap_or_default();
        let call = match operation {
            "extract" => calls.extract(),
            "groups" => calls.groups(),
            _ => calls.search(50),
        };
        let steps = served_with(operation, status, code);
        case(name, call).titled(title).expects(Expectation::Error).plays(steps)
    };
    vec![
        case("extract-success", calls.extract()).titled("an extraction that is served gives its gateways"),
        case("groups-success", calls.groups()).titled("a listing that is served gives its groups"),
        case("search-success", calls.search(50)).titled("a search that is served gives its instances"),
        rejected("extract-rejected-within-200", calls.extract(), "[[extract]]\nforever = true\ncode = 40100")
            .titled("an extraction that is rejected within HTTP 200 is an error"),
        rejected("groups-rejected-within-200", calls.groups(), "[[groups]]\nforever = true\ncode = 40100")
            .titled("a listing that is rejected within HTTP 200 is an error"),
        rejected("search-rejected-within-200", calls.search(50), "[[search]]\nforever = true\ncode = 40000")
            .titled("a search that is rejected within HTTP 200 is an error"),
        rejected("text-rejected-within-200", calls.text("4", None), "[[extract]]\nforever = true\ncode = 40100")
            .titled("a text extraction that is rejected with JSON within HTTP 200 is an error"),
        unlike_success("extract-code-200", "HTTP 200 with code 200 is not a success of an extraction", 200, Some(200)),
        unlike_success("groups-code-0", "HTTP 200 with code 0 is not a success of a listing", 200, Some(0)),
        unlike_success("search-code-0", "HTTP 200 with code 0 is not a success of a search", 200, Some(0)),
        unlike_success("extract-status-403-code-0", "code 0 under HTTP 403 is not a success of an extraction", 403, Some(0)),
        unlike_success("groups-status-403-code-200", "code 200 under HTTP 403 is not a success of a listing", 403, Some(200)),
        unlike_success("extract-status-202-code-0", "code 0 under HTTP 202 is not a success of an extraction", 202, Some(0)),
        unlike_success("groups-status-201-code-200", "code 200 under HTTP 201 is not a success of a listing", 201, Some(200)),
        unlike_success("search-status-202-code-200", "code 200 under HTTP 202 is not a success of a search", 202, Some(200)),
        unlike_success("extract-without-code", "HTTP 200 without a code is not a success of an extraction", 200, None),
        unlike_success("groups-without-code", "HTTP 200 without a code is not a success of a listing", 200, None),
        case("extract-partial", calls.extract())
            .titled("an extraction that gives fewer gateways than asked for is a success")
            .plays(
                r#"
            [[extract]]
            forever = true
            content-type = "application/json"
            headers = { x-proxy-partial = "true", x-proxy-requested-count = "3", x-proxy-returned-count = "1" }
            body = '{"code": 0, "success": true, "msg": "ok", "data": [{"ip": "192.0.2.1", "port": 80}], "request_ip": "127.0.0.1"}'"#,
            ),
    ]
}

/// All that a success of an operation has, under this status and with this code.
fn served_with(operation: &str, status: u16, code: Option<i64>) -> String {
    let mut body = match operation {
        "extract" => json!({
            "success": true, "msg": "ok", "data": [{"ip": "192.0.2.1", "port": 80}], "request_ip": "127.0.0.1",
        }),
        "groups" => json!({"message": "ok", "requestId": "r", "data": {"items": []}}),
        _ => json!({
            "message": "ok", "requestId": "r", "data": {"items": [], "page": 1, "pageSize": 50, "total": 0},
        }),
    };
    if let Some(code) = code {
        body["code"] = json!(code);
    }
    format!(
        "[[{operation}]]\nforever = true\nstatus = {status}\ncontent-type = \"application/json\"\nbody = '{body}'"
    )
}

fn texts(calls: &Calls<'_>) -> Vec<ClientCase> {
    let separators = [
        ("1", None, "CRLF"),
        ("2", None, "the text /br"),
        ("3", None, "CR"),
        ("4", None, "LF"),
        ("5", None, "TAB"),
        ("6", Some("||"), "a text of its own"),
    ];
    let case = |(lb, sb, what): (&str, Option<&str>, &str)| {
        ClientCase::new(Duty::TextEntries, &format!("lb-{lb}"), calls.text(lb, sb))
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
        case("interrupted", calls.search(3))
            .titled("an interruption between two pages loses and repeats no instance")
            .expects(Expectation::Either)
            .plays("[[search]]\n[[search]]\nreset = true"),
    ]
}
