//! Faults in how pages make up a result.

use serde_json::{Value, json};

use super::search::{ORDER, PAGE, SIZE, asks, items, later_page, page, page_size, put, relist, total};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [partition(), end(), order()].into_iter().flatten().collect()
}

fn partition() -> Vec<Fault> {
    let shifted = |id, breaks, from: i64| {
        // The page is cut out of all instances by hand, from a wrong place.
        Fault::serve(id, breaks, move |context, seen| {
            Box::pin(async move {
                let search = &context.contract.search;
                let (number, size) = (page(context, &seen), page_size(context, &seen));
                let mut all = seen.clone();
                put(context, &mut all, PAGE, *search.pages.start());
                put(context, &mut all, SIZE, *search.page_sizes.end());
                let later = number > *search.pages.start() && size > 1 && context.operation(&seen).is_some();
                let mut own = context.upstream.call(&seen).await;
                if !later || !context.accepted(&seen, &own) {
                    return own;
                }
                let whole = context.upstream.call(&all).await.json();
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
    let one_whole = |body: &mut Value, context: &Context, seen: &ProxiedRequest| {
        let size = page_size(context, seen);
        items(body).is_some_and(|items| i64::try_from(items.len()) == Ok(size)) && size > 1
    };
    faults_of![
        "search.paging/",
        shifted("overlap", "Later pages begin with the last instance of the one before.", -1),
        shifted("gap", "Later pages leave one instance out.", 1),
        request("page-ignored", "Every page is the first.", |context, seen| {
            put(context, seen, PAGE, *context.contract.search.pages.start());
        })
        .when(later_page)
        .when(|context, seen| page(context, seen) <= *context.contract.search.pages.end()),
        success("last-page-lost", "A last page that is not full is empty.", |context, seen, body| {
            let later = later_page(context, seen);
            let size = page_size(context, seen);
            if let Some(items) = items(body)
                && later
                && i64::try_from(items.len()).is_ok_and(|came| came < size)
            {
                items.clear();
            }
        }),
        success(
            "last-full-page-lost",
            "A last page that is exactly full is empty.",
            move |context, seen, body| {
                let last = page(context, seen) * page_size(context, seen) == total(body);
                if later_page(context, seen)
                    && last
                    && one_whole(body, context, seen)
                    && let Some(items) = items(body)
                {
                    items.clear();
                }
            }
        ),
        success("last-of-last-lost", "The last instance of the last page is lost.", |context, seen, body| {
            if later_page(context, seen) && page(context, seen) * page_size(context, seen) >= total(body) {
                drop(items(body).and_then(Vec::pop));
            }
        }),
        success("first-repeated", "Page 2 begins with an instance twice.", |context, seen, body| {
            let second = page(context, seen) == context.contract.search.pages.start() + 1;
            if let Some(items) = items(body)
                && second
                && items.len() > 1
            {
                items[1] = items[0].clone();
            }
        }),
        success(
            "odd-pages-short",
            "A full page of odd size lacks its last instance.",
            move |context, seen, body| {
                if page_size(context, seen) % 2 == 1
                    && one_whole(body, context, seen)
                    && page_size(context, seen) < 100
                {
                    drop(items(body).and_then(Vec::pop));
                }
            }
        ),
        request("second-is-third", "Page 2 shows page 3.", |context, seen| {
            let third = context.contract.search.pages.start() + 2;
            put(context, seen, PAGE, third);
        })
        .when(|context, seen| page(context, seen) == context.contract.search.pages.start() + 1),
    ]
}

fn end() -> Vec<Fault> {
    let past = |context: &Context, seen: &ProxiedRequest, reply: &Reply| {
        context.accepted(seen, reply)
            && reply.json()["data"]["items"] == json!([])
            && later_page(context, seen)
    };
    let instead = move |id, breaks, number: fn(&Context, i64, i64) -> i64| {
        Fault::serve(id, breaks, move |context, seen| {
            Box::pin(async move {
                let mut reply = context.upstream.call(&seen).await;
                if context.operation(&seen).is_some() && past(context, &seen, &reply) {
                    let mut other = seen.clone();
                    let number = number(context, total(&reply.json()), page_size(context, &seen));
                    put(context, &mut other, PAGE, number);
                    let shown = context.upstream.call(&other).await.json();
                    reply.edit(|body| body["data"]["items"] = shown["data"]["items"].clone());
                }
                reply
            })
        })
    };
    faults_of![
        "search.",
        instead(
            "paging/past-end-is-last",
            "Past the end the last page comes.",
            |context, total, size| context.contract.search.pages.start() + (total - 1).max(0) / size
        ),
        instead("paging/past-end-is-first", "Past the end the first page comes.", |context, _, _| {
            *context.contract.search.pages.start()
        }),
        reply(
            "paging/past-end-renumbered",
            "Past the end the response says the last page's number.",
            move |context, seen, reply| {
                if past(context, seen, reply) {
                    reply.edit(|body| {
                        body["data"]["page"] = context.contract.search.pages.start().to_owned().into()
                    });
                }
            }
        ),
        reply(
            "paging/past-end-breaks",
            "A page past the end breaks the server.",
            move |context, seen, reply| {
                if past(context, seen, reply) {
                    *reply = Reply::json_with(500, &json!({"message": "offset"}));
                }
            }
        ),
        reply("total/past-end-zero", "Past the end the total is 0.", move |context, seen, reply| {
            if past(context, seen, reply) {
                reply.edit(|body| body["data"]["total"] = json!(0));
            }
        }),
    ]
}

fn order() -> Vec<Fault> {
    faults_of![
        "search.paging/",
        success("order-turns", "Every other response is in the other order.", |context, _, body| {
            if context.memory.calls() % 2 == 1
                && let Some(items) = items(body)
            {
                items.reverse();
            }
        }),
        success(
            "order-turns-on-repeat",
            "A search that is repeated comes in another order.",
            |context, seen, body| {
                if context.memory.calls_of(&seen.json().to_string()) == 1
                    && let Some(items) = items(body)
                    && items.len() > 1
                {
                    items.rotate_left(1);
                }
            }
        ),
        success(
            "order-turns-on-later-pages",
            "Later pages come in another order when they are repeated.",
            |context, seen, body| {
                let again =
                    later_page(context, seen) && context.memory.calls_of(&seen.json().to_string()) > 0;
                if let Some(items) = items(body)
                    && again
                {
                    items.reverse();
                }
            }
        ),
        success(
            "order-turns-of-an-order",
            "By order number every other response is in the other order.",
            |context, _, body| {
                if context.memory.calls() % 2 == 1
                    && let Some(items) = items(body)
                {
                    items.reverse();
                }
            }
        )
        .when(asks(ORDER)),
        success(
            "found-once-more",
            "A page shows an instance twice.",
            relist(|items| {
                if let [first, .., last] = &mut items[..] {
                    *last = first.clone();
                }
            })
        ),
    ]
}
