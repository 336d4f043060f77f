//! Faults in the total.

use serde_json::json;

use super::search::{
    PropertyGetter, asks, count, distinct, filters, has_port, ignore, ips, later_page, page, page_size,
    recount, total,
};
use crate::fault::{Fault, Scene};
use crate::proxy::ProxiedRequest;

/// All of them.
pub fn faults() -> Vec<Fault> {
    let filtered = |scene: &Scene, seen: &ProxiedRequest| filters(scene, seen) > 0;
    // The total of the same search with a change.
    let of_other = |id, breaks, change: fn(&Scene, &mut ProxiedRequest)| {
        Fault::serve(id, breaks, move |scene, seen| {
            Box::pin(async move {
                let mut reply = scene.upstream.call(&seen).await;
                if scene.operation(&seen).is_some() && scene.accepted(&seen, &reply) {
                    let mut other = seen.clone();
                    change(scene, &mut other);
                    let counted = scene.upstream.call(&other).await.json()["data"]["total"].clone();
                    reply.edit(|body| body["data"]["total"] = counted);
                }
                reply
            })
        })
    };
    vec![
        Fault::success("search.total/of-page", "total counts the page.", recount(|_, _, _, came| came)),
        Fault::success(
            "search.total/of-later-page",
            "On later pages total counts the page.",
            recount(|_, _, _, came| came),
        )
        .when(later_page),
        Fault::success(
            "search.total/left",
            "On later pages total counts what is left.",
            recount(|scene, seen, total, _| {
                (total - (page(scene, seen) - 1) * page_size(scene, seen)).max(0)
            }),
        )
        .when(later_page),
        Fault::success(
            "search.total/pages",
            "total counts pages.",
            recount(|scene, seen, total, _| {
                let size = page_size(scene, seen);
                (total + size - 1) / size
            }),
        ),
        Fault::success(
            "search.total/at-most-hundred",
            "total never exceeds a hundred.",
            recount(|_, _, total, _| total.min(100)),
        ),
        Fault::success(
            "search.total/rounded-to-pages",
            "total is rounded up to full pages.",
            recount(|scene, seen, total, _| {
                let size = page_size(scene, seen);
                (total + size - 1) / size * size
            }),
        ),
        Fault::success(
            "search.total/nothing-is-one",
            "total is never 0.",
            recount(|_, _, total, _| total.max(1)),
        ),
        Fault::success(
            "search.total/one-more-filtered",
            "With a filter total is one too large.",
            recount(|_, _, total, _| total + 1),
        )
        .when(filtered),
        Fault::success(
            "search.total/one-less-with-three",
            "With more than two filters total is one too small.",
            recount(|_, _, total, _| (total - 1).max(0)),
        )
        .when(|scene, seen| filters(scene, seen) > 2),
        Fault::success(
            "search.total/repeats-counted",
            "total counts repeated items.",
            recount(|scene, seen, total, _| {
                total + i64::try_from(count(scene, seen) - distinct(scene, seen)).unwrap_or_default()
            }),
        ),
        Fault::success(
            "search.total/of-items",
            "With ports total counts the items.",
            recount(|scene, seen, _, _| i64::try_from(count(scene, seen)).unwrap_or_default()),
        )
        .when(|scene, seen| ips(scene, seen).iter().all(|item| has_port(item))),
        of_other(
            "search.total/before-status",
            "total is counted before the status is looked at.",
            |scene, seen| ignore(|search| &search.status)(scene, seen),
        ),
        of_other(
            "search.total/before-group",
            "total is counted before the group is looked at.",
            |scene, seen| ignore(|search| &search.group_id)(scene, seen),
        ),
        of_other(
            "search.total/before-bounds",
            "total is counted before the bounds are looked at.",
            |scene, seen| {
                ignore(|search| &search.activated_from)(scene, seen);
                ignore(|search| &search.activated_to)(scene, seen);
            },
        ),
        Fault::serve(
            "search.total/before-city-of-pair",
            "Beside a country total is counted before the city is looked at.",
            |scene, seen| {
                Box::pin(async move {
                    let mut reply = scene.upstream.call(&seen).await;
                    let city: PropertyGetter = |search| &search.city_code;
                    let country: PropertyGetter = |search| &search.country_code;
                    if scene.operation(&seen).is_some()
                        && asks(city)(scene, &seen)
                        && asks(country)(scene, &seen)
                        && scene.accepted(&seen, &reply)
                    {
                        let mut other = seen.clone();
                        ignore(city)(scene, &mut other);
                        let counted = scene.upstream.call(&other).await.json()["data"]["total"].clone();
                        reply.edit(|body| body["data"]["total"] = counted);
                    }
                    reply
                })
            },
        ),
        Fault::success(
            "search.total/of-second-page",
            "On page 2 total is one too large.",
            recount(|_, _, total, _| total + 1),
        )
        .when(|scene, seen| page(scene, seen) == scene.contract.search.pages.start() + 1),
        Fault::success("search.total/text", "total is a text.", |_, _, body| {
            body["data"]["total"] = json!(total(body).to_string())
        }),
        Fault::success("search.total/negative", "An empty result has the total -1.", |_, _, body| {
            if total(body) == 0 {
                body["data"]["total"] = json!(-1);
            }
        }),
    ]
}
