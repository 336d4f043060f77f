use serde_json::Value;

use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "search.json-body.open",
    title: "what the contract leaves open in a search is answered in one way or the other",
    operation: Some(OperationId::Search),
    clauses: &["search.json-body"],
    needs: &[],
    cost: Cost::requests(9),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let good = probe.any_search();
    probe.ground(&good).await?;
    let bytes = good.body_bytes().unwrap_or_default();
    let cases = [
        ("open.static.content-type", "text/plain as Content-Type", good.clone().body("text/plain", bytes)),
        ("open.static.unknown-fields", "an unknown body field", good.clone().field("sallyportUnknown", 1)),
        (
            "open.static.unknown-fields",
            "an unknown query parameter",
            good.clone().query("sallyport_unknown", 1),
        ),
        ("open.static.fractional-integer", "page is 1.0", good.clone().field(&search.page.name, 1.0)),
        ("open.static.null-optional", "status is null", good.clone().field(&search.status.name, Value::Null)),
        (
            "open.search.empty-filter",
            "countryCode is empty",
            good.clone().field(&search.country_code.name, ""),
        ),
        (
            "open.search.page-past-end",
            "the last page there can be",
            good.clone().field(&search.page.name, *search.pages.end()),
        ),
        (
            "open.search.unknown-filter",
            "the country QQQ, which no directory has",
            good.clone().field(&search.country_code.name, "QQQ"),
        ),
    ];
    for (silence, why, request) in cases {
        probe.tolerates("search.json-body", silence, why, &request).await?;
    }
    Ok(())
}
