//! Faults in how pages make up a result.

use serde_json::{Value, json};

use super::search::{ORDER, PAGE, SIZE, asks, items, later_page, page, page_size, put, relist, total};
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [partition(), end(), order()].into_iter().flatten().collect()
}

fn partition() -> Vec<Fault> {
    let shifted = |id, breaks, from: i64| {
        // The page is cut out of all instances by hand, from a wrong place.
        Fault::new(id, breaks).serve(move |call| {
            Box::pin(async move {
                let search = &call.contract.search;
                let (number, size) = (page(&call), page_size(&call));
                let mut all = call.clone();
                put(&mut all, PAGE, *search.pages.start());
                put(&mut all, SIZE, *search.page_sizes.end());
                let later = number > *search.pages.start() && size > 1 && call.operation().is_some();
                let mut own = call.send().await;
                if !later || !call.accepted(&own) {
                    return own;
                }
                let whole = all.send().await.json();
                let skipped =
                    usize::try_from((number - search.pages.start()) * size + from).unwrap_or_default();
                let came = whole["data"]["items"].as_array().into_iter().flatten().skip(skipped);
                let came: Vec<Value> =
                    came.take(usize::try_from(size).unwrap_or_default()).cloned().collect();
                own.edit(|body| body["data"]["items"] = json!(came));
                own
            })
        })
    };
    let one_whole = |body: &mut Value, call: &Call<'_>| {
        let size = page_size(call);
        items(body).is_some_and(|items| i64::try_from(items.len()) == Ok(size)) && size > 1
    };
    faults_of![
        "search.paging/",
        shifted("overlap", "Later pages begin with the last instance of the one before.", -1),
        shifted("gap", "Later pages leave one instance out.", 1),
        fault("page-ignored", "Every page is the first.")
            .when(later_page)
            .when(|call| page(call) <= *call.contract.search.pages.end())
            .request(|call| {
                put(call, PAGE, *call.contract.search.pages.start());
            }),
        fault("last-page-lost", "A last page that is not full is empty.").success(|call, body| {
            let later = later_page(call);
            let size = page_size(call);
            if let Some(items) = items(body)
                && later
                && i64::try_from(items.len()).is_ok_and(|came| came < size)
            {
                items.clear();
            }
        }),
        fault("last-full-page-lost", "A last page that is exactly full is empty.").success(
            move |call, body| {
                let last = page(call) * page_size(call) == total(body);
                if later_page(call)
                    && last
                    && one_whole(body, call)
                    && let Some(items) = items(body)
                {
                    items.clear();
                }
            }
        ),
        fault("last-of-last-lost", "The last instance of the last page is lost.").success(|call, body| {
            if later_page(call) && page(call) * page_size(call) >= total(body) {
                drop(items(body).and_then(Vec::pop));
            }
        }),
        fault("first-repeated", "Page 2 begins with an instance twice.").success(|call, body| {
            let second = page(call) == call.contract.search.pages.start() + 1;
            if let Some(items) = items(body)
                && second
                && items.len() > 1
            {
                items[1] = items[0].clone();
            }
        }),
        fault("odd-pages-short", "A full page of odd size lacks its last instance.").success(
            move |call, body| {
                if page_size(call) % 2 == 1 && one_whole(body, call) && page_size(call) < 100 {
                    drop(items(body).and_then(Vec::pop));
                }
            }
        ),
        fault("second-is-third", "Page 2 shows page 3.")
            .when(|call| page(call) == call.contract.search.pages.start() + 1)
            .request(|call| {
                let third = call.contract.search.pages.start() + 2;
                put(call, PAGE, third);
            }),
    ]
}

fn end() -> Vec<Fault> {
    let past = |call: &Call<'_>, reply: &Reply| {
        call.accepted(reply) && reply.json()["data"]["items"] == json!([]) && later_page(call)
    };
    let instead = move |id, breaks, number: fn(i64, i64, i64) -> i64| {
        Fault::new(id, breaks).serve(move |call| {
            Box::pin(async move {
                let mut reply = call.send().await;
                if call.operation().is_some() && past(&call, &reply) {
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
        fault("paging/past-end-renumbered", "Past the end the response says the last page's number.").reply(
            move |call, reply| {
                if past(call, reply) {
                    reply.edit(|body| {
                        body["data"]["page"] = call.contract.search.pages.start().to_owned().into()
                    });
                }
            }
        ),
        fault("paging/past-end-breaks", "A page past the end breaks the server.").reply(
            move |call, reply| {
                if past(call, reply) {
                    *reply = Reply::json_with(500, &json!({"message": "offset"}));
                }
            }
        ),
        fault("total/past-end-zero", "Past the end the total is 0.").reply(move |call, reply| {
            if past(call, reply) {
                reply.edit(|body| body["data"]["total"] = json!(0));
            }
        }),
    ]
}

fn order() -> Vec<Fault> {
    faults_of![
        "search.paging/",
        fault("order-turns", "Every other response is in the other order.").success(|call, body| {
            if call.memory.calls() % 2 == 1
                && let Some(items) = items(body)
            {
                items.reverse();
            }
        }),
        fault("order-turns-on-repeat", "A search that is repeated comes in another order.").success(
            |call, body| {
                if call.memory.calls_of(&call.json().to_string()) == 1
                    && let Some(items) = items(body)
                    && items.len() > 1
                {
                    items.rotate_left(1);
                }
            }
        ),
        fault("order-turns-on-later-pages", "Later pages come in another order when they are repeated.")
            .success(|call, body| {
                let again = later_page(call) && call.memory.calls_of(&call.json().to_string()) > 0;
                if let Some(items) = items(body)
                    && again
                {
                    items.reverse();
                }
            }),
        fault("order-turns-of-an-order", "By order number every other response is in the other order.")
            .when(asks(ORDER))
            .success(|call, body| {
                if call.memory.calls() % 2 == 1
                    && let Some(items) = items(body)
                {
                    items.reverse();
                }
            }),
        fault("found-once-more", "A page shows an instance twice.").success(relist(|items| {
            if let [first, .., last] = &mut items[..] {
                *last = first.clone();
            }
        })),
    ]
}
