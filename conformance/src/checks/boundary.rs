//! Sends the boundary values of a property of the search, one at a time.

use crate::check::{Case, Cost, Probe, Scope, Stop};
use crate::checks::Requests;
use crate::contract::{Boundary, Property, Search, boundaries};

/// A case for each of the chosen values of a body property of the search.
pub(super) fn cases(
    scope: &Scope<'_>,
    property: fn(&Search) -> &Property,
    chosen: impl Fn(&Boundary) -> bool,
) -> Vec<Case> {
    let values = boundaries(&property(&scope.contract.search).schema).into_iter().filter(|case| chosen(case));
    let case = |value: Boundary| {
        // The label of a limit does not depend on its value.
        let is_limit = matches!(value.keyword, "minimum" | "maximum");
        let shown = if is_limit { value.reason.to_owned() } else { value.text() };
        let label = format!("{}={shown}", property(&scope.contract.search).name);
        Case::for_data(label, Cost::requests(1), (property, value), judge).sharing("plain", Cost::requests(1))
    };
    values.map(case).collect()
}

async fn judge(
    probe: &Probe<'_>,
    (property, case): (fn(&Search) -> &Property, Boundary),
) -> Result<(), Stop> {
    let Property { name, citations, .. } = property(&probe.contract().search);
    let clause = citations.clause(case.keyword);
    let clause =
        clause.ok_or_else(|| Stop::Error(format!("no clause is cited for {} of {name}", case.keyword)))?;
    let good = probe.any_search();
    let request = good.clone().field(name, case.value.clone());
    let why = format!("{name}={}, {}", case.text(), case.reason);
    if case.allowed {
        probe.control_once(&good).await?;
        probe.accepts(clause, &why, &request).await?;
        return Ok(());
    }
    probe.rejects_after_control(clause, &why, &good, &request).await
}
