//! Faults in the total.

use serde_json::json;

use super::search::{
    FROM, GROUP, PropertyGetter, STATUS, TO, all_with_ports, asks, count, distinct, filters, ignore,
    later_page, page, page_size, recount, total,
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
    faults_of![
        "search.total/",
        success("of-page", "total counts the page.", recount(|_, _, _, came| came)),
        success("of-later-page", "On later pages total counts the page.", recount(|_, _, _, came| came))
            .when(later_page),
        success(
            "left",
            "On later pages total counts what is left.",
            recount(|context, seen, total, _| {
                (total - (page(context, seen) - 1) * page_size(context, seen)).max(0)
            })
        )
        .when(later_page),
        success(
            "pages",
            "total counts pages.",
            recount(|context, seen, total, _| {
                let size = page_size(context, seen);
                (total + size - 1) / size
            })
        ),
        success(
            "at-most-hundred",
            "total never exceeds a hundred.",
            recount(|_, _, total, _| total.min(100))
        ),
        success(
            "rounded-to-pages",
            "total is rounded up to full pages.",
            recount(|context, seen, total, _| {
                let size = page_size(context, seen);
                (total + size - 1) / size * size
            })
        ),
        success("nothing-is-one", "total is never 0.", recount(|_, _, total, _| total.max(1))),
        success(
            "one-more-filtered",
            "With a filter total is one too large.",
            recount(|_, _, total, _| total + 1)
        )
        .when(filtered),
        success(
            "one-less-with-three",
            "With more than two filters total is one too small.",
            recount(|_, _, total, _| (total - 1).max(0))
        )
        .when(|context, seen| filters(context, seen) > 2),
        success(
            "repeats-counted",
            "total counts repeated items.",
            recount(|context, seen, total, _| {
                total + i64::try_from(count(context, seen) - distinct(context, seen)).unwrap_or_default()
            })
        ),
        success(
            "of-items",
            "With ports total counts the items.",
            recount(|context, seen, _, _| i64::try_from(count(context, seen)).unwrap_or_default())
        )
        .when(all_with_ports),
        of_other(
            "before-status",
            "total is counted before the status filter is applied.",
            |context, seen| ignore(STATUS)(context, seen)
        ),
        of_other("before-group", "total is counted before the group filter is applied.", |context, seen| {
            ignore(GROUP)(context, seen)
        }),
        of_other(
            "before-bounds",
            "total is counted before the activation bounds are applied.",
            |context, seen| {
                ignore(FROM)(context, seen);
                ignore(TO)(context, seen);
            }
        ),
        serve(
            "before-city-of-pair",
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
            }
        ),
        success("of-second-page", "On page 2 total is one too large.", recount(|_, _, total, _| total + 1))
            .when(|context, seen| page(context, seen) == context.contract.search.pages.start() + 1),
        success("text", "total is a text.", |_, _, body| {
            body["data"]["total"] = json!(total(body).to_string())
        }),
        success("negative", "An empty result has the total -1.", |_, _, body| {
            if total(body) == 0 {
                body["data"]["total"] = json!(-1);
            }
        }),
    ]
}
