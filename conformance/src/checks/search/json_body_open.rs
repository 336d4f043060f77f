use serde_json::Value;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId, Unspecified};

pub(super) static CHECK: Check = Check {
    id: "search.json-body.open",
    title: "what the contract leaves open in a search is answered in one way or the other",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchJsonBody],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(9), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let good = probe.any_search();
    probe.control_once(&good).await?;
    let bytes = good.body_bytes().unwrap_or_default();
    let cases = [
        (
            Unspecified::StaticContentType,
            "text/plain as Content-Type",
            good.clone().body("text/plain", bytes),
        ),
        (
            Unspecified::StaticUnknownFields,
            "an unknown body field",
            good.clone().field("sallyportUnknown", 1),
        ),
        (
            Unspecified::StaticUnknownFields,
            "an unknown query parameter",
            good.clone().query("sallyport_unknown", 1),
        ),
        (Unspecified::StaticFractionalInteger, "page is 1.0", good.clone().field(&search.page.name, 1.0)),
        (
            Unspecified::StaticNullOptional,
            "status is null",
            good.clone().field(&search.status.name, Value::Null),
        ),
        (
            Unspecified::SearchEmptyFilter,
            "countryCode is empty",
            good.clone().field(&search.country_code.name, ""),
        ),
        (
            Unspecified::SearchPagePastEnd,
            "the last page there can be",
            good.clone().field(&search.page.name, *search.pages.end()),
        ),
        (
            Unspecified::SearchUnknownFilter,
            "the country QQQ, which no directory has",
            good.clone().field(&search.country_code.name, "QQQ"),
        ),
    ];
    for (unspecified, why, request) in cases {
        probe.tolerates(Clause::SearchJsonBody, unspecified, why, &request).await?;
    }
    Ok(())
}
