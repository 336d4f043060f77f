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
    let case = |name: &str, title: &str, call| ClientCase::new(Duty::BothCodes, name, title, call);
    let rejected = |name: &str, title: &str, call, steps: &'static str| {
        case(name, title, call).expects(Expectation::Error).plays(steps)
    };
    // The first word of a name is the operation.
    let unlike_success = |name: &str, title: &str, status: u16, code: Option<i64>| {
        let operation = name.split('-').next().unwrap_or_default();
        let call = match operation {
            "extract" => calls.extract(),
            "groups" => calls.groups(),
            _ => calls.search(50),
        };
        let steps = served_with(operation, status, code);
        case(name, title, call).expects(Expectation::Error).plays(steps)
    };
    vec![
        case("extract-success", "an extraction that is served gives its gateways", calls.extract()),
        case("groups-success", "a listing that is served gives its groups", calls.groups()),
        case("search-success", "a search that is served gives its instances", calls.search(50)),
        rejected(
            "extract-rejected-within-200",
            "an extraction that is rejected within HTTP 200 is an error",
            calls.extract(),
            "[[extract]]\nforever = true\ncode = 40100",
        ),
        rejected(
            "groups-rejected-within-200",
            "a listing that is rejected within HTTP 200 is an error",
            calls.groups(),
            "[[groups]]\nforever = true\ncode = 40100",
        ),
        rejected(
            "search-rejected-within-200",
            "a search that is rejected within HTTP 200 is an error",
            calls.search(50),
            "[[search]]\nforever = true\ncode = 40000",
        ),
        rejected(
            "text-rejected-within-200",
            "a text extraction that is rejected with JSON within HTTP 200 is an error",
            calls.text("4", None),
            "[[extract]]\nforever = true\ncode = 40100",
        ),
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
        case("extract-partial", "an extraction that gives fewer gateways than asked for is a success", calls.extract())
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
        let title = format!("a text is split by {what}");
        ClientCase::new(Duty::TextEntries, &format!("lb-{lb}"), &title, calls.text(lb, sb))
    };
    separators.into_iter().map(case).collect()
}

/// Maximum number of pages that a caller may request when all of them are empty.
const MAX_PAGES: usize = 30;

fn pages(calls: &Calls<'_>) -> Vec<ClientCase> {
    let case = |name: &str, title: &str, call| ClientCase::new(Duty::Paging, name, title, call);
    let none = vec![UNKNOWN_ADDRESS.to_owned()];
    vec![
        case("several-pages", "several pages are walked to the end", calls.search(3)),
        case("one-instance-per-page", "pages of one instance are walked to the end", calls.search(1)),
        case("nothing-found", "a search that finds nothing gives an empty list", calls.search_for(none.clone(), 3)),
        case(
            "fewer-than-total",
            "a walk through pages ends when a page is empty, whatever the total says",
            calls.search_for(none, 3),
        )
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
        case(
            "past-end-rejected",
            "a service may reject a page past the last one, which nobody needs",
            calls.search(1),
        )
        .varied("search.page-past-end-rejected"),
        case(
            "page-rejected",
            "a page that is rejected is an error, and not the end of the result",
            calls.search(3),
        )
        .expects(Expectation::Error)
        .plays("[[search]]\n[[search]]\nforever = true\nstatus = 400\ncode = 40000"),
        case(
            "interrupted",
            "an interruption between two pages loses and repeats no instance",
            calls.search(3),
        )
        .expects(Expectation::Either)
        .plays("[[search]]\n[[search]]\nreset = true"),
    ]
}
