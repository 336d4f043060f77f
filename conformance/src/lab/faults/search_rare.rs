//! Faults of searches that few requests show, such as those beside one other parameter or in large batches. A server that somebody
//! wrote from the contract alone had faults like these, and they passed unnoticed.

use std::ops::Range;

use serde_json::{Value, json};

use super::search::{
    CITY, COUNTRY, FROM, GROUP, NOBODY, ORDER, PAGE, PropertyGetter, SIZE, STATUS, TO, asks, count, distinct,
    edit_ips, filtered, has, has_port, ignore, ips, is_v6, items, later_page, map_ips, value,
};
use crate::contract::Search;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [malformed(), limits(), ignored_filters(), times(), responses()].into_iter().flatten().collect()
}

fn malformed() -> Vec<Fault> {
    let lenient = |id, breaks, fits: fn(&str) -> bool| {
        Fault::new(id, breaks).request(move |call| {
            map_ips(call, |_, item| if fits(item) { NOBODY } else { item }.to_owned());
        })
    };
    let left_out = |id, breaks, places: fn(&Search) -> Range<usize>| {
        Fault::new(id, breaks).request(move |call| {
            let places = places(&call.contract.search);
            edit_ips(call, |items| {
                let mut place = 0;
                items.retain(|item| {
                    place += 1;
                    !places.contains(&(place - 1)) || item.as_str().is_none_or(|item| !item.contains('/'))
                });
            });
        })
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
        lenient("ips-item/long", "An item of more than a hundred characters is not looked at.", |item| item
            .chars()
            .count()
            > 100),
        lenient("ips-item/invisible", "An invisible character before an address is left out.", |item| item
            .starts_with('\u{2060}')),
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
    let cut = |call: &mut Call<'_>, most: usize| {
        edit_ips(call, |items| items.truncate(most));
    };
    faults_of![
        "search.",
        fault("ips-raw-limit/none-with-a-status", "With a status there may be more raw items.")
            .when(asks(STATUS))
            .request(move |call| cut(call, *call.contract.search.raw_items.end())),
        fault("ips-raw-limit/none-on-later-pages", "On later pages there may be more raw items.")
            .when(later_page)
            .request(move |call| cut(call, *call.contract.search.raw_items.end())),
        reject(
            "ips-raw-limit/half-with-ports",
            "With an IPv4 address and its port half of the limit is the limit."
        )
        .when(|call| {
            count(call) > *call.contract.search.raw_items.end() / 2
                && count(call) <= *call.contract.search.raw_items.end()
                && ips(call).iter().any(|item| has_port(item) && !item.starts_with('['))
        }),
        fault(
            "ips-dedup-limit/none-for-many-raw-items",
            "Distinct items are not counted when there are more than nine thousand raw ones."
        )
        .when(|call| {
            let search = &call.contract.search;
            count(call) > 9_000
                && count(call) <= *search.raw_items.end()
                && distinct(call) > search.distinct_items
        })
        .request(move |call| cut(call, call.contract.search.distinct_items)),
        fault("page-size/unchecked-on-later-pages", "On later pages pageSize may be anything.")
            .when(later_page)
            .when(|call| {
                let sizes = &call.contract.search.page_sizes;
                value(call, SIZE).is_some_and(|size| !size.as_i64().is_some_and(|size| sizes.contains(&size)))
            })
            .request(ignore(SIZE)),
    ]
}

fn ignored_filters() -> Vec<Fault> {
    let ignored = |id, breaks, which: PropertyGetter, fits: fn(&Call<'_>) -> bool| {
        Fault::new(id, breaks).when(fits).request(ignore(which))
    };
    let one = |call: &Call<'_>, of_v6: bool| {
        let items = ips(call);
        items.len() == 1 && is_v6(&items[0]) == of_v6 && !has_port(&items[0])
    };
    let one_v4 = move |call: &Call<'_>| one(call, false);
    let one_v6 = move |call: &Call<'_>| one(call, true);
    let many = |call: &Call<'_>| distinct(call) > 100;
    let many_repeated = |call: &Call<'_>| distinct(call) > 100 && count(call) > distinct(call);
    faults_of![
        "search.",
        fault("page/unchecked-for-unknown-addresses", "For addresses that nobody has, page may be anything.")
            .when(|call| ips(call).iter().all(|item| item.starts_with("203.0.113.25")))
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
        ignored(
            "status/ignored-on-pages-of-a-hundred",
            "On pages of a hundred the status is ignored.",
            STATUS,
            |call| value(call, SIZE) == Some(json!(100))
        ),
        ignored(
            "city/ignored-on-nearly-the-largest-pages",
            "On pages of one less than the largest size the city is ignored.",
            CITY,
            |call| { value(call, SIZE) == Some(json!(call.contract.search.page_sizes.end() - 1)) }
        ),
        ignored(
            "status/unlisted-on-later-pages",
            "On later pages an unlisted status is ignored.",
            STATUS,
            |call| {
                let listed = &call.contract.search.statuses;
                let status = value(call, STATUS);
                later_page(call)
                    && status.is_some_and(|status| {
                        !status.as_str().is_some_and(|status| listed.iter().any(|one| one == status))
                    })
            }
        ),
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
            .when(many_repeated)
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
        fault("match-port/highest-bit-lost", "Ports count without their highest bit.").request(|call| {
            map_ips(call, |_, item| match item.parse::<std::net::SocketAddr>() {
                Ok(mut socket) if socket.port() > 0x8000 => {
                    socket.set_port(socket.port() & 0x7fff);
                    socket.to_string()
                }
                _ => item.to_owned(),
            });
        }),
    ]
}

fn times() -> Vec<Fault> {
    let bounds: [PropertyGetter; 2] = [FROM, |search| &search.activated_to];
    let fits = move |call: &Call<'_>, test: fn(&str) -> bool| {
        bounds.iter().any(|which| value(call, *which).is_some_and(|bound| bound.as_str().is_some_and(test)))
    };
    let rejected = move |id, breaks, test: fn(&str) -> bool| {
        Fault::reject(id, breaks).when(move |call| fits(call, test))
    };
    let lenient = move |id, breaks, test: fn(&str) -> bool| {
        Fault::new(id, breaks).when(move |call| fits(call, test)).request(move |call| {
            for which in bounds {
                ignore(which)(call);
            }
        })
    };
    faults_of![
        "search.activated-range/",
        rejected("last-year-rejected", "The year 9999 is rejected.", |bound| bound.starts_with("9999")),
        rejected("first-year-rejected", "The year 1 is rejected.", |bound| bound.starts_with("0001")),
        lenient("minus-sign", "A minus sign that is not ASCII is accepted.", |bound| bound
            .contains('\u{2212}')),
        lenient("one-digit-in-utc", "In UTC a month of one digit is accepted.", |bound| bound.ends_with('Z')
            && bound.as_bytes().get(6) == Some(&b'-')),
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
            .success(|call, body| {
                if body["data"]["items"] == json!([]) {
                    body["data"][&call.contract.search.page.name] = json!(1);
                }
            }),
        fault(
            "paging/twice-among-many",
            "Among more than a hundred items, an instance of two items comes twice."
        )
        .serve(|call| {
            Box::pin(async move {
                let mut reply = call.send().await;
                let is_large = call.operation().is_some() && distinct(&call) > 100;
                let items = if is_large { ips(&call) } else { Vec::new() };
                if is_large && call.accepted(&reply) {
                    reply.edit(|body| twice(&items, body));
                }
                reply
            })
        }),
        wrapping("paging/wraps-in-8-bits", "Pages are counted in 8 bits.", 1 << 8),
        wrapping("paging/wraps-in-16-bits", "Pages are counted in 16 bits.", 1 << 16),
        fault(
            "intersection/first-lost-on-pages-of-a-hundred",
            "With filters, pages of a hundred lack their first instance."
        )
        .when(filtered)
        .when(has(SIZE, |size| size == 100))
        .success(|_, body| {
            if let Some(items) = items(body)
                && !items.is_empty()
            {
                items.remove(0);
            }
        }),
        reject("json-body/space-first", "A body that begins with a space is rejected.")
            .when(|call| call.body.first().is_some_and(u8::is_ascii_whitespace)),
    ]
}

/// A page is counted anew after so many, and the response names the one that was asked for.
fn wrapping(id: &'static str, breaks: &'static str, pages: i64) -> Fault {
    Fault::new(id, breaks).serve(move |mut call| {
        Box::pin(async move {
            let name = &call.contract.search.page.name;
            let asked = value(&call, PAGE).and_then(|page| page.as_i64());
            let wrapped = asked.filter(|page| *page > pages).map(|page| (page - 1) % pages + 1);
            let Some(wrapped) = wrapped.filter(|_| call.operation().is_some()) else {
                return call.send().await;
            };
            call.edit(|body| body[name] = json!(wrapped));
            let mut reply = call.send().await;
            if call.accepted(&reply) {
                reply.edit(|body| body["data"][name] = json!(asked));
            }
            reply
        })
    })
}

/// Repeats the instances that an item with a port and one without find.
fn twice(items: &[String], body: &mut Value) {
    let Some(instances) = body.pointer_mut("/data/items").and_then(Value::as_array_mut) else { return };
    let found = |instance: &Value| {
        let ip = instance["ip"].as_str().unwrap_or_default();
        let port = instance["port"].as_i64().unwrap_or_default();
        let with_port = [format!("{ip}:{port}"), format!("[{ip}]:{port}")];
        items.iter().any(|item| item == ip) && items.iter().any(|item| with_port.contains(item))
    };
    let again: Vec<Value> = instances.iter().filter(|instance| found(instance)).cloned().collect();
    let more = again.len();
    instances.extend(again);
    let total = body["data"]["total"].as_i64().unwrap_or_default();
    body["data"]["total"] = json!(total + i64::try_from(more).unwrap_or_default());
}
