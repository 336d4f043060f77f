//! Faults in the number and the size of a page.

use serde_json::{Value, json};

use super::edit::{respond, set};
use super::search::{
    GROUP, PAGE, PropertyGetter, SIZE, asks, has, ignore, items, lacks, later_page, page, page_size, put,
    relist, total, value,
};
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [number(), size(), echo()].into_iter().flatten().collect()
}

fn min_page(context: &Context) -> i64 {
    *context.contract.search.pages.start()
}

fn max_page(context: &Context) -> i64 {
    *context.contract.search.pages.end()
}

fn min_size(context: &Context) -> i64 {
    *context.contract.search.page_sizes.start()
}

fn max_size(context: &Context) -> i64 {
    *context.contract.search.page_sizes.end()
}

/// A property has this integer.
fn is(
    which: PropertyGetter,
    number: impl Fn(&Context) -> i64 + Send + Sync,
) -> impl Fn(&Context, &ProxiedRequest) -> bool + Send + Sync {
    move |context, seen| whole(context, seen, which) == Some(number(context))
}

fn whole(context: &Context, seen: &ProxiedRequest, which: PropertyGetter) -> Option<i64> {
    value(context, seen, which)?.as_i64()
}

fn number() -> Vec<Fault> {
    let to_first = |context: &Context, seen: &mut ProxiedRequest| put(context, seen, PAGE, min_page(context));
    faults_of![
        "search.page/",
        request("zero", "Page 0 is the first.", to_first).when(is(PAGE, |context| min_page(context) - 1)),
        request("one-above", "A page one above the largest number is accepted.", to_first)
            .when(is(PAGE, |context| max_page(context) + 1)),
        request("unbounded", "A page has no largest number.", to_first).when(move |context, seen| {
            value(context, seen, PAGE)
                .and_then(|page| page.as_f64())
                .is_some_and(|page| page > max_page(context) as f64)
        }),
        request("fraction", "A page that is no whole number is cut to one.", to_first)
            .when(has(PAGE, |page| page.as_f64().is_some_and(|number| number.fract() > 0.0))),
        request("text", "A page that is a word is taken for the first.", to_first)
            .when(has(PAGE, Value::is_string)),
        request("true", "true is taken for page 1.", to_first).when(has(PAGE, Value::is_boolean)),
        request("empty-text", "An empty page is the first.", to_first).when(has(PAGE, |page| page == "")),
        request("zero-with-a-sign", "Page -0.0 is the first.", to_first).when(|context, seen| {
            let page = value(context, seen, PAGE).and_then(|page| page.as_f64());
            page.is_some_and(|page| page == 0.0 && page.is_sign_negative())
        }),
        reject("first-rejected", "The first page is rejected.").when(is(PAGE, min_page)),
        request("default-second", "Without page the second page comes.", |context, seen| {
            put(context, seen, PAGE, min_page(context) + 1);
        })
        .when(lacks(PAGE)),
        success("default-echoed-as-zero", "Without page the response says page 0.", set("/data/page", 0))
            .when(lacks(PAGE)),
        reject("required", "page must be sent.").when(|context, seen| {
            value(context, seen, PAGE).is_none()
                && value(context, seen, SIZE).is_some()
                && seen.json().is_object()
        }),
        reply(
            "overflow-breaks",
            "The largest page number of 64 bits breaks the server.",
            respond(500, json!({"message": "overflow"}))
        )
        .when(has(PAGE, |page| page == i64::MAX)),
    ]
}

fn size() -> Vec<Fault> {
    let to_max = |context: &Context, seen: &mut ProxiedRequest| put(context, seen, SIZE, max_size(context));
    faults_of![
        "search.page-size/",
        request("zero", "A pageSize of 0 means the default size.", ignore(SIZE))
            .when(is(SIZE, |context| min_size(context) - 1)),
        request("zero-with-a-group", "Beside a group a pageSize of 0 means the default size.", ignore(SIZE))
            .when(asks(GROUP))
            .when(has(SIZE, |size| size == 0)),
        request(
            "zero-in-32-bits",
            "A pageSize that is 0 in its lower 32 bits means the default size.",
            ignore(SIZE)
        )
        .when(has(SIZE, |size| size == 1_i64 << 32)),
        request("one-above", "One more than the largest size is taken for the largest.", to_max)
            .when(is(SIZE, |context| max_size(context) + 1)),
        request("unbounded", "A size has no bound.", to_max).when(move |context, seen| {
            value(context, seen, SIZE)
                .and_then(|size| size.as_f64())
                .is_some_and(|size| size > max_size(context) as f64)
        }),
        request("fraction", "A size that is no whole number is ignored.", ignore(SIZE))
            .when(has(SIZE, |size| size.as_f64().is_some_and(|number| number.fract() > 0.0))),
        request("list", "A pageSize that is a list is ignored.", ignore(SIZE))
            .when(has(SIZE, Value::is_array)),
        reject("most-rejected", "The largest size is rejected.").when(is(SIZE, max_size)),
        reject("least-rejected", "The smallest size is rejected.").when(is(SIZE, min_size)),
        success("default-ten", "Without pageSize a page holds ten.", relist(|items| items.truncate(10)))
            .when(lacks(SIZE)),
        request(
            "default-fifty",
            "Without pageSize a page holds fifty, which the response says.",
            |context, seen| put(context, seen, SIZE, 50)
        )
        .when(lacks(SIZE)),
        request("default-one-more", "Without pageSize a page holds one more.", |context, seen| {
            let size = context.contract.search.default_page_size + 1;
            put(context, seen, SIZE, size);
        })
        .when(lacks(SIZE)),
        success(
            "at-most-hundred",
            "A page never holds more than a hundred.",
            relist(|items| items.truncate(100))
        ),
        success(
            "one-less",
            "A full page lacks its last instance, unless its size is 1.",
            |context, seen, body| {
                let full = page_size(context, seen) > 1;
                if let Some(items) = items(body)
                    && full
                    && i64::try_from(items.len()) == Ok(page_size(context, seen))
                {
                    items.pop();
                }
            }
        ),
        request("least-is-two", "The smallest page holds two.", |context, seen| {
            put(context, seen, SIZE, 2)
        })
        .when(is(SIZE, min_size)),
    ]
}

fn echo() -> Vec<Fault> {
    let empty = |body: &Value| body["data"]["items"] == json!([]);
    faults_of![
        "search.paging/",
        success("page-always-first", "The response always says page 1.", set("/data/page", 1)),
        success("page-from-zero", "The response counts pages from 0.", |context, seen, body| {
            body["data"]["page"] = json!(page(context, seen) - 1);
        }),
        success("size-is-count", "pageSize says how many instances came.", |_, _, body| {
            let came = items(body).map_or(0, |items| items.len());
            body["data"]["pageSize"] = json!(came);
        }),
        success(
            "size-is-count-on-last",
            "On the last page pageSize says how many instances came.",
            |context, seen, body| {
                let came = items(body).map_or(0, |items| items.len());
                if came > 0
                    && later_page(context, seen)
                    && page(context, seen) * page_size(context, seen) > total(body)
                {
                    body["data"]["pageSize"] = json!(came);
                }
            }
        ),
        success("empty-has-no-page", "An empty result says page 0.", move |_, _, body| {
            if empty(body) {
                body["data"]["page"] = json!(0);
            }
        }),
        success("empty-has-no-size", "An empty result says pageSize 0.", move |_, _, body| {
            if empty(body) {
                body["data"]["pageSize"] = json!(0);
            }
        }),
        success("default-size-told", "The response always says the default size.", |context, _, body| {
            body["data"]["pageSize"] = json!(context.contract.search.default_page_size);
        }),
    ]
}
