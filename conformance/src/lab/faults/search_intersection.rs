//! Faults that show only where filters meet each other, items of some form, or pages.

use super::search::{
    CITY, COUNTRY, FROM, GROUP, ORDER, PropertyGetter, STATUS, TO, all_items, all_v6, all_with_ports, asks,
    bare, batch, count, each, filters, has, has_port, ignore, ips, is_v6, items, later_page, lose_v6, total,
    value, with_filters,
};
use crate::contract::Search;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    pairs().into_iter().chain(many()).chain(forms()).collect()
}

/// One filter is ignored beside another one.
fn beside(id: &'static str, breaks: &'static str, ignored: PropertyGetter, other: PropertyGetter) -> Fault {
    Fault::new(id, breaks).when(asks(other)).when(asks(ignored)).request(ignore(ignored))
}

fn pairs() -> Vec<Fault> {
    faults_of![
        "search.intersection/",
        beside("status-beside-group", "Beside a group the status is ignored.", STATUS, GROUP),
        beside("group-beside-country", "Beside a country the group is ignored.", GROUP, COUNTRY),
        beside("country-beside-city", "Beside a city the country is ignored.", COUNTRY, CITY),
        beside("city-beside-country", "Beside a country the city is ignored.", CITY, COUNTRY),
        beside("order-beside-group", "Beside a group the order number is ignored.", ORDER, GROUP),
        beside("order-beside-status", "Beside a status the order number is ignored.", ORDER, STATUS),
        beside("city-beside-order", "Beside an order number the city is ignored.", CITY, ORDER),
        beside("country-beside-from", "Beside activatedFrom the country is ignored.", COUNTRY, FROM),
        beside("from-beside-status", "Beside a status activatedFrom is ignored.", FROM, STATUS),
        beside("to-beside-city", "Beside a city activatedTo is ignored.", TO, CITY),
        beside("to-beside-group", "Beside a group activatedTo is ignored.", TO, GROUP),
        beside("from-beside-order", "Beside an order number activatedFrom is ignored.", FROM, ORDER),
        beside("status-beside-to", "Beside activatedTo the status is ignored.", STATUS, TO),
        beside("from-beside-to", "Of two bounds the upper one counts.", FROM, TO),
        fault("status-beside-ungrouped", "Beside group 0 the status is ignored.")
            .when(has(GROUP, |group| group == 0))
            .request(ignore(STATUS)),
        fault("group-beside-city-in-ipv6", "In a batch of IPv6 the group is ignored beside a city.")
            .when(asks(CITY))
            .when(all_v6)
            .request(ignore(GROUP)),
    ]
}

fn many() -> Vec<Fault> {
    let ignored = |id, breaks, which: PropertyGetter, fewest: usize| {
        Fault::new(id, breaks).when(move |call| filters(call) >= fewest).request(ignore(which))
    };
    faults_of![
        "search.intersection/",
        ignored("status-of-three", "Among three filters the status is ignored.", STATUS, 3),
        ignored("group-of-three", "Among three filters the group is ignored.", GROUP, 3),
        ignored("country-of-three", "Among three filters the country is ignored.", COUNTRY, 3),
        ignored("to-of-three", "Among three filters activatedTo is ignored.", TO, 3),
        fault("triple", "Beside city and status, and only then, the group is ignored.")
            .when(asks(CITY))
            .when(asks(STATUS))
            .request(ignore(GROUP)),
        fault("triple-with-bounds", "Beside both bounds, and only then, the country is ignored.")
            .when(asks(FROM))
            .when(asks(TO))
            .request(ignore(COUNTRY)),
        fault("first-two", "Filters after the second are ignored.")
            .request(|call| sent(call).into_iter().skip(2).for_each(|which| ignore(which)(call))),
        fault("past-four", "More than four filters are all ignored.")
            .when(|call| filters(call) > 4)
            .request(|call| Search::FILTERS.into_iter().for_each(|which| ignore(which)(call))),
    ]
}

fn forms() -> Vec<Fault> {
    let mixed = |call: &Call<'_>| {
        let items = ips(call);
        items.iter().any(|item| has_port(item)) && items.iter().any(|item| !has_port(item))
    };
    faults_of![
        "search.intersection/",
        fault("two-of-ports", "Two filters with ports: the first is ignored.")
            .when(all_with_ports)
            .when(with_filters(2))
            .request(ignore_first),
        fault("two-of-ipv6-ports", "Two filters with ports of IPv6: the first is ignored.")
            .when(all_with_ports)
            .when(all_v6)
            .when(with_filters(2))
            .request(ignore_first),
        fault("three-of-mixed", "Three filters on items with and without ports: the first is ignored.")
            .when(mixed)
            .when(with_filters(3))
            .request(ignore_first),
        fault("three-of-ipv4-ports", "Three filters with ports of IPv4: the first is ignored.")
            .when(all_with_ports)
            .when(all_items(|item| !is_v6(item)))
            .when(with_filters(3))
            .request(ignore_first),
        fault("later-pages", "On later pages the first of two filters is ignored.")
            .when(later_page)
            .when(with_filters(2))
            .request(ignore_first),
        fault("ports-with-two", "With two filters ports are ignored.")
            .when(with_filters(2))
            .request(each(bare)),
        fault("union", "With two filters in a small batch, what fits one of them is found.")
            .when(with_filters(2))
            .when(|call| count(call) == 2)
            .request(ignore_first),
        fault("ipv6-of-three", "With three filters IPv6 instances are lost.")
            .when(with_filters(3))
            .success(lose_v6),
        fault("last-of-two", "With two filters the last instance is lost.").when(with_filters(2)).success(
            |_, body| {
                if items(body).and_then(Vec::pop).is_some() {
                    body["data"]["total"] = (total(body) - 1).into();
                }
            }
        ),
        fault("past-the-fiftieth", "With two filters, items beyond the fiftieth are not looked for.")
            .when(with_filters(2))
            .request(batch(|_, items| items.truncate(50))),
    ]
}

/// The filters that are sent.
fn sent(call: &Call<'_>) -> Vec<PropertyGetter> {
    Search::FILTERS.into_iter().filter(|which| value(call, *which).is_some()).collect()
}

fn ignore_first(call: &mut Call<'_>) {
    sent(call).into_iter().take(1).for_each(|which| ignore(which)(call));
}
