//! Faults in the total.

use serde_json::json;

use super::search::{
    FROM, GROUP, PropertyGetter, STATUS, TO, all_with_ports, asks, count, distinct, filters, ignore,
    later_page, page, page_size, recount, total,
};
use crate::contract::OperationId;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    let filtered = |call: &Call<'_>| filters(call) > 0;
    // The total of the same search with a change.
    let of_other = |id, breaks, change: fn(&mut Call<'_>)| {
        Fault::new(id, breaks).serve(move |call| {
            Box::pin(async move {
                let mut reply = call.send().await;
                if call.operation() == Some(OperationId::Search) && call.accepted(&reply) {
                    let mut other = call.clone();
                    change(&mut other);
                    let counted = other.send().await.json()["data"]["total"].clone();
                    reply.edit(|body| body["data"]["total"] = counted);
                }
                reply
            })
        })
    };
    faults_of![
        "search.total/",
        fault("of-page", "total counts the page.").success(recount(|_, _, came| came)),
        fault("of-later-page", "On later pages total counts the page.")
            .when(later_page)
            .success(recount(|_, _, came| came)),
        fault("left", "On later pages total counts what is left.")
            .when(later_page)
            .success(recount(|call, total, _| { (total - (page(call) - 1) * page_size(call)).max(0) })),
        fault("pages", "total counts pages.").success(recount(|call, total, _| {
            let size = page_size(call);
            (total + size - 1) / size
        })),
        fault("at-most-hundred", "total never exceeds a hundred.")
            .success(recount(|_, total, _| total.min(100))),
        fault("rounded-to-pages", "total is rounded up to full pages.").success(recount(|call, total, _| {
            let size = page_size(call);
            (total + size - 1) / size * size
        })),
        fault("nothing-is-one", "total is never 0.").success(recount(|_, total, _| total.max(1))),
        fault("one-more-filtered", "With a filter total is one too large.")
            .when(filtered)
            .success(recount(|_, total, _| total + 1)),
        fault("one-less-with-three", "With more than two filters total is one too small.")
            .when(|call| filters(call) > 2)
            .success(recount(|_, total, _| (total - 1).max(0))),
        fault("repeats-counted", "total counts repeated items.").success(recount(|call, total, _| {
            total + i64::try_from(count(call) - distinct(call)).unwrap_or_default()
        })),
        fault("of-items", "With ports total counts the items.")
            .when(all_with_ports)
            .success(recount(|call, _, _| i64::try_from(count(call)).unwrap_or_default())),
        of_other("before-status", "total is counted before the status filter is applied.", |call| ignore(
            STATUS
        )(
            call
        )),
        of_other("before-group", "total is counted before the group filter is applied.", |call| {
            ignore(GROUP)(call)
        }),
        of_other("before-bounds", "total is counted before the activation bounds are applied.", |call| {
            ignore(FROM)(call);
            ignore(TO)(call);
        }),
        fault("before-city-of-pair", "Beside a country, total is counted before the city filter is applied.")
            .serve(|call| {
                Box::pin(async move {
                    let mut reply = call.send().await;
                    let city: PropertyGetter = |search| &search.city_code;
                    let country: PropertyGetter = |search| &search.country_code;
                    if call.operation().is_some()
                        && asks(city)(&call)
                        && asks(country)(&call)
                        && call.accepted(&reply)
                    {
                        let mut other = call.clone();
                        ignore(city)(&mut other);
                        let counted = other.send().await.json()["data"]["total"].clone();
                        reply.edit(|body| body["data"]["total"] = counted);
                    }
                    reply
                })
            }),
        fault("of-second-page", "On page 2 total is one too large.")
            .when(|call| page(call) == call.contract.search.pages.start() + 1)
            .success(recount(|_, total, _| total + 1)),
        fault("text", "total is a text.")
            .success(|_, body| { body["data"]["total"] = json!(total(body).to_string()) }),
        fault("negative", "An empty result has the total -1.").success(|_, body| {
            if total(body) == 0 {
                body["data"]["total"] = json!(-1);
            }
        }),
    ]
}
