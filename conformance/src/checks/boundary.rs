//! Sends the boundary values that the document gives for a parameter or a property, one at a time.

use crate::check::{Case, Cost, Probe, Scope, Stop};
use crate::checks::Requests;
use crate::contract::{Boundary, Citations, Property, Search, boundaries};
use crate::wire::Request;

/// A case for each of the chosen values of a body property of the search.
pub(super) fn cases(
    scope: &Scope<'_>,
    property: fn(&Search) -> &Property,
    chosen: impl Fn(&Boundary) -> bool,
) -> Vec<Case> {
    let values = boundaries(&property(&scope.contract.search).schema).into_iter().filter(|case| chosen(case));
    let case = |value: Boundary| {
        // A new limit gives the cases no new names.
        let is_limit = matches!(value.keyword, "minimum" | "maximum");
        let shown = if is_limit { value.reason.to_owned() } else { value.text() };
        let label = format!("{}={shown}", property(&scope.contract.search).name);
        Case::with(label, Cost::requests(1), (property, value), |probe, (property, value)| {
            Box::pin(async move {
                let property = property(&probe.contract().search);
                let good = probe.any_search();
                let request = good.clone().field(&property.name, value.value.clone());
                judge(probe, &property.name, &property.citations, &good, &request, &value).await
            })
        })
        .sharing("plain", Cost::requests(1))
    };
    values.map(case).collect()
}

async fn judge(
    probe: &Probe<'_>,
    name: &str,
    citations: &Citations,
    good: &Request,
    request: &Request,
    case: &Boundary,
) -> Result<(), Stop> {
    let clause = citations.clause(case.keyword);
    let clause =
        clause.ok_or_else(|| Stop::Error(format!("no clause is cited for {} of {name}", case.keyword)))?;
    let why = format!("{name}={}, {}", case.text(), case.reason);
    if case.allowed {
        probe.control_once(good).await?;
        probe.accepts(clause, &why, request).await?;
        return Ok(());
    }
    probe.rejects_after_control(clause, &why, good, request).await
}
