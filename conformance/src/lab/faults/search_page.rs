//! Faults in the number and the size of a page, in how pages make up a result, and in the total.

use serde_json::{Value, json};

use super::words::*;
use crate::contract::Search;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "search.page/" {
            "zero": "Page 0 is the first." if is(PAGE, |search| search.pages.start() - 1) => to_first;
            "one-above": "A page one above the largest number is accepted." if is(PAGE, |search| search.pages.end() + 1) => to_first;
            "unbounded": "A page has no largest number." if above(PAGE, |search| *search.pages.end()) => to_first;
            "fraction": "A page that is no whole number is cut to one." if has(PAGE, is_fraction) => to_first;
            "text": "A page that is a word is taken for the first." if has(PAGE, Value::is_string) => to_first;
            "true": "true is taken for page 1." if has(PAGE, Value::is_boolean) => to_first;
            "empty-text": "An empty page is the first." if has(PAGE, |page| page == "") => to_first;
            "zero-with-a-sign": "Page -0.0 is the first."
                if has(PAGE, |page| page.as_f64().is_some_and(|page| page == 0.0 && page.is_sign_negative())) => to_first;
            "first-rejected": "The first page is rejected." if is(PAGE, |search| *search.pages.start()) => reject;
            "default-second": "Without page the second page comes." if not(with(PAGE)) => to_page(1);
            "default-echoed-as-zero": "Without page the response says page 0." if not(with(PAGE)) => set("/data/page", 0);
            "required": "page must be sent." if not(with(PAGE)), with(SIZE) => reject;
            "overflow-breaks": "The largest page number of 64 bits breaks the server."
                if has(PAGE, |page| page == i64::MAX) => respond(500, json!({"message": "overflow"}));
            "unchecked-for-unknown-addresses": "For addresses that nobody has, page may be anything."
                if all_items(|item| item.starts_with("203.0.113.25")) => ignore(PAGE);
        }
        "search.page-size/" {
            "zero": "A pageSize of 0 means the default size." if is(SIZE, |search| search.page_sizes.start() - 1) => ignore(SIZE);
            "zero-with-a-group": "Beside a group a pageSize of 0 means the default size." if with(GROUP), has(SIZE, |size| size == 0) => ignore(SIZE);
            "zero-in-32-bits": "A pageSize that is 0 in its lower 32 bits means the default size."
                if has(SIZE, |size| size == 1_i64 << 32) => ignore(SIZE);
            "one-above": "One more than the largest size is taken for the largest."
                if is(SIZE, |search| search.page_sizes.end() + 1) => to_largest_size;
            "unbounded": "A size has no bound." if above(SIZE, |search| *search.page_sizes.end()) => to_largest_size;
            "fraction": "A size that is no whole number is ignored." if has(SIZE, is_fraction) => ignore(SIZE);
            "list": "A pageSize that is a list is ignored." if has(SIZE, Value::is_array) => ignore(SIZE);
            "most-rejected": "The largest size is rejected." if is(SIZE, |search| *search.page_sizes.end()) => reject;
            "least-rejected": "The smallest size is rejected." if is(SIZE, |search| *search.page_sizes.start()) => reject;
            "default-ten": "Without pageSize a page holds ten." if not(with(SIZE)) => list(|_, items| items.truncate(10));
            "default-ten-beside-filter": "Without pageSize a page beside a filter holds ten."
                if not(with(SIZE)), filtered => list(|_, items| items.truncate(10));
            "default-fifty": "Without pageSize a page holds fifty, which the response says." if not(with(SIZE)) => put_value(SIZE, 50);
            "default-one-more": "Without pageSize a page holds one more."
                if not(with(SIZE)) => request(|call| put(call, SIZE, call.contract.search.default_page_size + 1));
            "at-most-hundred": "A page never holds more than a hundred." => list(|_, items| items.truncate(100));
            "one-less": "A full page lacks its last instance, unless its size is 1." if size(|size| size > 1) => lose_last_of_full;
            "least-is-two": "The smallest page holds two." if is(SIZE, |search| *search.page_sizes.start()) => put_value(SIZE, 2);
            "unchecked-on-later-pages": "On later pages pageSize may be anything." if later_page, with(SIZE), that(|call| {
                !integer(call, SIZE).is_some_and(|size| call.contract.search.page_sizes.contains(&size))
            }) => ignore(SIZE);
        }
        "search.paging/" {
            "page-always-first": "The response always says page 1." => set("/data/page", 1);
            "page-from-zero": "The response counts pages from 0." => success(|call, body| body["data"]["page"] = json!(page(call) - 1));
            "size-is-count": "pageSize says how many instances came." => success(|_, body| body["data"]["pageSize"] = json!(came(body)));
            "size-is-count-on-last": "On the last page pageSize says how many instances came." if later_page => success(|call, body| {
                let came = came(body);
                if came > 0 && page(call) * page_size(call) > total(body) {
                    body["data"]["pageSize"] = json!(came);
                }
            });
            "empty-has-no-page": "An empty result says page 0." => empty(set("/data/page", 0));
            "empty-has-no-size": "An empty result says pageSize 0." => empty(set("/data/pageSize", 0));
            "default-size-told": "The response always says the default size."
                => success(|call, body| body["data"]["pageSize"] = json!(call.contract.search.default_page_size));
            "overlap": "Later pages begin with the last instance of the one before." if later_page, size(|size| size > 1) => shifted(-1);
            "gap": "Later pages leave one instance out." if later_page, size(|size| size > 1) => shifted(1);
            "page-ignored": "Every page is the first." if later_page, that(|call| page(call) <= *call.contract.search.pages.end()) => to_first;
            "last-page-lost": "A last page that is not full is empty." if later_page => list(|call, items| {
                if i64::try_from(items.len()).is_ok_and(|came| came < page_size(call)) {
                    items.clear();
                }
            });
            "last-full-page-lost": "A last page that is exactly full is empty." if later_page, size(|size| size > 1) => success(|call, body| {
                let is_last = page(call) * page_size(call) == total(body);
                if let Some(items) = items(body).filter(|items| is_last && is_full(call, items)) {
                    items.clear();
                }
            });
            "last-of-last-lost": "The last instance of the last page is lost." if later_page => success(|call, body| {
                if page(call) * page_size(call) >= total(body) {
                    drop(items(body).and_then(Vec::pop));
                }
            });
            "first-repeated": "Page 2 begins with an instance twice." if second_page => list(|_, items| {
                if let [first, second, ..] = &mut items[..] {
                    *second = first.clone();
                }
            });
            "odd-pages-short": "A full page of odd size lacks its last instance."
                if size(|size| size % 2 == 1 && (2..100).contains(&size)) => lose_last_of_full;
            "second-is-third": "Page 2 shows page 3." if second_page => to_page(2);
            "past-end-is-last": "Past the end the last page comes." if later_page => instead(|first, total, size| first + (total - 1).max(0) / size);
            "past-end-is-first": "Past the end the first page comes." if later_page => instead(|first, _, _| first);
            "past-end-renumbered": "Past the end the response says the last page's number."
                if later_page => empty(|call, body| body["data"]["page"] = json!(call.contract.search.pages.start()));
            "past-end-breaks": "A page past the end breaks the server." if later_page => when_empty(respond(500, json!({"message": "offset"})));
            "order-turns": "Every other response is in the other order." => list(|call, items| turn(call, items));
            "order-turns-on-repeat": "A search that is repeated comes in another order." => list(|call, items| {
                if repeats(call) == 1 && items.len() > 1 {
                    items.rotate_left(1);
                }
            });
            "order-turns-on-later-pages": "Later pages come in another order when they are repeated." if later_page => list(|call, items| {
                if repeats(call) > 0 {
                    items.reverse();
                }
            });
            "order-turns-of-an-order": "By order number every other response is in the other order." if with(ORDER) => list(|call, items| turn(call, items));
            "found-once-more": "A page shows an instance twice." => list(|_, items| {
                if let [first, .., last] = &mut items[..] {
                    *last = first.clone();
                }
            });
            "tenth-page": "Pages from the tenth on begin one instance late." if that(|call| page(call) >= 10) => without_first;
            "echo-of-nothing": "With a filter that nothing passes, the page is always the first."
                if filtered, with(PAGE) => empty(set("/data/page", 1));
            "twice-among-many": "Among more than a hundred items, an instance of two items comes twice."
                if that(|call| distinct(call) > 100) => repeat_found_twice;
            "wraps-in-8-bits": "Pages are counted in 8 bits." if that(|call| page(call) > 1 << 8) => wrapped(1 << 8);
            "wraps-in-16-bits": "Pages are counted in 16 bits." if that(|call| page(call) > 1 << 16) => wrapped(1 << 16);
            "largest-page-wraps": "The number of instances before the largest page of the largest size wraps to zero."
                if is(PAGE, |search| *search.pages.end()), is(SIZE, |search| *search.page_sizes.end()) => to_first;
        }
        "search.total/" {
            "of-page": "total counts the page." => recount(|_, _, came| came);
            "of-later-page": "On later pages total counts the page." if later_page => recount(|_, _, came| came);
            "left": "On later pages total counts what is left."
                if later_page => recount(|call, total, _| (total - (page(call) - 1) * page_size(call)).max(0));
            "pages": "total counts pages." => recount(|call, total, _| pages(call, total));
            "at-most-hundred": "total never exceeds a hundred." => recount(|_, total, _| total.min(100));
            "rounded-to-pages": "total is rounded up to full pages." => recount(|call, total, _| pages(call, total) * page_size(call));
            "nothing-is-one": "total is never 0." => recount(|_, total, _| total.max(1));
            "one-more-filtered": "With a filter total is one too large." if filtered => recount(|_, total, _| total + 1);
            "one-less-with-three": "With more than two filters total is one too small."
                if that(|call| filters(call) > 2) => recount(|_, total, _| (total - 1).max(0));
            "repeats-counted": "total counts repeated items."
                => recount(|call, total, _| total + i64::try_from(count(call) - distinct(call)).unwrap_or_default());
            "of-items": "With ports total counts the items."
                if all_with_ports => recount(|call, _, _| i64::try_from(count(call)).unwrap_or_default());
            "before-status": "total is counted before the status filter is applied." => compared(ignore(STATUS), take_total);
            "before-group": "total is counted before the group filter is applied." => compared(ignore(GROUP), take_total);
            "before-bounds": "total is counted before the activation bounds are applied." => compared(ignore_bounds, take_total);
            "before-city-of-pair": "Beside a country, total is counted before the city filter is applied."
                if with(CITY), with(COUNTRY_CODE) => compared(ignore(CITY), take_total);
            "of-second-page": "On page 2 total is one too large." if second_page => recount(|_, total, _| total + 1);
            "text": "total is a string." => change("/data/total", |total| *total = json!(total.to_string()));
            "negative": "An empty result has the total -1." => recount(|_, total, _| if total == 0 { -1 } else { total });
            "past-end-zero": "Past the end the total is 0." if later_page => empty(set("/data/total", 0));
        }
    }
}

/// A property has this integer.
fn is(which: Part, number: fn(&Search) -> i64) -> When {
    that(move |call| integer(call, which) == Some(number(&call.contract.search)))
}

/// A property is a number that is greater.
fn above(which: Part, number: fn(&Search) -> i64) -> When {
    that(move |call| {
        let sent = value(call, which).and_then(|sent| sent.as_f64());
        sent.is_some_and(|sent| sent > number(&call.contract.search) as f64)
    })
}

fn is_fraction(number: &Value) -> bool {
    number.as_f64().is_some_and(|number| number.fract() > 0.0)
}

fn size(fits: fn(i64) -> bool) -> When {
    that(move |call| fits(page_size(call)))
}

fn to_first(call: &mut Call<'_>) {
    put(call, PAGE, *call.contract.search.pages.start());
}

/// Asks for the page that comes so many after the first.
fn to_page(after_first: i64) -> impl OnRequest {
    move |call| put(call, PAGE, call.contract.search.pages.start() + after_first)
}

fn to_largest_size(call: &mut Call<'_>) {
    put(call, SIZE, *call.contract.search.page_sizes.end());
}

/// How many instances came.
fn came(body: &mut Value) -> usize {
    items(body).map_or(0, |items| items.len())
}

fn lose_last_of_full(call: &Call<'_>, items: &mut Vec<Value>) {
    if is_full(call, items) {
        items.pop();
    }
}

/// Cuts the page out of all instances by hand, from a wrong place.
fn shifted(from: i64) -> Act {
    let whole = |call: &mut Call<'_>| {
        to_first(call);
        to_largest_size(call);
    };
    compared(whole, move |call, whole, body| {
        let size = page_size(call);
        let skipped = (page(call) - call.contract.search.pages.start()) * size + from;
        let came = whole["data"]["items"].as_array().into_iter().flatten();
        let came = came.skip(usize::try_from(skipped).unwrap_or_default());
        let came: Vec<_> = came.take(usize::try_from(size).unwrap_or_default()).collect();
        body["data"]["items"] = json!(came);
    })
}

/// Past the end shows another page, whose number follows from the first one, the total and the size.
fn instead(number: fn(i64, i64, i64) -> i64) -> Act {
    serve(move |call| {
        Box::pin(async move {
            let mut reply = call.send().await;
            if finds_nothing(&call, &reply) {
                let mut other = call.clone();
                let first = *call.contract.search.pages.start();
                put(&mut other, PAGE, number(first, total(&reply.json()), page_size(&call)));
                let shown = other.send().await.json();
                reply.edit(|body| body["data"]["items"] = shown["data"]["items"].clone());
            }
            reply
        })
    })
}

/// Counts pages anew after so many; the response names the one that was asked for.
fn wrapped(pages: i64) -> Act {
    serve(move |mut call| {
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

/// Every other response is in the opposite order.
fn turn(call: &Call<'_>, items: &mut [Value]) {
    if call.memory.calls() % 2 == 1 {
        items.reverse();
    }
}

fn repeats(call: &Call<'_>) -> u64 {
    call.memory.calls_of(&call.json().to_string())
}

/// How many pages there are.
fn pages(call: &Call<'_>, total: i64) -> i64 {
    (total + page_size(call) - 1) / page_size(call)
}

/// Takes the total of another search.
fn take_total(_: &Call<'_>, other: &Value, body: &mut Value) {
    body["data"]["total"] = other["data"]["total"].clone();
}
