//! Ways to make the cases of a search check.

use serde_json::Value;

use crate::check::{Case, CaseFuture, Cost, Probe, Stop};
use crate::checks::relation::{Batch, Survey};
use crate::checks::{Requests, UNKNOWN_ADDRESS};
use crate::contract::{Clause, Property, Search};
use crate::grammar::Reason;
use crate::target::Fact;
use crate::wire::Request;

/// Changes a valid search.
pub(super) type Change = fn(&Search, Request) -> Request;

/// Filters that a search may carry, under which the rest of it is judged all the same. The bounds on the activation time are
/// not among them, because some of these cases are about these bounds.
pub(super) const FILTERS: [(&str, Change); 6] = [
    ("a status", |search, good| good.field(&search.status.name, search.statuses[0].as_str())),
    ("a group", |search, good| good.field(&search.group_id.name, 0)),
    ("the id of a group", |search, good| good.field(&search.group_id.name, 1)),
    ("a country", |search, good| good.field(&search.country_code.name, "USA")),
    ("a city", |search, good| good.field(&search.city_code.name, "NYC")),
    ("an order number", |search, good| good.field(&search.order_no.name, "SO-1")),
];

/// A page that few rules are tested on. One past the last may be rejected.
pub(super) const SECOND_PAGE: (&str, Change) =
    ("the second page", |search, good| good.field(&search.page.name, *search.pages.start() + 1));

/// A case for each change that makes a valid search invalid.
pub(super) fn invalid(clause: Clause, changes: &[(&'static str, Change)]) -> Vec<Case> {
    let case = |(label, change): &(&'static str, Change)| {
        let data = (clause, *label, *change);
        control(Case::with(*label, Cost::requests(1), data, |probe, (clause, label, change)| {
            Box::pin(async move {
                let good = probe.any_search();
                let bad = change(&probe.contract().search, good.clone());
                probe.rejects_after_control(clause, label, &good, &bad).await
            })
        }))
    };
    changes.iter().map(case).collect()
}

/// Skips a case whose valid request is not accepted: filters may be rejected for their own sake.
pub(super) async fn control_or_skip(probe: &Probe<'_>, good: &Request) -> Result<(), Stop> {
    match probe.control_once(good).await {
        Err(Stop::Inconclusive(reason)) => {
            Err(probe.skip(&format!("the valid search of this kind is not accepted: {reason}")))
        }
        other => other,
    }
}

/// The case, whose control request is [`Requests::any_search`].
pub(super) fn control(case: Case) -> Case {
    case.sharing("search", Cost::requests(1))
}

/// Cases that compare results with the survey, each with its label, its own requests and its data. A run reads the survey
/// once; each case pays for the reading that follows a difference.
pub(super) fn surveyed<T: Clone + Send + Sync + 'static>(
    cases: impl IntoIterator<Item = (String, u32, T)>,
    run: for<'p> fn(&'p Probe<'p>, T) -> CaseFuture<'p>,
) -> Vec<Case> {
    const SURVEY_AND_ORDERS: u32 = 4;
    let case = |(label, requests, data): (String, u32, T)| {
        let case = Case::with(label, Cost::requests(requests + 1), data, run);
        case.sharing_in_run(Survey::CONTROL, Cost::requests(SURVEY_AND_ORDERS))
    };
    cases.into_iter().map(case).collect()
}

/// Cases of values that a member of the body must not have, written as JSON: those of one reason share a case, in which each
/// is sent alone, and another one, in which it is sent beside a filter and beside a page.
pub(super) fn invalid_members(
    property: fn(&Search) -> &Property,
    reasons: impl IntoIterator<Item = Reason>,
) -> Vec<Case> {
    let cases = |reason: Reason| {
        let count = u32::try_from(reason.spellings.len()).unwrap_or(u32::MAX);
        let case = |label: String, requests: u32, is_alone: bool| {
            let data = (property, reason.clone(), is_alone);
            Case::with(label, Cost::requests(requests), data, |probe, (property, reason, is_alone)| {
                Box::pin(judge_members(probe, property, reason, is_alone))
            })
        };
        let one = Cost::requests(1);
        let beside = case(format!("{}, beside others", reason.text), count.saturating_mul(2), false);
        let beside = beside.sharing("beside a filter", one).sharing("beside a page", one);
        [control(case(reason.text.to_owned(), count, true)), control(beside)]
    };
    reasons.into_iter().flat_map(cases).collect()
}

async fn judge_members(
    probe: &Probe<'_>,
    property: fn(&Search) -> &Property,
    reason: Reason,
    is_alone: bool,
) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let Property { name, citations, .. } = property(search);
    let clause = citations.clause("type");
    let clause = clause.ok_or_else(|| Stop::Error(format!("no clause is cited for the type of {name}")))?;
    let reject = async |good: &Request| {
        for value in &reason.spellings {
            let why = format!("{name} is {value}, {}", reason.text);
            probe.rejects_after_control(clause, &why, good, &raw_field(good, name, value)).await?;
        }
        Ok(())
    };
    let alone = probe.any_search();
    if is_alone {
        return reject(&alone).await;
    }
    // Nor may the rule be forgotten where nothing is found.
    let filtered = probe.search([UNKNOWN_ADDRESS]).field(&search.status.name, search.statuses[0].as_str());
    let filtered = match probe.facts().orders.first() {
        Some(order) => filtered.field(&search.order_no.name, order.number.as_str()),
        None => filtered,
    };
    let sized = alone.clone().field(&search.page_size.name, *search.page_sizes.end());
    // A page past the last may be rejected. `page` beside its own value is that value again.
    let second = (SECOND_PAGE.1)(search, sized.clone());
    let paged = match probe.control_once(&second).await {
        Ok(()) => second,
        Err(_) => sized.field(&search.page.name, *search.pages.start()),
    };
    reject(&filtered).await?;
    reject(&paged).await
}

/// A batch of the survey by its name.
pub(super) fn batch<'a>(probe: &Probe<'_>, survey: &'a Survey, name: &str) -> Result<&'a Batch, Stop> {
    let batch = survey.batches(&probe.contract().search).iter().find(|batch| batch.name == name);
    batch.ok_or_else(|| {
        probe.skip_lacking(&format!("the survey has no {name}"), "more addresses", Fact::OwnAddresses)
    })
}

/// Names of the batches of a survey.
pub(super) const BATCHES: [&str; 5] = [
    "addresses",
    "addresses with ports",
    "IPv6 addresses with ports",
    "addresses with and without ports",
    "IPv4 addresses with ports",
];

/// The request with a member whose value is sent as this text, which may be a number that no JSON value of ours holds.
pub(super) fn raw_field(request: &Request, name: &str, value: &str) -> Request {
    let bytes = request.clone().without_field(name).body_bytes().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let members = text.strip_suffix('}').unwrap_or(&text);
    let separator = if members.ends_with('{') { "" } else { "," };
    let name = Value::from(name);
    request.clone().body("application/json", format!("{members}{separator}{name}:{value}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Contract;

    #[test]
    fn a_raw_field_replaces_the_member_and_keeps_its_text() {
        let search = &Contract::embedded().expect("contract").search;
        let request = Request::to(&search.operation).field("a", 1);
        let body = |request: Request| String::from_utf8(request.body_bytes().expect("a body").to_vec());
        assert_eq!(body(raw_field(&request, "b", "1e400")).as_deref(), Ok(r#"{"a":1,"b":1e400}"#));
        assert_eq!(body(raw_field(&request, "a", "-0.0")).as_deref(), Ok(r#"{"a":-0.0}"#));
    }
}
