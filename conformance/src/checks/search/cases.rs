//! Helpers that create the cases of search checks.

use std::borrow::Cow;

use serde_json::Value;

use super::row::{self, Row};
use crate::check::{Case, CaseFn, Cost, Probe, Scope, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Batch, Survey, lacks_addresses};
use crate::contract::part::{
    ACTIVATED_FROM, ACTIVATED_TO, CITY_CODE, COUNTRY_CODE, GROUP_ID, IPS, ORDER_NO, PAGE, PAGE_SIZE, STATUS,
};
use crate::contract::{Boundary, Clause, Property, Search, boundaries};
use crate::grammar::{LIKELY, Reason};
use crate::wire::Request;

pub(super) type Change = fn(&Search, Request) -> Request;

/// A label, and the change that adds a member to a search.
pub(super) type Member = (&'static str, Change);

/// Filters beside which other rules are tested. The bounds on the activation time are not among them, because some of these
/// cases test the bounds.
pub(super) const FILTERS: [(&str, Change); 6] = [
    ("a status", |search, good| good.field(STATUS, search.statuses[0].as_str())),
    ("a group", |_, good| good.field(GROUP_ID, 0)),
    ("the id of a group", |_, good| good.field(GROUP_ID, 1)),
    ("a country", |_, good| good.field(COUNTRY_CODE, "USA")),
    ("a city", |_, good| good.field(CITY_CODE, "NYC")),
    ("an order number", |_, good| good.field(ORDER_NO, "SO-1")),
];

/// The second page. A service may reject it if it is past the last one.
pub(super) const SECOND_PAGE: (&str, Change) =
    ("the second page", |search, good| good.field(PAGE, *search.pages.start() + 1));

/// A case for each change that makes a valid search invalid.
pub(super) fn invalid(clause: Clause, changes: &[(&'static str, Change)]) -> Vec<Case> {
    row::cases(changes.iter().map(|(label, change)| Row::rejects(clause, *label).changed(*change)))
}

/// Skips a case whose valid request is not accepted, since a service may reject a filter for a reason of its own.
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

/// Cases that compare results with the survey, each with its label, its own requests and its data.
pub(super) fn surveyed<L: Into<Cow<'static, str>>, T: Clone + Send + Sync + 'static>(
    cases: impl IntoIterator<Item = (L, u32, T)>,
    run: impl for<'p> CaseFn<'p, (T,)> + Copy,
) -> Vec<Case> {
    const SURVEY_AND_ORDERS: u32 = 4;
    // A run reads the survey once. Each case reserves a request for the reading that follows a difference.
    let case = |(label, requests, data)| {
        let case = Case::for_data(label, Cost::requests(requests + 1), data, run);
        case.sharing_in_run(Survey::CONTROL, Cost::requests(SURVEY_AND_ORDERS))
    };
    cases.into_iter().map(case).collect()
}

pub(super) const LARGEST_PAGE: (&str, Change) =
    ("the largest page size", |search, good| good.field(PAGE_SIZE, *search.page_sizes.end()));

/// Bounds that include every activation.
pub(super) const A_RANGE: (&str, Change) = ("a range of times", |_, good| {
    good.field(ACTIVATED_FROM, "1970-01-01T00:00:00Z").field(ACTIVATED_TO, "2099-12-31T00:00:00Z")
});

/// Members beside which the rules of another member are tested. A service may reject some of their values, so
/// [`beside_member`] sends them in a control request first.
pub(super) const OTHER_MEMBERS: [(&str, Change); 9] = [
    FILTERS[0],
    FILTERS[1],
    LARGEST_PAGE,
    FILTERS[3],
    SECOND_PAGE,
    A_RANGE,
    FILTERS[4],
    ("an item with a port", |_, good| good.field(IPS, vec!["203.0.113.250:8080"])),
    FILTERS[5],
];

/// A valid search with another member, or with a status if the service does not accept that member.
pub(super) async fn beside_member(
    probe: &Probe<'_>,
    (label, change): (&str, Change),
) -> Result<Request, Stop> {
    let search = &probe.contract().search;
    let plain = probe.any_search();
    // A service may reject an unknown order, but not one of the account's orders.
    let good = match probe.facts().orders.first() {
        Some(order) if label == FILTERS[5].0 => plain.clone().field(ORDER_NO, order.number.as_str()),
        _ => change(search, plain.clone()),
    };
    match probe.control_once(&good).await {
        Ok(()) => Ok(good),
        Err(_) => {
            let other = (FILTERS[0].1)(search, plain);
            probe.control_once(&other).await.map(|()| other)
        }
    }
}

/// Cases for invalid values of a body member, written as JSON. The values of one reason share a case, in which each is sent
/// alone, and another case, in which each is sent beside another member, which changes with the reason. Likely mistakes have a
/// case for each other member.
pub(super) fn invalid_members(
    search: &Search,
    name: &'static str,
    reasons: impl IntoIterator<Item = Reason>,
) -> Vec<Case> {
    let is_other = |(_, change): &(&str, Change)| {
        let bytes = change(search, Request::to(&search.operation)).body_bytes().unwrap_or_default();
        serde_json::from_slice::<Value>(&bytes).is_ok_and(|body| body.get(name).is_none())
    };
    let members: Vec<_> = OTHER_MEMBERS.into_iter().filter(is_other).collect();
    let property = search.properties().find(|property| property.name == name);
    let Some(clause) = property.and_then(|property| property.citations.clause("type")) else {
        return vec![Case::error(name, format!("no clause is cited for the type of {name}"))];
    };
    let cases = |(at, reason): (usize, Reason)| {
        let row = |label: String| {
            reason.spellings.iter().fold(Row::rejects(clause, label), |row, value| {
                let value = value.clone();
                row.sending(format!("{name} is {value}, {}", reason.text), move |_, good| {
                    Ok(raw_field(&good, name, &value))
                })
            })
        };
        let is_likely = LIKELY.contains(&reason.text);
        let beside: Vec<_> = match is_likely {
            true => members.clone(),
            false => members.iter().copied().cycle().skip(at).take(1).collect(),
        };
        let label = |member: &str| match is_likely {
            true => format!("{}, beside {member}", reason.text),
            false => format!("{}, beside others", reason.text),
        };
        let beside = beside.into_iter().map(|member| row(label(member.0)).beside(member));
        row::cases([row(reason.text.to_owned())].into_iter().chain(beside))
    };
    reasons.into_iter().enumerate().flat_map(cases).collect()
}

/// A case for each of the chosen boundary values of a body property. A value whose constraint cites no clause is an error.
pub(super) fn boundary_cases(
    scope: &Scope<'_>,
    name: &'static str,
    chosen: impl Fn(&Boundary) -> bool,
) -> Vec<Case> {
    let case = |(property, value): (&Property, Boundary)| {
        // The label of a limit does not depend on its value.
        let is_limit = matches!(value.keyword, "minimum" | "maximum");
        let shown = if is_limit { value.reason.to_owned() } else { value.text() };
        let (label, why) = (format!("{name}={shown}"), format!("{name}={}, {}", value.text(), value.reason));
        let Some(clause) = property.citations.clause(value.keyword) else {
            return Case::error(label, format!("no clause is cited for the {} of {name}", value.keyword));
        };
        let row = Row::accepts_or_rejects(clause, label, value.allowed).with(why, name, value.value);
        row.changing("plain", |_, good| good).case()
    };
    let properties = scope.contract.search.properties().filter(|property| property.name == name);
    let values = properties
        .flat_map(|property| boundaries(&property.schema).into_iter().map(move |value| (property, value)));
    values.filter(|(_, value)| chosen(value)).map(case).collect()
}

pub(super) fn batch<'a>(probe: &Probe<'_>, survey: &'a Survey, name: &str) -> Result<&'a Batch, Stop> {
    let batch = survey.batches(&probe.contract().search).iter().find(|batch| batch.name == name);
    batch.ok_or_else(|| {
        lacks_addresses(probe, &format!("the searched addresses have no {name}"), "more addresses")
    })
}

pub(super) const BATCHES: [&str; 5] = [
    "addresses",
    "addresses with ports",
    "IPv6 addresses with ports",
    "addresses with and without ports",
    "IPv4 addresses with ports",
];

/// The request with a member whose value is sent as this text, such as a number that `serde_json` can't represent.
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
