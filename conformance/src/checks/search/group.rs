//! The filter by group: invalid values, the minimum, and null.

use serde_json::Value;

use super::SEARCH;
use super::cases::{boundary_cases, invalid_members};
use super::filters::exact_cases;
use super::surveyed::{SURVEYED, rows};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Query, Relation, Writing, accepts_search, kinds_of};
use crate::contract::Clause;
use crate::contract::part::{COUNTRY_CODE, GROUP_ID, ORDER_NO, STATUS};
use crate::grammar::{by_reason, json_integers};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "search.group.boundaries",
        title: "`groupId` below its minimum or of another type is rejected; its minimum and null are accepted",
        why: "If a negative or malformed group number is ignored, a caller who asked for one group gets all of them.",
        clauses: &[Clause::SearchGroup],
        run: Run::Cases(group_boundaries),
        ..SEARCH
    },
    Check {
        id: "search.group.null",
        title: "`groupId` null finds what a search without `groupId` finds",
        why: "Clients that write absent values as null see only ungrouped instances, or none.",
        clauses: &[Clause::SearchGroup],
        run: Run::Cases(|_| {
            let kinds = [
                ("alone", 1, None),
                ("beside a status", 1, Some(STATUS)),
                ("beside a country", 1, Some(COUNTRY_CODE)),
                ("beside an order", 1, Some(ORDER_NO)),
            ];
            rows(Relation::Survey, kinds, |account, property: Option<&str>| {
                let kind = property.and_then(|name| kinds_of(&[name]).pop());
                let filter = kind.and_then(|kind| account.survey.candidates(kind).into_iter().next());
                let query = Query { writing: Writing::NullFilter, ..account.survey.query() }.filtered(filter);
                Ok(vec![query.citing(Clause::SearchGroup)])
            })
        }),
        ..SURVEYED
    },
    Check {
        id: "search.group.sum",
        title: "each `groupId` finds its own instances, and the minimum finds the ungrouped ones",
        why: "Groups decide who works with an instance: a wrong one shows a team another team's instances, or hides its own.",
        clauses: &[Clause::SearchGroup],
        run: Run::Cases(|_| exact_cases(Clause::SearchGroup)),
        ..SURVEYED
    },
];

fn group_boundaries(scope: &Scope<'_>) -> Vec<Case> {
    let min = scope.contract.search.group_id.schema.minimum.unwrap_or_default();
    // Large numbers are not judged, since an unknown group may be rejected or find nothing. An empty filter is unspecified.
    let is_below =
        |text: &String| !text.parse::<f64>().is_ok_and(|number| number >= 1.0 && number.fract() == 0.0);
    let is_empty = |text: &String| text.trim_matches(['"', ' ']).is_empty();
    let reasons = by_reason(json_integers(&(min..=i64::MAX))).into_iter().map(|mut reason| {
        reason.spellings.retain(|text| is_below(text) && text != "1e400" && !is_empty(text));
        reason
    });
    let reasons = reasons.filter(|reason| !reason.spellings.is_empty());
    let mut cases = boundary_cases(scope, GROUP_ID, |case| case.allowed);
    cases.extend(invalid_members(&scope.contract.search, GROUP_ID, reasons));
    cases.push(Case::new("null", Cost::requests(1), null_is_accepted));
    cases
}

async fn null_is_accepted(probe: &Probe<'_>) -> Result<(), Stop> {
    let null = probe.any_search().field(GROUP_ID, Value::Null);
    let why = "groupId is null, which means all groups";
    accepts_search(probe, Clause::SearchGroup, why, &null).await.map(drop)
}
