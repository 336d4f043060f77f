//! Single filters: the instances that each value finds, and values that only resemble a known one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::SEARCH;
use super::addresses;
use super::cases::{BATCHES, surveyed};
use super::surveyed::{Account, SURVEYED, row, rows};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{
    Filter, FilterKind, Query, Relation, ResultSet, Writing, address_of, read, read_accepted, relate,
};
use crate::contract::Clause;
use crate::quantity::quantity;
use crate::target::Fact;

pub(super) static CITY_EXACT: Check = Check {
    id: "search.city.exact",
    title: "`cityCode` finds exactly the instances of that city",
    why: "A caller who selects instances by city for a local service gets some from elsewhere, or misses some.",
    clauses: &[Clause::SearchCity],
    run: Run::Cases(|_| exact_cases(FilterKind::City)),
    ..SURVEYED
};

pub(super) static CITY_NEAR: Check = Check {
    id: "search.city.near",
    title: "a code that only resembles a city code finds none of that city's instances",
    why: "If codes match as prefixes or patterns, a shortened code returns instances of several cities as if they were of one.",
    clauses: &[Clause::SearchCity],
    run: Run::Cases(|_| near_cases(FilterKind::City)),
    ..SURVEYED
};

pub(super) static COUNTRY_EXACT: Check = Check {
    id: "search.country.exact",
    title: "`countryCode` finds exactly the instances of that country",
    why: "A caller who needs an address in one country routes its traffic through another one.",
    clauses: &[Clause::SearchCountry],
    run: Run::Cases(|_| exact_cases(FilterKind::Country)),
    ..SURVEYED
};

pub(super) static COUNTRY_NEAR: Check = Check {
    id: "search.country.near",
    title: "a code that only resembles a country code finds none of that country's instances",
    why: "A two-letter code or a typing error returns instances, and the caller does not see that the code is wrong.",
    clauses: &[Clause::SearchCountry],
    run: Run::Cases(|_| near_cases(FilterKind::Country)),
    ..SURVEYED
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
    let mut cases = surveyed(BATCHES[..2].iter().map(|name| (*name, max, (kind, *name))), exact);
    cases.extend(cases_of_sizes(kind));
    if kind == FilterKind::Group {
        cases.extend(row(Relation::Matching, "a number that wraps in 32 bits", 2, wrapped_groups));
    }
    cases
}

/// The filter with the largest batch and with the smallest ones.
pub(super) fn cases_of_sizes(kind: FilterKind) -> Vec<Case> {
    let largest = [("addresses in a batch of the maximum size", 2, kind)];
    let largest = rows(Relation::Survey, largest, |account, kind| {
        // The own addresses are at both ends, in case the service filters the batch in parts.
        let batch = account.batch(BATCHES[0])?;
        let (front, back) = batch.items.split_at(batch.items.len() / 2);
        let others = addresses::unused(account.search.distinct_items.saturating_sub(batch.items.len()));
        let items: Vec<String> = front.iter().cloned().chain(others).chain(back.iter().cloned()).collect();
        let queries = account.candidates(kind)?.into_iter().zip([false, true]).map(|(filter, repeats)| {
            let again = batch.items.iter().filter(|_| repeats);
            // Sends `ips` after the filter, since members may have any order.
            let writing = if repeats { Writing::ItemsLast } else { Writing::Plain };
            let query = Query::new(items.iter().chain(again).cloned()).filtered([filter]);
            Query { writing, ..query }
        });
        Ok(queries.collect())
    });
    let small = [("one IPv4 address", 1, (kind, false)), ("one IPv6 address", 1, (kind, true))];
    // A search for a single address finds nothing with a filter that its instances do not pass.
    let small = rows(Relation::Survey, small, |account, (kind, v6)| {
        let candidates = account.survey.candidates(kind);
        let queries = account
            .held(v6)?
            .into_iter()
            .flat_map(|ip| candidates.iter().map(move |filter| account.at([ip]).filtered([filter.clone()])));
        let mut excluding = queries.filter(|query| query.expected(account.survey).is_empty());
        let lacks = "no searched address of this family is left out by such a filter";
        let query = excluding.next();
        Ok(vec![query.ok_or_else(|| account.lacks(lacks, "addresses whose instances differ in it"))?])
    });
    [largest, small].concat()
}

/// Numbers that are equal to a group only if their upper bits or their precision are lost.
fn wrapped_groups(account: Account<'_>, (): ()) -> Result<Vec<Query>, Stop> {
    let held = account.survey.values(|instance| instance.group);
    // Above 2^53, a 64-bit float stands for several integers.
    let large = held.iter().filter(|group| **group > 1 << 53).take(1);
    let neighbours = large.flat_map(|group| [group.saturating_sub(1), group.saturating_add(1)]);
    let neighbours = neighbours.filter(|other| !held.contains(other));
    let wrapped = held.iter().take(2).filter_map(|group| group.checked_add(1 << 32));
    Ok(wrapped.chain(neighbours).map(|group| account.unknown(Filter::Group(Some(group)))).collect())
}

/// Each value must find the surveyed instances that it admits.
async fn exact(probe: &Probe<'_>, (kind, name): (FilterKind, &str)) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    let batch = account.batch(name)?;
    let mut filters = match kind {
        FilterKind::Status => account.search.statuses.iter().cloned().map(Filter::Status).collect(),
        FilterKind::Country | FilterKind::City => account.survey.filters(kind),
        FilterKind::Group => groups(account).await?,
        FilterKind::Order | FilterKind::ActivatedFrom | FilterKind::ActivatedTo => {
            account.candidates(kind)?
        }
    };
    if matches!(kind, FilterKind::Country | FilterKind::City) {
        filters.truncate(MAX_VALUES);
    }
    let queries: Vec<_> = filters.into_iter().map(|filter| batch.clone().filtered([filter])).collect();
    relate(probe, account.survey, Relation::Survey, &account.some(queries)?).await
}

/// The groups of the instances and of the listing, and no group.
async fn groups(Account { probe, survey, .. }: Account<'_>) -> Result<Vec<Filter>, Stop> {
    let listed = probe.control(&probe.groups()).await?;
    let listed = listed.response.at("/data/items").and_then(Value::as_array).cloned().unwrap_or_default();
    let listed = listed.iter().filter_map(|group| group.get("groupId")?.as_i64()).take(MAX_VALUES);
    let seen = survey.values(|instance| Some(instance.group));
    let groups: BTreeSet<_> = seen.into_iter().chain(listed.map(Some)).chain([None]).collect();
    Ok(groups.into_iter().map(Filter::Group).collect())
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
    let misses = NEAR_MISSES.into_iter().chain(lower);
    let misses = misses.map(|(label, resembling)| (label, max, (kind, resembling)));
    let mut cases = rows(Relation::Matching, misses, |account, (kind, resembling)| {
        let mut sent = BTreeSet::new();
        let known = account.candidates(kind)?.into_iter().take(MAX_KNOWN);
        let near = known.filter_map(|value| {
            let text = resembling(value.text()?);
            // An empty filter is unspecified, and the resembling text may be another order of the account.
            let is_another = account.probe.facts().orders.iter().any(|order| order.number == text);
            let near = kind.of_text(text.clone()).filter(|near| *near != value)?;
            (!text.is_empty() && !is_another && sent.insert(text)).then(|| account.unknown(near))
        });
        Ok(near.collect())
    });
    if kind != FilterKind::Order {
        let label = "a code of the other directory";
        // City codes are not country codes, and the other way round, unless both directories have the same code.
        cases.extend(rows(Relation::Matching, [(label, max, kind)], |account, kind| {
            let is_country = kind == FilterKind::Country;
            let other = if is_country { FilterKind::City } else { FilterKind::Country };
            let codes = |kind| account.survey.values(|instance| FilterKind::shown(kind, instance));
            let own = codes(kind);
            let others = codes(other).into_iter().filter_map(|code| kind.of_text(code.text()?.to_owned()));
            let others = others.filter(|code| !own.contains(code)).take(MAX_KNOWN);
            Ok(others.map(|code| account.unknown(code)).collect())
        }));
    }
    cases
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
