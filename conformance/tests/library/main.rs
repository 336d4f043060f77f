//! The second document of `xtask`, an API of ten operations that read and write, for real: the generated server runs on the
//! edge of ours, and the generic checks judge it from the document alone. Nothing of the suite was written for it.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't go on has failed")]
#![allow(unreachable_pub, reason = "the generated code is written for a library")]

mod api;
mod server;

use std::sync::Arc;

use dropshot::{ApiEndpoint, ApiEndpointVersions, HttpError, HttpResponseOk, Method, RequestContext};
use sallyport_conformance::checks::registry_of;
use sallyport_conformance::run::CheckResult;
use sallyport_conformance::{
    Budget, Check, Contract, Facts, Options, Outcome, Report, Secret, SilentObserver, Suite, Target, Verdict,
};
use sallyport_server::data::seed::seed;
use sallyport_server::edge::serve::Context;
use sallyport_server::store::sqlite::SqliteStore;
use sallyport_server::{Config, RunningServer, ServedApi, start_api};
// The generated code names these as modules of its own crate.
use sallyport_server::{domain, edge};
use serde_json::{Map, Value, json};

use crate::api::generated::{OPERATIONS, SUCCESS_STATUSES};
use crate::server::leave_open;

/// Our contract with the library's operations. Clauses of the library stand for one of ours: the suite knows its own only.
fn contract(edit: impl Fn(&mut Value)) -> Contract {
    let ours = include_str!("../../src/contract/generated/contract.json");
    let mut library = include_str!("contract.json").to_owned();
    let names = "books.body books.envelope books.genre books.id books.limit books.title loans.body loans.id \
         loans.request-id members.body members.name";
    for own in names.split(' ') {
        library = library.replace(&format!("\"{own}\""), "\"groups.envelope\"");
    }
    let mut ours: Value = serde_json::from_str(ours).expect("JSON");
    let library: Value = serde_json::from_str(&library).expect("JSON");
    add(&mut ours, &library, "/schemas");
    add(&mut ours, &library, "/document/paths");
    for part in library["document"]["components"].as_object().expect("components").keys() {
        add(&mut ours, &library, &format!("/document/components/{part}"));
    }
    edit(&mut ours);
    Contract::from_json(&ours.to_string()).expect("a contract that the suite can read")
}

/// Adds the members that are not there yet.
fn add(ours: &mut Value, library: &Value, pointer: &str) {
    let Some(more) = library.pointer(pointer).and_then(Value::as_object) else { return };
    let members: &mut Map<String, Value> =
        ours.pointer_mut(pointer).and_then(Value::as_object_mut).expect("a mapping in both");
    for (name, value) in more {
        members.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

/// The library, and the token of its one account.
async fn library() -> (RunningServer, String) {
    let store = Arc::new(SqliteStore::temporary().expect("a temporary database"));
    let sample = seed(store.as_ref()).await.expect("sample data");
    let token = sample.tokens.main.expose().to_owned();
    let mut api = server::api();
    // The suite begins with an operation that it knows.
    let groups = Contract::embedded().expect("contract").groups.operation.path.clone();
    let endpoint = ApiEndpoint::new(
        "groups".to_owned(),
        no_groups,
        Method::GET,
        "application/json",
        &groups,
        ApiEndpointVersions::All,
    );
    api.register(endpoint).expect("a path of its own");
    let served = ServedApi { api, operations: OPERATIONS, success_statuses: SUCCESS_STATUSES };
    (start_api(served, Config::loopback(store)).expect("a free port"), token)
}

async fn no_groups(_: RequestContext<Context>) -> Result<HttpResponseOk<Value>, HttpError> {
    Ok(HttpResponseOk(json!({"code": 200, "message": "ok", "requestId": "r", "data": {"items": []}})))
}

async fn judged(edit: impl Fn(&mut Value)) -> Report {
    let (running, token) = library().await;
    let contract = contract(edit);
    let target = Target::new(&running.base_url(), Secret::new("API_KEY", token), Facts::default(), false)
        .expect("a loopback URL");
    let wanted = |check: &&'static Check| check.id.ends_with(".generic") || check.id == TOKEN;
    let checks: Vec<_> = registry_of(&contract).into_iter().filter(wanted).collect();
    let options = Options { budget: Budget { concurrency: 1, ..Budget::default() }, ..Options::default() };
    Suite::with_checks(&contract, &target, options, &checks).expect("a suite").run(&SilentObserver).await
}

const TOKEN: &str = "all.token-required.missing";

/// Its example holds a deprecated field.
const CREATED_WITH: &str = "create-book.deprecation.generic";

fn check<'a>(report: &'a Report, id: &str) -> &'a CheckResult {
    report.checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("{id} did not run"))
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_announce_the_deprecated_parts_that_a_request_uses() {
    let (running, token) = library().await;
    let books = format!("{}/openapi/v1/library/books", running.base_url());
    let client = reqwest::Client::new();
    let headers = async |query: &str| {
        let url = format!("{books}?api_key={token}{query}");
        let response = client.get(url).send().await.expect("a response");
        let texts = |name| {
            let values = response.headers().get_all(name).iter();
            values.map(|value| value.to_str().expect("text").to_owned()).collect::<Vec<_>>()
        };
        (texts("deprecation"), texts("sunset"), texts("link"))
    };
    let none = Vec::<String>::new;
    assert_eq!(headers("&genre=novel").await, (none(), none(), none()));
    let link = "<https://docs.invalid/contact>; rel=\"deprecation\"; title=";
    let kind = format!("{link}\"query parameter kind; use genre\"");
    // Of a rejected call as well.
    for limit in ["1", "0"] {
        let expected = (
            vec!["@1767225600".to_owned()],
            vec!["Thu, 31 Dec 2026 00:00:00 GMT".to_owned()],
            vec![kind.clone()],
        );
        assert_eq!(headers(&format!("&kind=novel&limit={limit}")).await, expected);
    }
    let (since, sunset, links) = headers("&kind=novel&genre=novel&genre=science").await;
    assert_eq!(since, ["@1767225600"], "the earlier one");
    assert_eq!(sunset, ["Mon, 30 Nov 2026 00:00:00 GMT"], "the earlier one");
    let science = format!("{link}\"value science of query parameter genre; use novel\"");
    assert_eq!(links, [science, kind]);
}

/// In one test, since the handlers share what they know.
#[tokio::test(flavor = "multi_thread")]
async fn the_generic_checks_judge_an_api_that_they_have_never_seen() {
    let report = judged(|_| {}).await;
    let known = ["groups/", "search/", "extract/", "extract-text/"];
    let mut cases = 0;
    for result in &report.checks {
        let own = result.cases.iter().filter(|case| !known.iter().any(|known| case.label.starts_with(known)));
        for case in own {
            assert_eq!(case.outcome, Outcome::Passed, "{}/{}: {:#?}", result.id, case.label, result.findings);
            cases += 1;
        }
        // A check of what is deprecated has nothing to judge where no valid request uses it.
        let may_skip = result.id.ends_with(".deprecation.generic") && result.id != CREATED_WITH;
        let is_skipped = may_skip && matches!(result.outcome, Outcome::Skipped(_));
        if result.id != TOKEN && !is_skipped {
            assert_eq!(result.outcome, Outcome::Passed, "{}: {:#?}", result.id, result.findings);
        }
    }
    let announced = [CREATED_WITH, "change-book.deprecation.generic"].map(|id| check(&report, id));
    assert!(announced.iter().all(|check| check.findings.is_empty()), "{announced:#?}");
    assert_eq!(
        report.checks.len(),
        25,
        "token; envelope and limits of ten operations, and four with deprecated parts"
    );
    assert!(cases > 150, "only {cases} cases");

    leave_open(true);
    let report = judged(|_| {}).await;
    leave_open(false);
    let found = check(&report, TOKEN).findings.iter().filter_map(|finding| finding.case.as_deref());
    let found: Vec<_> = found.collect();
    // The edge itself looks at the token of a call with a body.
    for operation in ["list-books", "get-book", "delete-book", "get-loan", "delete-member"] {
        let label = format!("{operation}/unknown");
        assert!(found.contains(&label.as_str()), "{label} is not among {found:?}");
    }
    assert_eq!(report.verdict, Verdict::Findings);

    // The document says of one more field that it ends, and the server does not.
    let report = judged(|contract| {
        let copies = contract.pointer_mut("/document/components/schemas/NewBook/properties/copies");
        let copies = copies.and_then(Value::as_object_mut).expect("a property");
        copies.insert("deprecated".to_owned(), json!(true));
        copies.insert("x-deprecated-since".to_owned(), json!("2026-01-01"));
        copies.insert("x-sunset".to_owned(), json!("2026-12-31"));
    })
    .await;
    assert_eq!(check(&report, "replace-book.deprecation.generic").outcome, Outcome::Warning);

    // A stricter document: the server sends too little, and accepts too much.
    let report = judged(|contract| {
        let book = contract.pointer_mut("/schemas/Book/required").and_then(Value::as_array_mut);
        book.expect("required fields").push(json!("isbn"));
        let parameters = "/document/paths/~1openapi~1v1~1library~1books/get/parameters";
        let parameters = contract.pointer_mut(parameters).and_then(Value::as_array_mut).expect("a list");
        let limit = parameters.iter_mut().find(|parameter| parameter["name"] == "limit");
        limit.expect("the limit of a list")["schema"]["maximum"] = json!(40);
    })
    .await;
    for id in ["list-books.envelope.generic", "list-books.limits.generic", "get-book.envelope.generic"] {
        assert_eq!(check(&report, id).outcome, Outcome::Failed, "{id}");
    }
    assert_eq!(check(&report, "get-book.limits.generic").outcome, Outcome::Passed);
}
