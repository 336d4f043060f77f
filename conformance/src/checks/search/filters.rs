//! Single filters: the instances that each value finds, and values that only resemble a known one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::SEARCH;
use super::addresses;
use super::cases::{BATCHES, batch, surveyed, surveyed_case};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{
    Comparison, Filter, FilterKind, ResultSet, Survey, address_of, lacks_addresses, read, read_accepted,
    read_unless_rejected, survey,
};
use crate::contract::Clause;
use crate::quantity::quantity;
use crate::target::Fact;

pub(super) static CITY_EXACT: Check = Check {
    id: "search.city.exact",
    title: "`cityCode` finds exactly the instances of that city",
    why: "A caller who selects instances by city for a local service gets some from elsewhere, or misses some.",
    clauses: &[Clause::SearchCity],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| exact_cases(FilterKind::City)),
    ..SEARCH
};

pub(super) static CITY_NEAR: Check = Check {
    id: "search.city.near",
    title: "a code that only resembles a city code finds none of that city's instances",
    why: "If codes match as prefixes or patterns, a shortened code returns instances of several cities as if they were of one.",
    clauses: &[Clause::SearchCity],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| near_cases(FilterKind::City)),
    ..SEARCH
};

pub(super) static COUNTRY_EXACT: Check = Check {
    id: "search.country.exact",
    title: "`countryCode` finds exactly the instances of that country",
    why: "A caller who needs an address in one country routes its traffic through another one.",
    clauses: &[Clause::SearchCountry],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| exact_cases(FilterKind::Country)),
    ..SEARCH
};

pub(super) static COUNTRY_NEAR: Check = Check {
    id: "search.country.near",
    title: "a code that only resembles a country code finds none of that country's instances",
    why: "A two-letter code or a typing error returns instances, and the caller does not see that the code is wrong.",
    clauses: &[Clause::SearchCountry],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| near_cases(FilterKind::Country)),
    ..SEARCH
};

pub(super) static ORDER_HELD: Check = Check {
    id: "search.order-number.held",
    title: "`orderNo` finds an instance at each address of the order, and only instances that a search without it finds",
    why: "After a purchase, callers search for it by its order number. Missing instances look as if they were not delivered.",
    clauses: &[Clause::SearchOrderNumber],
    needs: &[Fact::Orders],
    run: Run::Cases(|_| {
        let case = |index: usize| {
            Case::for_data(format!("order {}", index + 1), Cost::requests(3), index, order_held)
        };
        let sizes = cases_of_sizes(FilterKind::Order).into_iter();
        (0..MAX_ORDERS).map(case).chain(sizes.map(|case| case.needs([Fact::OwnAddresses]))).collect()
    }),
    ..SEARCH
};

pub(super) static ORDER_NEAR: Check = Check {
    id: "search.order-number.near",
    title: "a number that only resembles an order number finds none of that order's instances",
    why: "A truncated order number returns the instances of some order, and the caller books them to the wrong one.",
    clauses: &[Clause::SearchOrderNumber],
    needs: &[Fact::OwnAddresses, Fact::Orders],
    run: Run::Cases(|_| near_cases(FilterKind::Order)),
    ..SEARCH
};

const MAX_VALUES: usize = 8;
/// Maximum number of values that similar ones are derived from.
const MAX_KNOWN: usize = 2;
const MAX_ORDERS: usize = 5;

/// A case for each of two batches: addresses, and addresses with ports.
pub(super) fn exact_cases(kind: FilterKind) -> Vec<Case> {
    let max = u32::try_from(MAX_VALUES).unwrap_or(u32::MAX) + 1;
    let cases = BATCHES[..2].iter().map(|name| (*name, max, (kind, *name)));
    let mut cases = surveyed(cases, exact);
    cases.extend(cases_of_sizes(kind));
    if kind == FilterKind::Group {
        cases.push(surveyed_case("a number that wraps in 32 bits", 2, wrapped_groups));
    }
    cases
}

/// The filter with the largest batch and with the smallest ones.
pub(super) fn cases_of_sizes(kind: FilterKind) -> Vec<Case> {
    let mut cases = surveyed([("addresses in a batch of the maximum size", 2, kind)], exact_in_largest);
    let small = [("one IPv4 address", 1, (kind, false)), ("one IPv6 address", 1, (kind, true))];
    cases.extend(surveyed(small, excluded_alone));
    cases
}

/// A search for a single address finds nothing with a filter that its instances do not pass.
async fn excluded_alone(probe: &Probe<'_>, (kind, is_v6): (FilterKind, bool)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let candidates = survey.candidates(kind);
    let addresses = survey.values(|instance| Some(instance.ip).filter(|ip| ip.is_ipv6() == is_v6));
    let excluding = addresses.into_iter().find_map(|ip| {
        let held = survey.ids_where(|instance| instance.ip == ip);
        let filter = candidates
            .iter()
            .find(|filter| survey.admitted(std::slice::from_ref(*filter)).is_disjoint(&held))?;
        Some((ip, filter))
    });
    let Some((ip, filter)) = excluding else {
        return Err(lacks_addresses(
            probe,
            "no searched address of this family is left out by such a filter",
            "addresses whose instances differ in it",
        ));
    };
    let own = survey.spelt(ip);
    let what = format!("{} at {own} alone", filter.describe());
    let mut comparison = Comparison::with(survey);
    let request = filter.on(search, probe.search([own]));
    comparison.finds(probe, kind.clause(), &what, &request, &BTreeSet::new()).await?;
    comparison.conclude(probe).await
}

/// Countries in two spellings are not used, since whether one spelling finds the other is unspecified.
const NO_VALUE: &str = "no instance at the searched addresses has a value with an unambiguous meaning";

/// A filter applies to the largest batch, too.
async fn exact_in_largest(probe: &Probe<'_>, kind: FilterKind) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let batch = batch(probe, survey, BATCHES[0])?;
    let mut comparison = Comparison::with(survey);
    // The own addresses are at both ends, in case the service filters the batch in parts.
    let (front, back) = batch.items.split_at(batch.items.len() / 2);
    let others = addresses::unused(search.distinct_items.saturating_sub(batch.items.len()));
    let items = front.iter().cloned().chain(others).chain(back.iter().cloned());
    let items: Vec<String> = items.take(search.distinct_items).collect();
    let candidates = survey.candidates(kind);
    if candidates.is_empty() {
        return Err(probe.skip(NO_VALUE));
    }
    for (filter, repeats) in candidates.into_iter().zip([false, true]) {
        let mut items = items.clone();
        if repeats {
            items.extend(batch.items.iter().cloned());
        }
        let what = format!("{} among {} addresses", filter.describe(), items.len());
        let mut request = filter.on(search, probe.search(items.clone()));
        if repeats {
            // Sends `ips` after the filter, since members may have any order.
            request = request.without_field(&search.ips.name).field(&search.ips.name, items);
        }
        let expected = batch.admitted(survey, &[filter]);
        comparison.finds(probe, kind.clause(), &what, &request, &expected).await?;
    }
    comparison.conclude(probe).await
}

/// Numbers that are equal to a group only if their upper bits or their precision are lost.
async fn wrapped_groups(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let held = survey.values(|instance| instance.group);
    // Above 2^53, a 64-bit float stands for several integers.
    let neighbours = held.iter().filter(|group| **group > 1 << 53).take(1);
    let neighbours = neighbours
        .flat_map(|group| [group.saturating_sub(1), group.saturating_add(1)])
        .filter(|other| !held.contains(other));
    let wrapped = held.iter().take(2).filter_map(|group| group.checked_add(1 << 32));
    for wrapped in wrapped.chain(neighbours) {
        let filter = Filter::Group(Some(wrapped));
        let what = filter.describe();
        let request = filter.on(search, survey.request.clone());
        let Some(found) = read_unless_rejected(probe, Clause::SearchGroup, &what, &request).await? else {
            continue;
        };
        let wrong = found.instances.values().filter(|instance| instance.group != Some(wrapped)).count();
        finds_no_others(probe, Clause::SearchGroup, &what, "group", wrong, &found);
    }
    Ok(())
}

/// Reports instances with another value than that of the filter.
fn finds_no_others(
    probe: &Probe<'_>,
    clause: Clause,
    what: &str,
    field: &str,
    wrong: usize,
    found: &ResultSet,
) {
    if wrong > 0 {
        let expected = format!("{what} finds no instance with another {field}");
        probe.finding(
            clause,
            &expected,
            &format!("{} with another {field}", quantity(wrong, "instance")),
            &found.evidence(),
        );
    }
}

/// Each value must find the surveyed instances that it admits.
async fn exact(probe: &Probe<'_>, (kind, name): (FilterKind, &str)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let batch = batch(probe, survey, name)?;
    let mut comparison = Comparison::with(survey);
    let filters = values(probe, survey, kind).await?;
    if filters.is_empty() {
        return Err(probe.skip(NO_VALUE));
    }
    for filter in filters {
        let what = format!("{} among {name}", filter.describe());
        let request = filter.on(search, probe.search(batch.items.clone()));
        let expected = batch.admitted(survey, &[filter]);
        comparison.finds(probe, kind.clause(), &what, &request, &expected).await?;
    }
    comparison.conclude(probe).await
}

/// The values of the document, the groups of the account, or the values of the surveyed instances.
async fn values(probe: &Probe<'_>, survey: &Survey, kind: FilterKind) -> Result<Vec<Filter>, Stop> {
    Ok(match kind {
        FilterKind::Status => {
            probe.contract().search.statuses.iter().map(|status| Filter::Status(status.clone())).collect()
        }
        FilterKind::Country => survey.countries().into_iter().take(MAX_VALUES).map(Filter::Country).collect(),
        FilterKind::City => {
            let codes = survey.values(|instance| Some(instance.city.clone()));
            codes.into_iter().take(MAX_VALUES).map(Filter::City).collect()
        }
        FilterKind::Group => {
            let listed = probe.control(&probe.groups()).await?;
            let listed =
                listed.response.at("/data/items").and_then(Value::as_array).cloned().unwrap_or_default();
            let listed = listed.iter().filter_map(|group| group.get("groupId")?.as_i64()).take(MAX_VALUES);
            let seen = survey.values(|instance| Some(instance.group));
            let groups: BTreeSet<_> = seen.into_iter().chain(listed.map(Some)).chain([None]).collect();
            groups.into_iter().map(Filter::Group).collect()
        }
        FilterKind::Order | FilterKind::ActivatedFrom | FilterKind::ActivatedTo => survey.candidates(kind),
    })
}

/// Derives a text that resembles a value and is not equal to it.
type NearMiss = fn(&str) -> String;

const NEAR_MISSES: [(&str, NearMiss); 17] = [
    ("without its last character", without_last),
    ("without its first character", |value| {
        value.char_indices().nth(1).map_or("", |(second, _)| &value[second..]).to_owned()
    }),
    ("with one more character", |value| format!("{value}X")),
    ("with a character before it", |value| format!("X{value}")),
    ("as a pattern", |value| format!("{}%", without_last(value))),
    ("with a pattern for its last character", |value| format!("{}_", without_last(value))),
    ("with a space behind it", |value| format!("{value} ")),
    ("with a space before it", |value| format!(" {value}")),
    ("without its punctuation", |value| value.chars().filter(|c| c.is_alphanumeric()).collect()),
    ("twice with a comma", |value| format!("{value},{value}")),
    ("a pattern for any text", |_| "%".to_owned()),
    ("a star", |_| "*".to_owned()),
    ("a pattern of its length", |value| "_".repeat(value.chars().count())),
    ("with a star for its last character", |value| format!("{}*", without_last(value))),
    ("with a NUL behind it", |value| format!("{value}\u{0}")),
    ("in full width", |value| value.chars().map(full_width).collect()),
    ("without the zeros before a number", |value| {
        let start = value.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &value[start.len()..];
        format!("{start}{}", number.trim_start_matches('0'))
    }),
];

fn full_width(character: char) -> char {
    let wide = u32::from(character).checked_add(0xfee0).filter(|_| character.is_ascii_graphic());
    wide.and_then(char::from_u32).unwrap_or(character)
}

fn without_last(value: &str) -> String {
    value.char_indices().next_back().map_or("", |(last, _)| &value[..last]).to_owned()
}

/// The letter case of a country code is unspecified.
const LOWER_CASE: (&str, NearMiss) = ("in lower case", |value| value.to_lowercase());

fn near_cases(kind: FilterKind) -> Vec<Case> {
    let lower = (kind != FilterKind::Country).then_some(LOWER_CASE);
    let max = u32::try_from(MAX_KNOWN).unwrap_or(u32::MAX);
    let cases = NEAR_MISSES.into_iter().chain(lower);
    let cases = cases.map(|(label, resembling)| (label, max, (kind, resembling)));
    let mut cases = surveyed(cases, near);
    if kind != FilterKind::Order {
        cases.extend(surveyed([("a code of the other directory", max, kind)], other_directory));
    }
    cases
}

/// City codes are not country codes, and the other way round, unless both directories have the same code.
async fn other_directory(probe: &Probe<'_>, kind: FilterKind) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let countries = survey.values(|instance| Some(instance.country.clone()));
    let cities = survey.values(|instance| Some(instance.city.clone()));
    let (own, other) = if kind == FilterKind::Country { (countries, cities) } else { (cities, countries) };
    for code in other.iter().filter(|code| !own.contains(code)).take(MAX_KNOWN) {
        let filter = match kind {
            FilterKind::Country => Filter::Country(code.clone()),
            _ => Filter::City(code.clone()),
        };
        let what = format!("{}, which no instance at the searched addresses has,", filter.describe());
        let request = filter.on(search, survey.request.clone());
        let Some(found) = read_unless_rejected(probe, kind.clause(), &what, &request).await? else {
            continue;
        };
        let wrong =
            found.instances.values().filter(|instance| !filter.admits(instance, &survey.orders)).count();
        finds_no_others(probe, kind.clause(), &what, "value", wrong, &found);
    }
    Ok(())
}

async fn near(probe: &Probe<'_>, (kind, resembling): (FilterKind, NearMiss)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let known = survey.candidates(kind);
    if known.is_empty() {
        return Err(lacks_addresses(
            probe,
            "no instance at the searched addresses has such a value",
            "more addresses",
        ));
    }
    let mut sent = BTreeSet::new();
    for value in known.iter().take(MAX_KNOWN) {
        let near = match value {
            Filter::Order(text) => Filter::Order(resembling(text)),
            Filter::Country(text) => Filter::Country(resembling(text)),
            Filter::City(text) => Filter::City(resembling(text)),
            other => other.clone(),
        };
        let (Filter::Order(text) | Filter::Country(text) | Filter::City(text)) = &near else { continue };
        // An empty filter is unspecified, and the resembling text may be another order of the account.
        let is_another = probe.facts().orders.iter().any(|order| order.number == *text);
        if text.is_empty() || near == *value || is_another || !sent.insert(text.clone()) {
            continue;
        }
        let what = format!("{} (where {} is known)", near.describe(), value.describe());
        let request = near.on(search, survey.request.clone());
        // A service may reject an unknown value.
        let found = read_unless_rejected(probe, kind.clause(), &what, &request).await?;
        let Some(found) = found else { continue };
        let wrong = found.instances.values().filter(|instance| match &near {
            Filter::Country(code) => !instance.country.eq_ignore_ascii_case(code),
            Filter::City(code) => instance.city != *code,
            _ => value.admits(instance, &survey.orders),
        });
        finds_no_others(probe, kind.clause(), &what, "value", wrong.count(), &found);
    }
    Ok(())
}

async fn order_held(probe: &Probe<'_>, index: usize) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let Some(order) = probe.facts().orders.get(index) else {
        return Err(probe.skip_lacking("fewer orders were supplied", "more orders", Fact::Orders));
    };
    let items: Vec<_> = order.addresses.iter().take(search.distinct_items).collect();
    let everything = probe.search(items.iter().map(|item| item.as_str()));
    let what = format!("the addresses of order {}", order.number);
    let asked = Filter::Order(order.number.clone()).on(search, everything.clone());
    let Some(found) = read_accepted(probe, Clause::SearchOrderNumber, &what, &asked).await? else {
        return Ok(());
    };
    let missing: Vec<_> = items.iter().filter(|item| !holds(&found, item)).collect();
    let whole = read(probe, &everything).await?;
    let evidence = [whole.evidence(), found.evidence()].concat();
    if let Some(item) = missing.first().filter(|item| holds(&whole, item)) {
        let expected = format!("{what} find an instance at each of them");
        let actual = format!("none at {} of {}, {item} among them", missing.len(), items.len());
        probe.finding(Clause::SearchOrderNumber, &expected, &actual, &evidence);
    }
    let others = found.ids().difference(&whole.ids()).count();
    if others > 0 {
        let expected = format!(
            "a search for {what} with `{}` finds no instance that the search without it does not find",
            search.order_no.name
        );
        let actual = quantity(others, "other instance");
        probe.finding(Clause::SearchOrderNumber, &expected, &actual, &evidence);
    }
    Ok(())
}

fn holds(found: &ResultSet, item: &str) -> bool {
    let Some((ip, port)) = address_of(item) else { return true };
    let is_there = |port: Option<i64>, held: i64| port.is_none_or(|port| port == held);
    found.instances.values().any(|instance| instance.ip == ip && is_there(port, instance.port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_texts_differ_from_the_value() {
        let texts = |value: &str| NEAR_MISSES.map(|(_, resembling)| resembling(value));
        let expected = ["US", "SA", "USAX", "XUSA", "US%", "US_", "USA ", " USA", "USA", "USA,USA"];
        assert_eq!(texts("USA")[..10], expected);
        let patterns = ["%", "*", "___", "US*"];
        assert_eq!(texts("USA")[10..14], patterns);
        assert_eq!(texts("USA")[14..], ["USA\u{0}", "\u{ff35}\u{ff33}\u{ff21}", "USA"]);
        assert_eq!(texts("é")[..10], ["", "", "éX", "Xé", "%", "_", "é ", " é", "é", "é,é"]);
        assert_eq!(texts("SO-1-0017")[16], "SO-1-17");
    }
}
