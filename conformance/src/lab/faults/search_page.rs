//! Faults in the number and the size of a page.

use serde_json::{Value, json};

use super::edit::set;
use super::search::{
    PAGE, PropertyGetter, SIZE, ignore, items, later_page, page, page_size, put, relist, total, value,
};
use crate::fault::{Fault, Scene};
use crate::proxy::{ProxiedRequest, Reply};

/// All of them.
pub fn faults() -> Vec<Fault> {
    [number(), size(), echo()].into_iter().flatten().collect()
}

fn whole(scene: &Scene, seen: &ProxiedRequest, which: PropertyGetter) -> Option<i64> {
    value(scene, seen, which)?.as_i64()
}

fn number() -> Vec<Fault> {
    let first = |scene: &Scene| *scene.contract.search.pages.start();
    let last = |scene: &Scene| *scene.contract.search.pages.end();
    let to_first = move |scene: &Scene, seen: &mut ProxiedRequest| put(scene, seen, PAGE, first(scene));
    vec![
        Fault::request("search.page/zero", "Page 0 is the first.", to_first)
            .when(move |scene, seen| whole(scene, seen, PAGE) == Some(first(scene) - 1)),
        Fault::request("search.page/one-above", "One page past the largest number is taken.", to_first)
            .when(move |scene, seen| whole(scene, seen, PAGE) == Some(last(scene) + 1)),
        Fault::request("search.page/unbounded", "A page has no largest number.", to_first).when(
            move |scene, seen| {
                value(scene, seen, PAGE)
                    .and_then(|page| page.as_f64())
                    .is_some_and(|page| page > last(scene) as f64)
            },
        ),
        Fault::request("search.page/fraction", "A page that is no whole number is cut to one.", to_first)
            .when(|scene, seen| {
                value(scene, seen, PAGE).and_then(|page| page.as_f64()).is_some_and(|page| page.fract() > 0.0)
            }),
        Fault::request("search.page/text", "A page that is a word is taken for the first.", to_first)
            .when(|scene, seen| value(scene, seen, PAGE).is_some_and(|page| page.is_string())),
        Fault::request("search.page/true", "true is taken for page 1.", to_first)
            .when(|scene, seen| value(scene, seen, PAGE).is_some_and(|page| page.is_boolean())),
        Fault::request("search.page/first-rejected", "The first page is rejected.", Scene::reject)
            .when(move |scene, seen| whole(scene, seen, PAGE) == Some(first(scene))),
        Fault::request(
            "search.page/default-second",
            "Without page the second page comes.",
            move |scene, seen| put(scene, seen, PAGE, first(scene) + 1),
        )
        .when(|scene, seen| value(scene, seen, PAGE).is_none()),
        Fault::success(
            "search.page/default-echoed-as-zero",
            "Without page the response says page 0.",
            set("/data/page", json!(0)),
        )
        .when(|scene, seen| value(scene, seen, PAGE).is_none()),
        Fault::request("search.page/required", "page must be sent.", Scene::reject).when(|scene, seen| {
            value(scene, seen, PAGE).is_none()
                && value(scene, seen, SIZE).is_some()
                && seen.json().is_object()
        }),
        Fault::reply("search.page/overflow-breaks", "A page of 64 bits breaks the server.", |_, _, reply| {
            *reply = Reply::json_with(500, &json!({"message": "overflow"}));
        })
        .when(|scene, seen| whole(scene, seen, PAGE) == Some(i64::MAX)),
    ]
}

fn size() -> Vec<Fault> {
    let least = |scene: &Scene| *scene.contract.search.page_sizes.start();
    let most = |scene: &Scene| *scene.contract.search.page_sizes.end();
    let to_most = move |scene: &Scene, seen: &mut ProxiedRequest| put(scene, seen, SIZE, most(scene));
    vec![
        Fault::request("search.page-size/zero", "0 is taken for the default size.", ignore(SIZE))
            .when(move |scene, seen| whole(scene, seen, SIZE) == Some(least(scene) - 1)),
        Fault::request(
            "search.page-size/one-above",
            "One more than the largest size is taken for the largest.",
            to_most,
        )
        .when(move |scene, seen| whole(scene, seen, SIZE) == Some(most(scene) + 1)),
        Fault::request("search.page-size/unbounded", "A size has no bound.", to_most).when(
            move |scene, seen| {
                value(scene, seen, SIZE)
                    .and_then(|size| size.as_f64())
                    .is_some_and(|size| size > most(scene) as f64)
            },
        ),
        Fault::request(
            "search.page-size/fraction",
            "A size that is no whole number is ignored.",
            ignore(SIZE),
        )
        .when(|scene, seen| {
            value(scene, seen, SIZE).and_then(|size| size.as_f64()).is_some_and(|size| size.fract() > 0.0)
        }),
        Fault::request("search.page-size/list", "A list is taken for no size.", ignore(SIZE))
            .when(|scene, seen| value(scene, seen, SIZE).is_some_and(|size| size.is_array())),
        Fault::request("search.page-size/most-rejected", "The largest size is rejected.", Scene::reject)
            .when(move |scene, seen| whole(scene, seen, SIZE) == Some(most(scene))),
        Fault::request("search.page-size/least-rejected", "The smallest size is rejected.", Scene::reject)
            .when(move |scene, seen| whole(scene, seen, SIZE) == Some(least(scene))),
        Fault::success(
            "search.page-size/default-ten",
            "Without pageSize a page holds ten.",
            relist(|items| items.truncate(10)),
        )
        .when(|scene, seen| value(scene, seen, SIZE).is_none()),
        Fault::request(
            "search.page-size/default-fifty",
            "Without pageSize a page holds fifty, which the response says.",
            |scene, seen| put(scene, seen, SIZE, 50),
        )
        .when(|scene, seen| value(scene, seen, SIZE).is_none()),
        Fault::request(
            "search.page-size/default-one-more",
            "Without pageSize a page holds one more.",
            |scene, seen| {
                let size = scene.contract.search.default_page_size + 1;
                put(scene, seen, SIZE, size);
            },
        )
        .when(|scene, seen| value(scene, seen, SIZE).is_none()),
        Fault::success(
            "search.page-size/at-most-hundred",
            "A page never holds more than a hundred.",
            relist(|items| items.truncate(100)),
        ),
        Fault::success(
            "search.page-size/one-less",
            "A page of more than one holds one less.",
            |scene, seen, body| {
                let full = page_size(scene, seen) > 1;
                if let Some(items) = items(body)
                    && full
                    && i64::try_from(items.len()) == Ok(page_size(scene, seen))
                {
                    items.pop();
                }
            },
        ),
        Fault::request("search.page-size/least-is-two", "The smallest page holds two.", |scene, seen| {
            put(scene, seen, SIZE, 2)
        })
        .when(move |scene, seen| whole(scene, seen, SIZE) == Some(least(scene))),
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
            |scene, seen, body| {
                body["data"]["page"] = json!(page(scene, seen) - 1);
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
            |scene, seen, body| {
                let came = items(body).map_or(0, |items| items.len());
                if came > 0
                    && later_page(scene, seen)
                    && page(scene, seen) * page_size(scene, seen) > total(body)
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
            |scene, _, body| {
                body["data"]["pageSize"] = json!(scene.contract.search.default_page_size);
            },
        ),
    ]
}
