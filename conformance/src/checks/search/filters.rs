//! Single filters: the instances that each value finds, and values that only resemble a known one.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.city.exact", |_| exact_cases(SearchCity)),
    active("search.city.near", |_| near_cases(SearchCity)),
    active("search.country.exact", |_| exact_cases(SearchCountry)),
    active("search.country.near", |_| near_cases(SearchCountry)),
    active("search.order-number.held", |_| {
        let case = |index: usize| {
            Case::for_data(format!("order {}", index + 1), Cost::requests(3), index, order_held)
        };
        let sizes = of_clause(SearchOrderNumber).flat_map(cases_of_sizes);
        (0..MAX_ORDERS).map(case).chain(sizes.map(|case| case.needs([Fact::OwnAddresses]))).collect()
    }),
    active("search.order-number.near", |_| near_cases(SearchOrderNumber)),
];

fn of_clause(clause: Clause) -> impl Iterator<Item = FilterKind> {
    kinds().filter(move |kind| kind.clause == clause)
}

const MAX_VALUES: usize = 8;
/// Maximum number of values that similar ones are derived from.
const MAX_KNOWN: usize = 2;
const MAX_ORDERS: usize = 5;

/// A case for each of two batches: addresses, and addresses with ports.
pub(super) fn exact_cases(clause: Clause) -> Vec<Case> {
    let max = u32::try_from(MAX_VALUES).unwrap_or(u32::MAX) + 1;
    let cases = of_clause(clause).flat_map(|kind| {
        let exact =
            rows(Relation::Survey, BATCHES[..2].iter().map(|name| (*name, max, (kind, *name))), exact);
        let wraps = kind.null.map(|_| {
            rows(Relation::Matching, [("a number that wraps in 32 bits", 2, kind)], wrapped_numbers)
        });
        exact.into_iter().chain(cases_of_sizes(kind)).chain(wraps.into_iter().flatten())
    });
    cases.collect()
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

/// Numbers that are equal to a known one only if their upper bits or their precision are lost.
fn wrapped_numbers(account: Account<'_>, kind: FilterKind) -> Result<Vec<Query>, Stop> {
    let held = account.survey.numbers(&kind.property.name);
    // Above 2^53, a 64-bit float stands for several integers.
    let large = held.iter().filter(|number| **number > 1 << 53).take(1);
    let neighbours = large.flat_map(|number| [number.saturating_sub(1), number.saturating_add(1)]);
    let neighbours = neighbours.filter(|other| !held.contains(other));
    let wrapped = held.iter().take(2).filter_map(|number| number.checked_add(1 << 32));
    let other = wrapped.chain(neighbours).map(|number| kind.with(FieldValue::Number(number)));
    Ok(other.map(|filter| account.unknown(filter)).collect())
}

/// Each value must find the surveyed instances that it admits: the listed ones, or those of the instances.
fn exact(account: Account<'_>, (kind, name): (FilterKind, &str)) -> Result<Vec<Query>, Stop> {
    let batch = account.batch(name)?;
    let mut filters = kind.listed();
    if kind.property.name == GROUP_ID {
        // The groups of the instances and of the account, and no group.
        let own = account.probe.facts().own_groups.iter().copied().take(MAX_VALUES).map(FieldValue::Number);
        let seen = account.survey.instances.values().map(|instance| instance.value(kind).clone());
        let values: BTreeSet<_> = seen.chain(own).chain([FieldValue::Null]).collect();
        filters = values.into_iter().map(|value| kind.with(value)).collect();
    } else if filters.is_empty() {
        filters = account.survey.filters(kind);
        filters.truncate(MAX_VALUES);
    }
    account.some(filters.into_iter().map(|filter| batch.clone().filtered([filter])).collect())
}

/// Where letter case is unspecified, it may match.
const LOWER_CASE: &str = "in lower case";

fn near_cases(clause: Clause) -> Vec<Case> {
    let count = |known: usize| u32::try_from(known).unwrap_or(u32::MAX);
    let misses = |kind: FilterKind| {
        let misses = near("value").filter(move |near| !kind.has_open_case || near.label != LOWER_CASE);
        let misses = misses.map(|near| (near, MAX_KNOWN)).chain(near("one value").map(|near| (near, 1)));
        misses.map(move |(near, known)| (near.label, count(known), (kind, near, known)))
    };
    let near =
        rows(Relation::Matching, of_clause(clause).flat_map(misses), |account, (kind, near, known)| {
            let mut sent = BTreeSet::new();
            let known = account.candidates(kind)?.into_iter().take(known);
            let near = known.filter_map(|value| {
                let text = near.of(value.as_text()?);
                // An empty filter is unspecified, and the resembling text may be another order of the account.
                let is_another = account.probe.facts().orders.iter().any(|order| order.number == text);
                let near = Some(kind.text(&text)).filter(|near| *near != value)?;
                (!text.is_empty() && !is_another && sent.insert(text)).then(|| account.unknown(near))
            });
            Ok(near.collect())
        });
    // City codes are not country codes, and the other way round, unless both directories have the same code.
    let shown = of_clause(clause).filter(|kind| kind.field.is_some());
    let codes = shown.map(|kind| ("a code of the other directory", count(MAX_KNOWN), kind));
    let elsewhere = rows(Relation::Matching, codes, |account, kind| {
        let codes = |kind: FilterKind| account.survey.values(|instance| kind.shown(instance));
        let own = codes(kind);
        let others = kinds().filter(|other| other.is_free_text() && *other != kind).flat_map(codes);
        let others = others.filter_map(|code| Some(kind.text(code.as_text()?)));
        Ok(others
            .filter(|code| !own.contains(code))
            .take(MAX_KNOWN)
            .map(|code| account.unknown(code))
            .collect())
    });
    [near, elsewhere].concat()
}

async fn order_held(probe: &Probe<'_>, index: usize) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let Some(order) = probe.facts().orders.get(index) else {
        return Err(probe.skip_lacking("fewer orders were supplied", "more orders", Fact::Orders));
    };
    let items: Vec<_> = order.addresses.iter().take(search.distinct_items).collect();
    let everything = probe.search(items.iter().map(|item| item.as_str()));
    let what = format!("the addresses of order {}", order.number);
    let asked = everything.clone().field(ORDER_NO, order.number.as_str());
    let Some(found) = read_accepted(probe, SearchOrderNumber, &what, &asked).await? else {
        return Ok(());
    };
    let missing: Vec<_> = items.iter().filter(|item| !holds(&found, item)).collect();
    let whole = read(probe, &everything).await?;
    let (judged, references) = (found.evidence(), whole.evidence());
    if let Some(item) = missing.first().filter(|item| holds(&whole, item)) {
        let expected = format!("{what} find an instance at each of them");
        let actual = format!("none at {} of {}, {item} among them", missing.len(), items.len());
        probe.finding_beside(SearchOrderNumber, &expected, &actual, &judged, &references);
    }
    let others = found.ids().difference(&whole.ids()).count();
    if others > 0 {
        let expected = format!(
            "a search for {what} with `{ORDER_NO}` finds no instance that the search without it does not find"
        );
        let actual = quantity(others, "other instance");
        probe.finding_beside(SearchOrderNumber, &expected, &actual, &judged, &references);
    }
    Ok(())
}

fn holds(found: &ResultSet, item: &str) -> bool {
    let Some((ip, port)) = address_of(item) else { return true };
    let is_there = |port: Option<i64>, held: i64| port.is_none_or(|port| port == held);
    found.instances.values().any(|instance| instance.ip == ip && is_there(port, instance.port))
}
