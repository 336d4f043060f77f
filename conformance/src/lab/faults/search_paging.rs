//! Faults in how pages make up a result.

use serde_json::{Value, json};

use super::search::{PAGE, SIZE, items, later_page, page, page_size, put, relist, total};
use crate::fault::{Fault, Scene};
use crate::proxy::{ProxiedRequest, Reply};

/// All of them.
pub fn faults() -> Vec<Fault> {
    [partition(), end(), order()].into_iter().flatten().collect()
}

fn partition() -> Vec<Fault> {
    let shifted = |id, breaks, from: i64| {
        // The page is cut out of all instances by hand, from a wrong place.
        Fault::serve(id, breaks, move |scene, seen| {
            Box::pin(async move {
                let search = &scene.contract.search;
                let (number, size) = (page(scene, &seen), page_size(scene, &seen));
                let mut all = seen.clone();
                put(scene, &mut all, PAGE, *search.pages.start());
                put(scene, &mut all, SIZE, *search.page_sizes.end());
                let later = number > *search.pages.start() && size > 1 && scene.operation(&seen).is_some();
                let mut own = scene.upstream.call(&seen).await;
                if !later || !scene.accepted(&seen, &own) {
                    return own;
                }
                let whole = scene.upstream.call(&all).await.json();
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
    let one_whole = |body: &mut Value, scene: &Scene, seen: &ProxiedRequest| {
        let size = page_size(scene, seen);
        items(body).is_some_and(|items| i64::try_from(items.len()) == Ok(size)) && size > 1
    };
    vec![
        shifted("search.paging/overlap", "Later pages begin with the last instance of the one before.", -1),
        shifted("search.paging/gap", "Later pages leave one instance out.", 1),
        Fault::request("search.paging/page-ignored", "Every page is the first.", |scene, seen| {
            put(scene, seen, PAGE, *scene.contract.search.pages.start());
        })
        .when(later_page)
        .when(|scene, seen| page(scene, seen) <= *scene.contract.search.pages.end()),
        Fault::success(
            "search.paging/last-page-lost",
            "A last page that is not full is empty.",
            |scene, seen, body| {
                let later = later_page(scene, seen);
                let size = page_size(scene, seen);
                if let Some(items) = items(body)
                    && later
                    && i64::try_from(items.len()).is_ok_and(|came| came < size)
                {
                    items.clear();
                }
            },
        ),
        Fault::success(
            "search.paging/last-full-page-lost",
            "A last page that is exactly full is empty.",
            move |scene, seen, body| {
                let last = page(scene, seen) * page_size(scene, seen) == total(body);
                if later_page(scene, seen)
                    && last
                    && one_whole(body, scene, seen)
                    && let Some(items) = items(body)
                {
                    items.clear();
                }
            },
        ),
        Fault::success(
            "search.paging/last-of-last-lost",
            "The last instance of the last page is lost.",
            |scene, seen, body| {
                if later_page(scene, seen) && page(scene, seen) * page_size(scene, seen) >= total(body) {
                    drop(items(body).and_then(Vec::pop));
                }
            },
        ),
        Fault::success(
            "search.paging/first-repeated",
            "Page 2 begins with an instance twice.",
            |scene, seen, body| {
                let second = page(scene, seen) == scene.contract.search.pages.start() + 1;
                if let Some(items) = items(body)
                    && second
                    && items.len() > 1
                {
                    items[1] = items[0].clone();
                }
            },
        ),
        Fault::success(
            "search.paging/odd-pages-short",
            "A full page of odd size lacks its last instance.",
            move |scene, seen, body| {
                if page_size(scene, seen) % 2 == 1
                    && one_whole(body, scene, seen)
                    && page_size(scene, seen) < 100
                {
                    drop(items(body).and_then(Vec::pop));
                }
            },
        ),
        Fault::request("search.paging/second-is-third", "Page 2 shows page 3.", |scene, seen| {
            let third = scene.contract.search.pages.start() + 2;
            put(scene, seen, PAGE, third);
        })
        .when(|scene, seen| page(scene, seen) == scene.contract.search.pages.start() + 1),
    ]
}

fn end() -> Vec<Fault> {
    let past = |scene: &Scene, seen: &ProxiedRequest, reply: &Reply| {
        scene.accepted(seen, reply) && reply.json()["data"]["items"] == json!([]) && later_page(scene, seen)
    };
    let instead = move |id, breaks, number: fn(&Scene, i64, i64) -> i64| {
        Fault::serve(id, breaks, move |scene, seen| {
            Box::pin(async move {
                let mut reply = scene.upstream.call(&seen).await;
                if scene.operation(&seen).is_some() && past(scene, &seen, &reply) {
                    let mut other = seen.clone();
                    let number = number(scene, total(&reply.json()), page_size(scene, &seen));
                    put(scene, &mut other, PAGE, number);
                    let shown = scene.upstream.call(&other).await.json();
                    reply.edit(|body| body["data"]["items"] = shown["data"]["items"].clone());
                }
                reply
            })
        })
    };
    vec![
        instead(
            "search.paging/past-end-is-last",
            "Past the end the last page comes.",
            |scene, total, size| scene.contract.search.pages.start() + (total - 1).max(0) / size,
        ),
        instead("search.paging/past-end-is-first", "Past the end the first page comes.", |scene, _, _| {
            *scene.contract.search.pages.start()
        }),
        Fault::reply(
            "search.paging/past-end-renumbered",
            "Past the end the response says the last page's number.",
            move |scene, seen, reply| {
                if past(scene, seen, reply) {
                    reply.edit(|body| {
                        body["data"]["page"] = scene.contract.search.pages.start().to_owned().into()
                    });
                }
            },
        ),
        Fault::reply(
            "search.paging/past-end-breaks",
            "A page past the end breaks the server.",
            move |scene, seen, reply| {
                if past(scene, seen, reply) {
                    *reply = Reply::json_with(500, &json!({"message": "offset"}));
                }
            },
        ),
        Fault::reply(
            "search.total/past-end-zero",
            "Past the end the total is 0.",
            move |scene, seen, reply| {
                if past(scene, seen, reply) {
                    reply.edit(|body| body["data"]["total"] = json!(0));
                }
            },
        ),
    ]
}

fn order() -> Vec<Fault> {
    vec![
        Fault::success(
            "search.paging/order-turns",
            "Every other response is in the other order.",
            |scene, _, body| {
                if scene.memory.calls() % 2 == 1
                    && let Some(items) = items(body)
                {
                    items.reverse();
                }
            },
        ),
        Fault::success(
            "search.paging/order-turns-on-repeat",
            "A search that is repeated comes in another order.",
            |scene, seen, body| {
                if scene.memory.calls_of(&seen.json().to_string()) == 1
                    && let Some(items) = items(body)
                    && items.len() > 1
                {
                    items.rotate_left(1);
                }
            },
        ),
        Fault::success(
            "search.paging/order-turns-on-later-pages",
            "Later pages come in another order when they are repeated.",
            |scene, seen, body| {
                let again = later_page(scene, seen) && scene.memory.calls_of(&seen.json().to_string()) > 0;
                if let Some(items) = items(body)
                    && again
                {
                    items.reverse();
                }
            },
        ),
        Fault::success(
            "search.paging/found-once-more",
            "A page shows an instance twice.",
            relist(|items| {
                if let [first, .., last] = &mut items[..] {
                    *last = first.clone();
                }
            }),
        ),
    ]
}
