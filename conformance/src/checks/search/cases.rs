//! Ways to make the cases of a search check.

use serde_json::Value;

use crate::check::{Case, Cost, Probe, Running, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Batch, Survey};
use crate::contract::{Clause, Property, Search};
use crate::grammar::Reason;
use crate::wire::Request;

/// Changes a valid search.
pub(super) type Change = fn(&Search, Request) -> Request;

/// A case for each change that makes a valid search invalid.
pub(super) fn invalid(clause: Clause, changes: &[(&'static str, Change)]) -> Vec<Case> {
    let case = |(label, change): &(&'static str, Change)| {
        Case::with(*label, Cost::requests(2), (clause, *label, *change), |probe, (clause, label, change)| {
            Box::pin(async move {
                let good = probe.any_search();
                let bad = change(&probe.contract().search, good.clone());
                probe.rejects_after_control(clause, label, &good, &bad).await
            })
        })
    };
    changes.iter().map(case).collect()
}

/// Cases that compare results with the survey, each with its label, its own requests and its data. A run reads the survey
/// once, so only the first case pays for that; each pays for the reading that follows a difference.
pub(super) fn surveyed<T: Clone + Send + Sync + 'static>(
    cases: impl IntoIterator<Item = (String, u32, T)>,
    run: for<'p> fn(&'p Probe<'p>, T) -> Running<'p>,
) -> Vec<Case> {
    const SURVEY_AND_ORDERS: u32 = 4;
    let case = |(index, (label, requests, data)): (usize, (String, u32, T))| {
        let survey = if index == 0 { SURVEY_AND_ORDERS } else { 0 };
        Case::with(label, Cost::requests(requests + 1 + survey), data, run)
    };
    cases.into_iter().enumerate().map(case).collect()
}

/// Cases of values that a member of the body must not have, written as JSON: those of one reason share a case, in which each
/// is sent alone and beside a filter.
pub(super) fn invalid_members(
    property: fn(&Search) -> &Property,
    reasons: impl IntoIterator<Item = Reason>,
) -> Vec<Case> {
    let case = |reason: Reason| {
        let requests = 2 + 2 * u32::try_from(reason.spellings.len()).unwrap_or(u32::MAX);
        Case::with(reason.text, Cost::requests(requests), (property, reason), |probe, (property, reason)| {
            Box::pin(judge_members(probe, property, reason))
        })
    };
    reasons.into_iter().map(case).collect()
}

async fn judge_members(
    probe: &Probe<'_>,
    property: fn(&Search) -> &Property,
    reason: Reason,
) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let Property { name, citations, .. } = property(search);
    let clause = citations.of("type");
    let clause = clause.ok_or_else(|| Stop::Error(format!("no clause is cited for the type of {name}")))?;
    let alone = probe.any_search();
    let filtered = alone.clone().field(&search.status.name, search.statuses[0].as_str());
    for good in [alone, filtered] {
        for value in &reason.spellings {
            let why = format!("{name} is {value}, {}", reason.text);
            probe.rejects_after_control(clause, &why, &good, &raw_field(&good, name, value)).await?;
        }
    }
    Ok(())
}

/// A batch of the survey by its name.
pub(super) fn batch<'a>(probe: &Probe<'_>, survey: &'a Survey, name: &str) -> Result<&'a Batch, Stop> {
    let batch = survey.batches(&probe.contract().search).iter().find(|batch| batch.name == name);
    batch.ok_or_else(|| {
        probe.skip(&format!("the survey holds no {name}: supply more of the account's addresses"))
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
