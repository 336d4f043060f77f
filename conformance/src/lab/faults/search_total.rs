//! Faults in the total.

use serde_json::json;

use super::search::{
    PropertyGetter, asks, count, distinct, filters, has_port, ignore, ips, later_page, page, page_size,
    recount, total,
};
use crate::contract::OperationId;
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    let filtered = |context: &Context, seen: &ProxiedRequest| filters(context, seen) > 0;
    // The total of the same search with a change.
    let of_other = |id, breaks, change: fn(&Context, &mut ProxiedRequest)| {
        Fault::serve(id, breaks, move |context, seen| {
            Box::pin(async move {
                let mut reply = context.upstream.call(&seen).await;
                if context.operation(&seen) == Some(OperationId::Search) && context.accepted(&seen, &reply) {
                    let mut other = seen.clone();
                    change(context, &mut other);
                    let counted = context.upstream.call(&other).await.json()["data"]["total"].clone();
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
            recount(|context, seen, total, _| {
                (total - (page(context, seen) - 1) * page_size(context, seen)).max(0)
            }),
        )
        .when(later_page),
        Fault::success(
            "search.total/pages",
            "total counts pages.",
            recount(|context, seen, total, _| {
                let size = page_size(context, seen);
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
            recount(|context, seen, total, _| {
                let size = page_size(context, seen);
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
        .when(|context, seen| filters(context, seen) > 2),
        Fault::success(
            "search.total/repeats-counted",
            "total counts repeated items.",
            recount(|context, seen, total, _| {
                total + i64::try_from(count(context, seen) - distinct(context, seen)).unwrap_or_default()
            }),
        ),
        Fault::success(
            "search.total/of-items",
            "With ports total counts the items.",
            recount(|context, seen, _, _| i64::try_from(count(context, seen)).unwrap_or_default()),
        )
        .when(|context, seen| ips(context, seen).iter().all(|item| has_port(item))),
        of_other(
            "search.total/before-status",
            "total is counted before the status filter is applied.",
            |context, seen| ignore(|search| &search.status)(context, seen),
        ),
        of_other(
            "search.total/before-group",
            "total is counted before the group filter is applied.",
            |context, seen| ignore(|search| &search.group_id)(context, seen),
        ),
        of_other(
            "search.total/before-bounds",
            "total is counted before the activation bounds are applied.",
            |context, seen| {
                ignore(|search| &search.activated_from)(context, seen);
                ignore(|search| &search.activated_to)(context, seen);
            },
        ),
        Fault::serve(
            "search.total/before-city-of-pair",
            "Beside a country, total is counted before the city filter is applied.",
            |context, seen| {
                Box::pin(async move {
                    let mut reply = context.upstream.call(&seen).await;
                    let city: PropertyGetter = |search| &search.city_code;
                    let country: PropertyGetter = |search| &search.country_code;
                    if context.operation(&seen).is_some()
                        && asks(city)(context, &seen)
                        && asks(country)(context, &seen)
                        && context.accepted(&seen, &reply)
                    {
                        let mut other = seen.clone();
                        ignore(city)(context, &mut other);
                        let counted = context.upstream.call(&other).await.json()["data"]["total"].clone();
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
        .when(|context, seen| page(context, seen) == context.contract.search.pages.start() + 1),
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
