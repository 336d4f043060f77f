//! Faults of searches that few requests show, such as those beside one other parameter or in large batches. A server that somebody
//! wrote from the contract alone had faults like these, and they passed unnoticed.

use std::ops::Range;

use serde_json::json;

use super::search::{
    CITY, COUNTRY, FROM, GROUP, ORDER, PAGE, PropertyGetter, SIZE, STATUS, TO, above_distinct_limit,
    all_items, any_bound, any_item, asks, batch, count, cut_to_limit, distinct, each, filtered, has,
    has_port, ignore, ignore_bounds, integer, ips, is_v6, later_page, lenient, page, put, repeat_found_twice,
    text, value, with_duplicates, without_first,
};
use crate::contract::Search;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [malformed(), limits(), ignored_filters(), times(), responses()].into_iter().flatten().collect()
}

fn malformed() -> Vec<Fault> {
    // Leaves out networks at some places.
    let left_out = |id, breaks, places: fn(&Search) -> Range<usize>| {
        Fault::new(id, breaks).request(batch(move |search, items| {
            let (left_out, mut places) = (places(search), 0..);
            items.retain(|item| {
                let is_left_out = places.next().is_some_and(|place| left_out.contains(&place));
                !is_left_out || item.as_str().is_none_or(|item| !item.contains('/'))
            });
        }))
    };
    faults_of![
        "search.",
        lenient("ips-port/zero-in-five-digits", "Port 00000 is accepted.", |item| {
            item.ends_with(":00000")
        }),
        lenient("ips-port/slash", "A slash behind a port is left out.", |item| item.ends_with(":80/")),
        lenient("ips-port/underscore", "An underscore within a port is left out.", |item| {
            item.ends_with(":8_0")
        }),
        lenient("ips-item/reverse-name", "The name of an address in the DNS is accepted.", |item| {
            item.ends_with(".in-addr.arpa")
        }),
        lenient("ips-item/long", "An item of more than a hundred characters is not looked at.", |item| {
            item.chars().count() > 100
        }),
        lenient("ips-item/invisible", "An invisible character before an address is left out.", |item| {
            item.starts_with('\u{2060}')
        }),
        lenient("ips-item/commas", "Commas stand for dots.", |item| {
            item.matches(',').count() == 3 && !item.contains('.')
        }),
        lenient("ips-item/prefix-before-port", "A length of 32 before a port is left out.", |item| {
            item.contains("/32:")
        }),
        lenient("ips-item/two-brackets", "Two pairs of brackets are accepted.", |item| {
            item.starts_with("[[") && item.ends_with("]]")
        }),
        lenient(
            "ips-item/number-sign-of-ipv6",
            "What follows a number sign in IPv6 is left out.",
            |item| item.contains('#') && is_v6(item.split('#').next().unwrap_or_default())
        ),
        left_out(
            "ips-all-or-nothing/in-the-middle",
            "An invalid item at one of the places from 300 to 399 is left out.",
            |_| 300..400
        ),
        left_out(
            "ips-all-or-nothing/last-of-all",
            "An invalid item at the last place of the largest batch is left out.",
            |search| search.raw_items.end() - 1..*search.raw_items.end()
        ),
    ]
}

fn limits() -> Vec<Fault> {
    faults_of![
        "search.",
        fault("ips-raw-limit/none-with-a-status", "With a status there may be more raw items.")
            .when(asks(STATUS))
            .request(batch(|search, items| items.truncate(*search.raw_items.end()))),
        fault("ips-raw-limit/none-on-later-pages", "On later pages there may be more raw items.")
            .when(later_page)
            .request(batch(|search, items| items.truncate(*search.raw_items.end()))),
        reject(
            "ips-raw-limit/half-with-ports",
            "With an IPv4 address and its port half of the limit is the limit."
        )
        .when(|call| {
            let most = *call.contract.search.raw_items.end();
            (most / 2 + 1..=most).contains(&count(call))
        })
        .when(any_item(|item| has_port(item) && !item.starts_with('['))),
        fault(
            "ips-dedup-limit/none-for-many-raw-items",
            "Distinct items are not counted when there are more than nine thousand raw ones."
        )
        .when(|call| (9_001..=*call.contract.search.raw_items.end()).contains(&count(call)))
        .when(above_distinct_limit)
        .request(cut_to_limit),
        fault("page-size/unchecked-on-later-pages", "On later pages pageSize may be anything.")
            .when(later_page)
            .when(asks(SIZE))
            .when(|call| {
                let sizes = &call.contract.search.page_sizes;
                !integer(call, SIZE).is_some_and(|size| sizes.contains(&size))
            })
            .request(ignore(SIZE)),
    ]
}

fn ignored_filters() -> Vec<Fault> {
    let one = |call: &Call<'_>, of_v6: bool| {
        let items = ips(call);
        items.len() == 1 && is_v6(&items[0]) == of_v6 && !has_port(&items[0])
    };
    let one_v4 = move |call: &Call<'_>| one(call, false);
    let one_v6 = move |call: &Call<'_>| one(call, true);
    let many = |call: &Call<'_>| distinct(call) > 100;
    faults_of![
        "search.",
        fault("page/unchecked-for-unknown-addresses", "For addresses that nobody has, page may be anything.")
            .when(all_items(|item| item.starts_with("203.0.113.25")))
            .request(ignore(PAGE)),
        fault("status/ignored-before-the-items", "A status that is written before the items is ignored.")
            .when(|call| {
                let search = &call.contract.search;
                let body = call.json();
                let place = |name: &str| body.as_object()?.keys().position(|key| key == name);
                place(&search.status.name)
                    .zip(place(&search.ips.name))
                    .is_some_and(|(status, ips)| status < ips)
            })
            .request(ignore(STATUS)),
        fault("status/ignored-on-pages-of-a-hundred", "On pages of a hundred the status is ignored.")
            .when(has(SIZE, |size| size == 100))
            .request(ignore(STATUS)),
        fault(
            "city/ignored-on-nearly-the-largest-pages",
            "On pages of one less than the largest size the city is ignored."
        )
        .when(|call| integer(call, SIZE) == Some(call.contract.search.page_sizes.end() - 1))
        .request(ignore(CITY)),
        fault("status/unlisted-on-later-pages", "On later pages an unlisted status is ignored.")
            .when(later_page)
            .when(asks(STATUS))
            .when(|call| {
                let listed = &call.contract.search.statuses;
                !text(call, STATUS).is_some_and(|status| listed.contains(&status))
            })
            .request(ignore(STATUS)),
        fault("status/ignored-for-one-ipv6", "For one IPv6 address the status is ignored.")
            .when(one_v6)
            .request(ignore(STATUS)),
        fault("city/ignored-for-one-ipv4", "For one IPv4 address the city is ignored.")
            .when(one_v4)
            .request(ignore(CITY)),
        fault("country/ignored-for-one-ipv6", "For one IPv6 address the country is ignored.")
            .when(one_v6)
            .request(ignore(COUNTRY)),
        fault("group/ignored-for-one-ipv4", "For one IPv4 address the group is ignored.")
            .when(one_v4)
            .request(ignore(GROUP)),
        fault("order-number/ignored-for-one-ipv4", "For one IPv4 address the order number is ignored.")
            .when(one_v4)
            .request(ignore(ORDER)),
        fault("order-number/ignored-for-many", "For more than a hundred items the order number is ignored.")
            .when(many)
            .request(ignore(ORDER)),
        fault("status/ignored-for-many-repeated", "The status is ignored when many items are repeated.")
            .when(many)
            .when(with_duplicates)
            .request(ignore(STATUS)),
        fault(
            "activated-range/ignored-for-many",
            "For more than a hundred items the lower bound is ignored."
        )
        .when(many)
        .request(ignore(FROM)),
        fault("activated-range/ignored-for-one-ipv6", "For one IPv6 address the upper bound is ignored.")
            .when(one_v6)
            .request(ignore(TO)),
        fault("activated-order/unchecked-on-later-pages", "On later pages the bounds may be reversed.")
            .when(later_page)
            .when(|call| {
                let bound =
                    |which: PropertyGetter| value(call, which)?.as_str()?.parse::<jiff::Timestamp>().ok();
                bound(FROM).zip(bound(TO)).is_some_and(|(from, to)| from > to)
            })
            .request(ignore(TO)),
        fault("match-port/highest-bit-lost", "Ports count without their highest bit.").request(each(
            |item| match item.parse::<std::net::SocketAddr>() {
                Ok(mut socket) if socket.port() > 0x8000 => {
                    socket.set_port(socket.port() & 0x7fff);
                    socket.to_string()
                }
                _ => item.to_owned(),
            }
        )),
    ]
}

fn times() -> Vec<Fault> {
    faults_of![
        "search.activated-range/",
        reject("last-year-rejected", "The year 9999 is rejected.")
            .when(any_bound(|bound| bound.starts_with("9999"))),
        reject("first-year-rejected", "The year 1 is rejected.")
            .when(any_bound(|bound| bound.starts_with("0001"))),
        fault("minus-sign", "A minus sign that is not ASCII is accepted.")
            .when(any_bound(|bound| bound.contains('\u{2212}')))
            .request(ignore_bounds),
        fault("one-digit-in-utc", "In UTC a month of one digit is accepted.")
            .when(any_bound(|bound| bound.ends_with('Z') && bound.as_bytes().get(6) == Some(&b'-')))
            .request(ignore_bounds),
    ]
}

fn responses() -> Vec<Fault> {
    faults_of![
        "search.",
        fault("envelope/earlier-result", "A search with the X-Request-Id of an earlier one gets its result.")
            .success(|call, body| {
                let id = call.headers.get(&call.contract.extract.request_id_header.name);
                let Some(id) = id.and_then(|id| id.to_str().ok()) else { return };
                match call.memory.recall(id) {
                    Some(earlier) => *body = earlier.json(),
                    None => call.memory.keep(id, &Reply::json_with(200, body)),
                }
            }),
        fault("paging/echo-of-nothing", "With a filter that nothing passes, the page is always the first.")
            .when(filtered)
            .when(asks(PAGE))
            .empty(|call, body| body["data"][&call.contract.search.page.name] = json!(1)),
        fault(
            "paging/twice-among-many",
            "Among more than a hundred items, an instance of two items comes twice."
        )
        .when(|call| distinct(call) > 100)
        .success(repeat_found_twice),
        wrapping("paging/wraps-in-8-bits", "Pages are counted in 8 bits.", 1 << 8),
        wrapping("paging/wraps-in-16-bits", "Pages are counted in 16 bits.", 1 << 16),
        fault(
            "intersection/first-lost-on-pages-of-a-hundred",
            "With filters, pages of a hundred lack their first instance."
        )
        .when(filtered)
        .when(has(SIZE, |size| size == 100))
        .list(without_first),
        reject("json-body/space-first", "A body that begins with a space is rejected.")
            .when(|call| call.body.first().is_some_and(u8::is_ascii_whitespace)),
    ]
}

/// A page is counted anew after so many, and the response names the one that was asked for.
fn wrapping(id: &'static str, breaks: &'static str, pages: i64) -> Fault {
    Fault::new(id, breaks).when(move |call| page(call) > pages).serve(move |mut call| {
        Box::pin(async move {
            let asked = page(&call);
            put(&mut call, PAGE, (asked - 1) % pages + 1);
            let mut reply = call.send().await;
            if call.accepted(&reply) {
                reply.edit(|body| body["data"][&call.contract.search.page.name] = json!(asked));
            }
            reply
        })
    })
}
