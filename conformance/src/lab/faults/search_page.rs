//! Faults in the number and the size of a page.

use crate::contract::Search;
use serde_json::{Value, json};

use super::edit::{respond, set};
use super::search::{
    GROUP, PAGE, PropertyGetter, SIZE, asks, has, ignore, integer, is_full, items, lacks, later_page, page,
    page_size, put, total, value,
};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [number(), size(), echo()].into_iter().flatten().collect()
}

/// A property has this integer.
fn is(
    which: PropertyGetter,
    number: impl Fn(&Search) -> i64 + Send + Sync,
) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| integer(call, which) == Some(number(&call.contract.search))
}

/// A property is a number that is greater.
fn above(
    which: PropertyGetter,
    number: impl Fn(&Search) -> i64 + Send + Sync,
) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| {
        let sent = value(call, which).and_then(|sent| sent.as_f64());
        sent.is_some_and(|sent| sent > number(&call.contract.search) as f64)
    }
}

fn is_fraction(number: &Value) -> bool {
    number.as_f64().is_some_and(|number| number.fract() > 0.0)
}

fn number() -> Vec<Fault> {
    let to_first = |call: &mut Call<'_>| put(call, PAGE, *call.contract.search.pages.start());
    faults_of![
        "search.page/",
        fault("zero", "Page 0 is the first.")
            .when(is(PAGE, |search| search.pages.start() - 1))
            .request(to_first),
        fault("one-above", "A page one above the largest number is accepted.")
            .when(is(PAGE, |search| search.pages.end() + 1))
            .request(to_first),
        fault("unbounded", "A page has no largest number.")
            .when(above(PAGE, |search| *search.pages.end()))
            .request(to_first),
        fault("fraction", "A page that is no whole number is cut to one.")
            .when(has(PAGE, is_fraction))
            .request(to_first),
        fault("text", "A page that is a word is taken for the first.")
            .when(has(PAGE, Value::is_string))
            .request(to_first),
        fault("true", "true is taken for page 1.").when(has(PAGE, Value::is_boolean)).request(to_first),
        fault("empty-text", "An empty page is the first.")
            .when(has(PAGE, |page| page == ""))
            .request(to_first),
        fault("zero-with-a-sign", "Page -0.0 is the first.")
            .when(has(PAGE, |page| page.as_f64().is_some_and(|page| page == 0.0 && page.is_sign_negative())))
            .request(to_first),
        reject("first-rejected", "The first page is rejected.")
            .when(is(PAGE, |search| *search.pages.start())),
        fault("default-second", "Without page the second page comes.").when(lacks(PAGE)).request(|call| put(
            call,
            PAGE,
            call.contract.search.pages.start() + 1
        )),
        fault("default-echoed-as-zero", "Without page the response says page 0.")
            .when(lacks(PAGE))
            .success(set("/data/page", 0)),
        reject("required", "page must be sent.").when(lacks(PAGE)).when(asks(SIZE)),
        fault("overflow-breaks", "The largest page number of 64 bits breaks the server.")
            .when(has(PAGE, |page| page == i64::MAX))
            .reply(respond(500, json!({"message": "overflow"}))),
    ]
}

fn size() -> Vec<Fault> {
    let to_max = |call: &mut Call<'_>| put(call, SIZE, *call.contract.search.page_sizes.end());
    faults_of![
        "search.page-size/",
        fault("zero", "A pageSize of 0 means the default size.")
            .when(is(SIZE, |search| search.page_sizes.start() - 1))
            .request(ignore(SIZE)),
        fault("zero-with-a-group", "Beside a group a pageSize of 0 means the default size.")
            .when(asks(GROUP))
            .when(has(SIZE, |size| size == 0))
            .request(ignore(SIZE)),
        fault("zero-in-32-bits", "A pageSize that is 0 in its lower 32 bits means the default size.")
            .when(has(SIZE, |size| size == 1_i64 << 32))
            .request(ignore(SIZE)),
        fault("one-above", "One more than the largest size is taken for the largest.")
            .when(is(SIZE, |search| search.page_sizes.end() + 1))
            .request(to_max),
        fault("unbounded", "A size has no bound.")
            .when(above(SIZE, |search| *search.page_sizes.end()))
            .request(to_max),
        fault("fraction", "A size that is no whole number is ignored.")
            .when(has(SIZE, is_fraction))
            .request(ignore(SIZE)),
        fault("list", "A pageSize that is a list is ignored.")
            .when(has(SIZE, Value::is_array))
            .request(ignore(SIZE)),
        reject("most-rejected", "The largest size is rejected.")
            .when(is(SIZE, |search| *search.page_sizes.end())),
        reject("least-rejected", "The smallest size is rejected.")
            .when(is(SIZE, |search| *search.page_sizes.start())),
        fault("default-ten", "Without pageSize a page holds ten.")
            .when(lacks(SIZE))
            .list(|_, items| items.truncate(10)),
        fault("default-fifty", "Without pageSize a page holds fifty, which the response says.")
            .when(lacks(SIZE))
            .request(|call| put(call, SIZE, 50)),
        fault("default-one-more", "Without pageSize a page holds one more.")
            .when(lacks(SIZE))
            .request(|call| put(call, SIZE, call.contract.search.default_page_size + 1)),
        fault("at-most-hundred", "A page never holds more than a hundred.")
            .list(|_, items| items.truncate(100)),
        fault("one-less", "A full page lacks its last instance, unless its size is 1.")
            .when(|call| page_size(call) > 1)
            .list(|call, items| {
                if is_full(call, items) {
                    items.pop();
                }
            }),
        fault("least-is-two", "The smallest page holds two.")
            .when(is(SIZE, |search| *search.page_sizes.start()))
            .request(|call| put(call, SIZE, 2)),
    ]
}

fn echo() -> Vec<Fault> {
    faults_of![
        "search.paging/",
        fault("page-always-first", "The response always says page 1.").success(set("/data/page", 1)),
        fault("page-from-zero", "The response counts pages from 0.").success(|call, body| {
            body["data"]["page"] = json!(page(call) - 1);
        }),
        fault("size-is-count", "pageSize says how many instances came.").success(|_, body| {
            let came = items(body).map_or(0, |items| items.len());
            body["data"]["pageSize"] = json!(came);
        }),
        fault("size-is-count-on-last", "On the last page pageSize says how many instances came.")
            .when(later_page)
            .success(|call, body| {
                let came = items(body).map_or(0, |items| items.len());
                if came > 0 && page(call) * page_size(call) > total(body) {
                    body["data"]["pageSize"] = json!(came);
                }
            }),
        fault("empty-has-no-page", "An empty result says page 0.").empty(set("/data/page", 0)),
        fault("empty-has-no-size", "An empty result says pageSize 0.").empty(set("/data/pageSize", 0)),
        fault("default-size-told", "The response always says the default size.").success(|call, body| {
            body["data"]["pageSize"] = json!(call.contract.search.default_page_size);
        }),
    ]
}
