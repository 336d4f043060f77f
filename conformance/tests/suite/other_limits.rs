//! A document with other limits than ours, against our server: the suite takes batches, ports and pages from the document, so
//! that it finds what the server does otherwise, and nothing else.

use std::collections::BTreeSet;

use sallyport_conformance::embedded::Reference;
use sallyport_conformance::{Contract, Outcome, SilentObserver, Suite};
use serde_json::{Value, json};

use crate::canned::only;

/// The checks of searches that do not pass with one value of the document changed.
async fn not_passed(pointer: &str, value: Value) -> BTreeSet<&'static str> {
    let mut contract: Value = serde_json::from_str(sallyport_contract::JSON).expect("JSON");
    *contract.pointer_mut(pointer).expect("a limit of the document") = value;
    let contract = Contract::from_json(&contract.to_string()).expect("a contract that the suite can read");
    let reference = Reference::start().await.expect("a reference server");
    let suite = Suite::new(&contract, reference.target(), only("search.*")).expect("a suite");
    let report = suite.run(&SilentObserver).await;
    reference.close().await;
    let passed = |outcome: &Outcome| matches!(outcome, Outcome::Passed | Outcome::Skipped(_));
    report.checks.iter().filter(|check| !passed(&check.outcome)).map(|check| check.id).collect()
}

const IPS: &str = "/document/components/schemas/SearchRequest/properties/ips/minItems";
const PORT: &str = "/document/components/schemas/AddressItem/x-port/minimum";
const PAGE: &str = "/document/components/schemas/SearchRequest/properties/page/default";

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_has_the_items_that_the_document_asks_for() {
    assert_eq!(not_passed(IPS, json!(2)).await, BTreeSet::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_is_in_the_range_of_the_document() {
    // Our server accepts port 1. The other way round, a document with port 0 would have it rejected everywhere.
    assert_eq!(not_passed(PORT, json!(2)).await, BTreeSet::from(["search.ips-port.boundaries"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_without_a_page_gets_the_one_of_the_document() {
    // Our server takes the first page.
    let found = not_passed(PAGE, json!(2)).await;
    let expected =
        BTreeSet::from(["search.intersection.watched", "search.page.default", "search.paging.echo"]);
    assert!(found.is_subset(&expected) && found.contains("search.page.default"), "{found:?}");
}
