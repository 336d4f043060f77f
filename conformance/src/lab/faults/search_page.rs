//! Faults in the number and the size of a page.

use serde_json::{Value, json};

use super::edit::set;
use super::search::{
    PAGE, PropertyGetter, SIZE, ignore, items, later_page, page, page_size, put, relist, total, value,
};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [number(), size(), echo()].into_iter().flatten().collect()
}

fn whole(context: &Context, seen: &ProxiedRequest, which: PropertyGetter) -> Option<i64> {
    value(context, seen, which)?.as_i64()
}

fn number() -> Vec<Fault> {
    let first = |context: &Context| *context.contract.search.pages.start();
    let last = |context: &Context| *context.contract.search.pages.end();
    let to_first =
        move |context: &Context, seen: &mut ProxiedRequest| put(context, seen, PAGE, first(context));
    vec![
        Fault::request("search.page/zero", "Page 0 is the first.", to_first)
            .when(move |context, seen| whole(context, seen, PAGE) == Some(first(context) - 1)),
        Fault::request("search.page/one-above", "A page one above the largest number is accepted.", to_first)
            .when(move |context, seen| whole(context, seen, PAGE) == Some(last(context) + 1)),
        Fault::request("search.page/unbounded", "A page has no largest number.", to_first).when(
            move |context, seen| {
                value(context, seen, PAGE)
                    .and_then(|page| page.as_f64())
                    .is_some_and(|page| page > last(context) as f64)
            },
        ),
        Fault::request("search.page/fraction", "A page that is no whole number is cut to one.", to_first)
            .when(|context, seen| {
                value(context, seen, PAGE)
                    .and_then(|page| page.as_f64())
                    .is_some_and(|page| page.fract() > 0.0)
            }),
        Fault::request("search.page/text", "A page that is a word is taken for the first.", to_first)
            .when(|context, seen| value(context, seen, PAGE).is_some_and(|page| page.is_string())),
        Fault::request("search.page/true", "true is taken for page 1.", to_first)
            .when(|context, seen| value(context, seen, PAGE).is_some_and(|page| page.is_boolean())),
        Fault::request("search.page/empty-text", "An empty page is the first.", to_first)
            .when(|context, seen| value(context, seen, PAGE).is_some_and(|page| page == "")),
        Fault::request("search.page/zero-with-a-sign", "Page -0.0 is the first.", to_first).when(
            |context, seen| {
                let page = value(context, seen, PAGE).and_then(|page| page.as_f64());
                page.is_some_and(|page| page == 0.0 && page.is_sign_negative())
            },
        ),
        Fault::request("search.page/first-rejected", "The first page is rejected.", Context::reject)
            .when(move |context, seen| whole(context, seen, PAGE) == Some(first(context))),
        Fault::request(
            "search.page/default-second",
            "Without page the second page comes.",
            move |context, seen| put(context, seen, PAGE, first(context) + 1),
        )
        .when(|context, seen| value(context, seen, PAGE).is_none()),
        Fault::success(
            "search.page/default-echoed-as-zero",
            "Without page the response says page 0.",
            set("/data/page", json!(0)),
        )
        .when(|context, seen| value(context, seen, PAGE).is_none()),
        Fault::request("search.page/required", "page must be sent.", Context::reject).when(
            |context, seen| {
                value(context, seen, PAGE).is_none()
                    && value(context, seen, SIZE).is_some()
                    && seen.json().is_object()
            },
        ),
        Fault::reply(
            "search.page/overflow-breaks",
            "The largest page number of 64 bits breaks the server.",
            |_, _, reply| {
                *reply = Reply::json_with(500, &json!({"message": "overflow"}));
            },
        )
        .when(|context, seen| whole(context, seen, PAGE) == Some(i64::MAX)),
    ]
}

fn size() -> Vec<Fault> {
    let least = |context: &Context| *context.contract.search.page_sizes.start();
    let most = |context: &Context| *context.contract.search.page_sizes.end();
    let to_most = move |context: &Context, seen: &mut ProxiedRequest| put(context, seen, SIZE, most(context));
    vec![
        Fault::request("search.page-size/zero", "A pageSize of 0 means the default size.", ignore(SIZE))
            .when(move |context, seen| whole(context, seen, SIZE) == Some(least(context) - 1)),
        Fault::request(
            "search.page-size/zero-with-a-group",
            "Beside a group a pageSize of 0 means the default size.",
            ignore(SIZE),
        )
        .when(|context, seen| {
            value(context, seen, |search| &search.group_id).is_some()
                && value(context, seen, SIZE).is_some_and(|size| size == 0)
        }),
        Fault::request(
            "search.page-size/zero-in-32-bits",
            "A pageSize that is 0 in its lower 32 bits means the default size.",
            ignore(SIZE),
        )
        .when(|context, seen| whole(context, seen, SIZE) == Some(1 << 32)),
        Fault::request(
            "search.page-size/one-above",
            "One more than the largest size is taken for the largest.",
            to_most,
        )
        .when(move |context, seen| whole(context, seen, SIZE) == Some(most(context) + 1)),
        Fault::request("search.page-size/unbounded", "A size has no bound.", to_most).when(
            move |context, seen| {
                value(context, seen, SIZE)
                    .and_then(|size| size.as_f64())
                    .is_some_and(|size| size > most(context) as f64)
            },
        ),
        Fault::request(
            "search.page-size/fraction",
            "A size that is no whole number is ignored.",
            ignore(SIZE),
        )
        .when(|context, seen| {
            value(context, seen, SIZE).and_then(|size| size.as_f64()).is_some_and(|size| size.fract() > 0.0)
        }),
        Fault::request("search.page-size/list", "A pageSize that is a list is ignored.", ignore(SIZE))
            .when(|context, seen| value(context, seen, SIZE).is_some_and(|size| size.is_array())),
        Fault::request("search.page-size/most-rejected", "The largest size is rejected.", Context::reject)
            .when(move |context, seen| whole(context, seen, SIZE) == Some(most(context))),
        Fault::request("search.page-size/least-rejected", "The smallest size is rejected.", Context::reject)
            .when(move |context, seen| whole(context, seen, SIZE) == Some(least(context))),
        Fault::success(
            "search.page-size/default-ten",
            "Without pageSize a page holds ten.",
            relist(|items| items.truncate(10)),
        )
        .when(|context, seen| value(context, seen, SIZE).is_none()),
        Fault::request(
            "search.page-size/default-fifty",
            "Without pageSize a page holds fifty, which the response says.",
            |context, seen| put(context, seen, SIZE, 50),
        )
        .when(|context, seen| value(context, seen, SIZE).is_none()),
        Fault::request(
            "search.page-size/default-one-more",
            "Without pageSize a page holds one more.",
            |context, seen| {
                let size = context.contract.search.default_page_size + 1;
                put(context, seen, SIZE, size);
            },
        )
        .when(|context, seen| value(context, seen, SIZE).is_none()),
        Fault::success(
            "search.page-size/at-most-hundred",
            "A page never holds more than a hundred.",
            relist(|items| items.truncate(100)),
        ),
        Fault::success(
            "search.page-size/one-less",
            "A full page lacks its last instance, unless its size is 1.",
            |context, seen, body| {
                let full = page_size(context, seen) > 1;
                if let Some(items) = items(body)
                    && full
                    && i64::try_from(items.len()) == Ok(page_size(context, seen))
                {
                    items.pop();
                }
            },
        ),
        Fault::request("search.page-size/least-is-two", "The smallest page holds two.", |context, seen| {
            put(context, seen, SIZE, 2)
        })
        .when(move |context, seen| whole(context, seen, SIZE) == Some(least(context))),
    ]
}

fn echo() -> Vec<Fault> {
    let empty = |body: &Value| body["data"]["items"] == json!([]);
    vec![
        Fault::success(
            "search.paging/page-always-first",
            "The response always says page 1.",
            set("/data/page", json!(1)),
        ),
        Fault::success(
            "search.paging/page-from-zero",
            "The response counts pages from 0.",
            |context, seen, body| {
                body["data"]["page"] = json!(page(context, seen) - 1);
            },
        ),
        Fault::success(
            "search.paging/size-is-count",
            "pageSize says how many instances came.",
            |_, _, body| {
                let came = items(body).map_or(0, |items| items.len());
                body["data"]["pageSize"] = json!(came);
            },
        ),
        Fault::success(
            "search.paging/size-is-count-on-last",
            "On the last page pageSize says how many instances came.",
            |context, seen, body| {
                let came = items(body).map_or(0, |items| items.len());
                if came > 0
                    && later_page(context, seen)
                    && page(context, seen) * page_size(context, seen) > total(body)
                {
                    body["data"]["pageSize"] = json!(came);
                }
            },
        ),
        Fault::success(
            "search.paging/empty-has-no-page",
            "An empty result says page 0.",
            move |_, _, body| {
                if empty(body) {
                    body["data"]["page"] = json!(0);
                }
            },
        ),
        Fault::success(
            "search.paging/empty-has-no-size",
            "An empty result says pageSize 0.",
            move |_, _, body| {
                if empty(body) {
                    body["data"]["pageSize"] = json!(0);
                }
            },
        ),
        Fault::success(
            "search.paging/default-size-told",
            "The response always says the default size.",
            |context, _, body| {
                body["data"]["pageSize"] = json!(context.contract.search.default_page_size);
            },
        ),
    ]
}
