//! Faults in pages, their size and the total.

use serde_json::{Value, json};

use super::edit::set;
use super::search::{
    Which, asks, count, distinct, filters, has_port, ignore, ips, items, later_page, page, page_size, put,
    recount, relist, total, value,
};
use crate::fault::{Fault, Scene};
use crate::proxy::{Reply, Seen};

/// All of them.
pub fn faults() -> Vec<Fault> {
    [number(), size(), echo(), partition(), end(), order(), totals()].into_iter().flatten().collect()
}

const PAGE: Which = |search| &search.page;
const SIZE: Which = |search| &search.page_size;

fn whole(scene: &Scene, seen: &Seen, which: Which) -> Option<i64> {
    value(scene, seen, which)?.as_i64()
}

fn number() -> Vec<Fault> {
    let first = |scene: &Scene| *scene.contract.search.pages.start();
    let last = |scene: &Scene| *scene.contract.search.pages.end();
    let to_first = move |scene: &Scene, seen: &mut Seen| put(scene, seen, PAGE, first(scene));
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
        Fault::request("search.page/first-refused", "The first page is refused.", Scene::refuse)
            .when(move |scene, seen| whole(scene, seen, PAGE) == Some(first(scene))),
        Fault::request(
            "search.page/default-second",
            "Without page the second page comes.",
            move |scene, seen| put(scene, seen, PAGE, first(scene) + 1),
        )
        .when(|scene, seen| value(scene, seen, PAGE).is_none()),
        Fault::success(
            "search.page/default-echoed-as-zero",
            "Without page the answer says page 0.",
            set("/data/page", json!(0)),
        )
        .when(|scene, seen| value(scene, seen, PAGE).is_none()),
        Fault::request("search.page/required", "page must be sent.", Scene::refuse).when(|scene, seen| {
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
    let to_most = move |scene: &Scene, seen: &mut Seen| put(scene, seen, SIZE, most(scene));
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
        Fault::request("search.page-size/most-refused", "The largest size is refused.", Scene::refuse)
            .when(move |scene, seen| whole(scene, seen, SIZE) == Some(most(scene))),
        Fault::request("search.page-size/least-refused", "The smallest size is refused.", Scene::refuse)
            .when(move |scene, seen| whole(scene, seen, SIZE) == Some(least(scene))),
        Fault::success(
            "search.page-size/default-ten",
            "Without pageSize a page holds ten.",
            relist(|items| items.truncate(10)),
        )
        .when(|scene, seen| value(scene, seen, SIZE).is_none()),
        Fault::request(
            "search.page-size/default-fifty",
            "Without pageSize a page holds fifty, which the answer says.",
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
            "The answer always says page 1.",
            set("/data/page", json!(1)),
        ),
        Fault::success(
            "search.paging/page-from-zero",
            "The answer counts pages from 0.",
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
            "The answer always says the default size.",
            |scene, _, body| {
                body["data"]["pageSize"] = json!(scene.contract.search.default_page_size);
            },
        ),
    ]
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
    let one_whole = |body: &mut Value, scene: &Scene, seen: &Seen| {
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
    let past = |scene: &Scene, seen: &Seen, reply: &Reply| {
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
            "Past the end the answer says the last page's number.",
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
            "Every other answer is in the other order.",
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

fn totals() -> Vec<Fault> {
    let filtered = |scene: &Scene, seen: &Seen| filters(scene, seen) > 0;
    // The total of the same search with a change.
    let of_other = |id, breaks, change: fn(&Scene, &mut Seen)| {
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
                    let city: Which = |search| &search.city_code;
                    let country: Which = |search| &search.country_code;
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
