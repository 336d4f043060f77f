//! Faults that show only where filters meet each other, items of some form, or pages.

use super::words::*;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "search.intersection/" {
            "status-beside-group": "Beside a group the status is ignored." if with(GROUP) => ignore(STATUS);
            "group-beside-country": "Beside a country the group is ignored." if with(COUNTRY_CODE) => ignore(GROUP);
            "country-beside-city": "Beside a city the country is ignored." if with(CITY), with(COUNTRY_CODE) => ignore(COUNTRY_CODE);
            "city-beside-country": "Beside a country the city is ignored." if with(COUNTRY_CODE) => ignore(CITY);
            "order-beside-group": "Beside a group the order number is ignored." if with(GROUP) => ignore(ORDER);
            "order-beside-status": "Beside a status the order number is ignored." if with(STATUS) => ignore(ORDER);
            "city-beside-order": "Beside an order number the city is ignored." if with(ORDER) => ignore(CITY);
            "country-beside-from": "Beside activatedFrom the country is ignored." if with(FROM) => ignore(COUNTRY_CODE);
            "from-beside-status": "Beside a status activatedFrom is ignored." if with(STATUS) => ignore(FROM);
            "to-beside-city": "Beside a city activatedTo is ignored." if with(CITY) => ignore(TO);
            "to-beside-group": "Beside a group activatedTo is ignored." if with(GROUP) => ignore(TO);
            "from-beside-order": "Beside an order number activatedFrom is ignored." if with(ORDER) => ignore(FROM);
            "status-beside-to": "Beside activatedTo the status is ignored." if with(TO) => ignore(STATUS);
            "from-beside-to": "Of two bounds the upper one counts." if with(TO) => ignore(FROM);
            "status-beside-ungrouped": "Beside group 0 the status is ignored." if has(GROUP, |group| group == 0) => ignore(STATUS);
            "group-beside-city-in-ipv6": "In a batch of IPv6 the group is ignored beside a city." if with(CITY), all_v6 => ignore(GROUP);
            "status-of-three": "Among three filters the status is ignored." if at_least(3) => ignore(STATUS);
            "group-of-three": "Among three filters the group is ignored." if at_least(3) => ignore(GROUP);
            "country-of-three": "Among three filters the country is ignored." if at_least(3) => ignore(COUNTRY_CODE);
            "to-of-three": "Among three filters activatedTo is ignored." if at_least(3) => ignore(TO);
            "country-of-many": "Beside four other filters the country is ignored." if at_least(5) => ignore(COUNTRY_CODE);
            "triple": "Beside city and status, and only then, the group is ignored." if with(CITY), with(STATUS) => ignore(GROUP);
            "triple-with-bounds": "Beside both bounds, and only then, the country is ignored." if with(FROM), with(TO) => ignore(COUNTRY_CODE);
            "first-two": "Filters after the second are ignored."
                => request(|call| sent_filters(call).into_iter().skip(2).for_each(|which| ignore(which)(call)));
            "past-four": "More than four filters are all ignored."
                if at_least(5) => request(|call| sent_filters(call).into_iter().for_each(|which| ignore(which)(call)));
            "two-of-ports": "Two filters with ports: the first is ignored." if all_with_ports, with_filters(2) => ignore_first;
            "two-of-ipv6-ports": "Two filters with ports of IPv6: the first is ignored." if all_with_ports, all_v6, with_filters(2) => ignore_first;
            "three-of-mixed": "Three filters on items with and without ports: the first is ignored."
                if any_item(has_port), any_item(|item| !has_port(item)), with_filters(3) => ignore_first;
            "three-of-ipv4-ports": "Three filters with ports of IPv4: the first is ignored."
                if all_with_ports, all_items(|item| !is_v6(item)), with_filters(3) => ignore_first;
            "later-pages": "On later pages the first of two filters is ignored." if later_page, with_filters(2) => ignore_first;
            "ports-with-two": "With two filters ports are ignored." if with_filters(2) => each(bare);
            "union": "With two filters in a small batch, what fits one of them is found." if with_filters(2), batch_of(2..=2) => ignore_first;
            "ipv6-of-three": "With three filters IPv6 instances are lost." if with_filters(3) => lose_v6;
            "last-of-two": "With two filters the last instance is lost." if with_filters(2) => success(|_, body| {
                if items(body).and_then(Vec::pop).is_some() {
                    body["data"]["total"] = (total(body) - 1).into();
                }
            });
            "past-the-fiftieth": "With two filters, items beyond the fiftieth are not looked for."
                if with_filters(2) => batch(|_, items| items.truncate(50));
            "first-lost-on-pages-of-a-hundred": "With filters, pages of a hundred lack their first instance."
                if filtered, has(SIZE, |size| size == 100) => without_first;
        }
    }
}

/// There are at least so many filters.
fn at_least(fewest: usize) -> When {
    that(move |call| filters(call) >= fewest)
}

fn ignore_first(call: &mut Call<'_>) {
    sent_filters(call).into_iter().take(1).for_each(|which| ignore(which)(call));
}
