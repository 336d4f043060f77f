//! Faults in the total.

use serde_json::Value;
use serde_json::json;

use super::edit::change;
use super::search::{
    CITY, COUNTRY, GROUP, STATUS, all_with_ports, asks, count, distinct, filtered, filters, ignore,
    ignore_bounds, later_page, page, page_size, recount, second_page,
};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    // The total of the same search with a change.
    let take_total = |_: &Call<'_>, other: &Value, body: &mut Value| {
        body["data"]["total"] = other["data"]["total"].clone()
    };
    let of_page = || recount(|_, _, came| came);
    let one_more = || recount(|_, total, _| total + 1);
    let pages = |call: &Call<'_>, total: i64| (total + page_size(call) - 1) / page_size(call);
    faults_of![
        "search.total/",
        fault("of-page", "total counts the page.").success(of_page()),
        fault("of-later-page", "On later pages total counts the page.").when(later_page).success(of_page()),
        fault("left", "On later pages total counts what is left.")
            .when(later_page)
            .success(recount(|call, total, _| (total - (page(call) - 1) * page_size(call)).max(0))),
        fault("pages", "total counts pages.").success(recount(move |call, total, _| pages(call, total))),
        fault("at-most-hundred", "total never exceeds a hundred.")
            .success(recount(|_, total, _| total.min(100))),
        fault("rounded-to-pages", "total is rounded up to full pages.")
            .success(recount(move |call, total, _| pages(call, total) * page_size(call))),
        fault("nothing-is-one", "total is never 0.").success(recount(|_, total, _| total.max(1))),
        fault("one-more-filtered", "With a filter total is one too large.")
            .when(filtered)
            .success(one_more()),
        fault("one-less-with-three", "With more than two filters total is one too small.")
            .when(|call| filters(call) > 2)
            .success(recount(|_, total, _| (total - 1).max(0))),
        fault("repeats-counted", "total counts repeated items.").success(recount(|call, total, _| {
            total + i64::try_from(count(call) - distinct(call)).unwrap_or_default()
        })),
        fault("of-items", "With ports total counts the items.")
            .when(all_with_ports)
            .success(recount(|call, _, _| i64::try_from(count(call)).unwrap_or_default())),
        fault("before-status", "total is counted before the status filter is applied.")
            .compared(ignore(STATUS), take_total),
        fault("before-group", "total is counted before the group filter is applied.")
            .compared(ignore(GROUP), take_total),
        fault("before-bounds", "total is counted before the activation bounds are applied.")
            .compared(ignore_bounds, take_total),
        fault("before-city-of-pair", "Beside a country, total is counted before the city filter is applied.")
            .when(asks(CITY))
            .when(asks(COUNTRY))
            .compared(ignore(CITY), take_total),
        fault("of-second-page", "On page 2 total is one too large.").when(second_page).success(one_more()),
        fault("text", "total is a string.")
            .success(change("/data/total", |total| *total = json!(total.to_string()))),
        fault("negative", "An empty result has the total -1.")
            .success(recount(|_, total, _| if total == 0 { -1 } else { total })),
    ]
}
