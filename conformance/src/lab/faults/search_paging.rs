//! Faults in how pages make up a result.

use serde_json::{Value, json};

use super::edit::set;
use super::search::{
    ORDER, PAGE, SIZE, asks, finds_nothing, is_full, items, later_page, page, page_size, put, second_page,
    total,
};
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [partition(), end(), order()].into_iter().flatten().collect()
}

fn partition() -> Vec<Fault> {
    // The page is cut out of all instances by hand, from a wrong place.
    let shifted = |id, breaks, from: i64| {
        Fault::new(id, breaks).when(later_page).when(|call| page_size(call) > 1).compared(
            |call| {
                put(call, PAGE, *call.contract.search.pages.start());
                put(call, SIZE, *call.contract.search.page_sizes.end());
            },
            move |call, whole, body| {
                let size = page_size(call);
                let skipped = (page(call) - call.contract.search.pages.start()) * size + from;
                let came = whole["data"]["items"].as_array().into_iter().flatten();
                let came = came.skip(usize::try_from(skipped).unwrap_or_default());
                let came: Vec<_> = came.take(usize::try_from(size).unwrap_or_default()).collect();
                body["data"]["items"] = json!(came);
            },
        )
    };
    faults_of![
        "search.paging/",
        shifted("overlap", "Later pages begin with the last instance of the one before.", -1),
        shifted("gap", "Later pages leave one instance out.", 1),
        fault("page-ignored", "Every page is the first.")
            .when(later_page)
            .when(|call| page(call) <= *call.contract.search.pages.end())
            .request(|call| put(call, PAGE, *call.contract.search.pages.start())),
        fault("last-page-lost", "A last page that is not full is empty.").when(later_page).list(
            |call, items| {
                if i64::try_from(items.len()).is_ok_and(|came| came < page_size(call)) {
                    items.clear();
                }
            }
        ),
        fault("last-full-page-lost", "A last page that is exactly full is empty.")
            .when(later_page)
            .when(|call| page_size(call) > 1)
            .success(|call, body| {
                let is_last = page(call) * page_size(call) == total(body);
                if let Some(items) = items(body).filter(|items| is_last && is_full(call, items)) {
                    items.clear();
                }
            }),
        fault("last-of-last-lost", "The last instance of the last page is lost.").when(later_page).success(
            |call, body| {
                if page(call) * page_size(call) >= total(body) {
                    drop(items(body).and_then(Vec::pop));
                }
            }
        ),
        fault("first-repeated", "Page 2 begins with an instance twice.").when(second_page).list(
            |_, items| {
                if let [first, second, ..] = &mut items[..] {
                    *second = first.clone();
                }
            }
        ),
        fault("odd-pages-short", "A full page of odd size lacks its last instance.")
            .when(|call| page_size(call) % 2 == 1 && (2..100).contains(&page_size(call)))
            .list(|call, items| {
                if is_full(call, items) {
                    items.pop();
                }
            }),
        fault("second-is-third", "Page 2 shows page 3.").when(second_page).request(|call| put(
            call,
            PAGE,
            call.contract.search.pages.start() + 2
        )),
    ]
}

fn end() -> Vec<Fault> {
    let instead = move |id, breaks, number: fn(i64, i64, i64) -> i64| {
        Fault::new(id, breaks).when(later_page).serve(move |call| {
            Box::pin(async move {
                let mut reply = call.send().await;
                if finds_nothing(&call, &reply) {
                    let mut other = call.clone();
                    let number =
                        number(*call.contract.search.pages.start(), total(&reply.json()), page_size(&call));
                    put(&mut other, PAGE, number);
                    let shown = other.send().await.json();
                    reply.edit(|body| body["data"]["items"] = shown["data"]["items"].clone());
                }
                reply
            })
        })
    };
    faults_of![
        "search.",
        instead("paging/past-end-is-last", "Past the end the last page comes.", |first, total, size| {
            first + (total - 1).max(0) / size
        }),
        instead("paging/past-end-is-first", "Past the end the first page comes.", |first, _, _| first),
        fault("paging/past-end-renumbered", "Past the end the response says the last page's number.")
            .when(later_page)
            .empty(|call, body| body["data"]["page"] = json!(call.contract.search.pages.start())),
        fault("paging/past-end-breaks", "A page past the end breaks the server.").when(later_page).reply(
            |call, reply| {
                if finds_nothing(call, reply) {
                    *reply = Reply::json_with(500, &json!({"message": "offset"}));
                }
            }
        ),
        fault("total/past-end-zero", "Past the end the total is 0.")
            .when(later_page)
            .empty(set("/data/total", 0)),
    ]
}

/// Every other response is in the opposite order.
fn turn(call: &Call<'_>, items: &mut [Value]) {
    if call.memory.calls() % 2 == 1 {
        items.reverse();
    }
}

fn order() -> Vec<Fault> {
    let repeats = |call: &Call<'_>| call.memory.calls_of(&call.json().to_string());
    faults_of![
        "search.paging/",
        fault("order-turns", "Every other response is in the other order.")
            .list(|call, items| turn(call, items)),
        fault("order-turns-on-repeat", "A search that is repeated comes in another order.").list(
            move |call, items| {
                if repeats(call) == 1 && items.len() > 1 {
                    items.rotate_left(1);
                }
            }
        ),
        fault("order-turns-on-later-pages", "Later pages come in another order when they are repeated.")
            .when(later_page)
            .list(move |call, items| {
                if repeats(call) > 0 {
                    items.reverse();
                }
            }),
        fault("order-turns-of-an-order", "By order number every other response is in the other order.")
            .when(asks(ORDER))
            .list(|call, items| turn(call, items)),
        fault("found-once-more", "A page shows an instance twice.").list(|_, items| {
            if let [first, .., last] = &mut items[..] {
                *last = first.clone();
            }
        }),
    ]
}
