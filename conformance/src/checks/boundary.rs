//! Sends the boundary values that the document gives for a parameter or a property, one at a time.

use crate::check::{Probe, Stop};
use crate::contract::{Boundary, Citations, Parameter, Property, boundaries};
use crate::wire::Request;

/// Tries the chosen values of a query parameter; everything else is as in `good`.
pub(super) async fn parameter(
    probe: &Probe<'_>,
    parameter: &Parameter,
    good: &Request,
    chosen: impl Fn(&Boundary) -> bool,
) -> Result<(), Stop> {
    for case in boundaries(&parameter.schema).into_iter().filter(|case| chosen(case)) {
        let request = good.clone().query(&parameter.name, case.text());
        judge(probe, &parameter.name, &parameter.citations, good, &request, &case).await?;
    }
    Ok(())
}

/// Tries the chosen values of a body property; everything else is as in `good`.
pub(super) async fn property(
    probe: &Probe<'_>,
    property: &Property,
    good: &Request,
    chosen: impl Fn(&Boundary) -> bool,
) -> Result<(), Stop> {
    for case in boundaries(&property.schema).into_iter().filter(|case| chosen(case)) {
        let request = good.clone().field(&property.name, case.value.clone());
        judge(probe, &property.name, &property.citations, good, &request, &case).await?;
    }
    Ok(())
}

async fn judge(
    probe: &Probe<'_>,
    name: &str,
    citations: &Citations,
    good: &Request,
    request: &Request,
    case: &Boundary,
) -> Result<(), Stop> {
    let clause = citations.of(case.keyword);
    let clause =
        clause.ok_or_else(|| Stop::Error(format!("no clause is cited for {} of {name}", case.keyword)))?;
    let why = format!("{name}={}, {}", case.text(), case.reason);
    if case.allowed {
        probe.ground(good).await?;
        probe.accepts(clause, &why, request).await?;
        return Ok(());
    }
    probe.refuses(clause, &why, good, request).await
}
