//! Faults in how many gateways an extraction gives.

use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde_json::{Value, json};

use super::condition::{
    at_maximum, in_text, num, of_empty_region, of_scarce_region, under, with_other_protocol,
};
use super::edit::{with_header, without_header};
use super::separator;
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::fault::ReplyChange;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [required(), range(), count(), partial(), shortage()].into_iter().flatten().collect()
}

fn required() -> Vec<Fault> {
    let name = |context: &Context| context.contract.extract.num.name.clone();
    let absent = move |context: &Context, seen: &ProxiedRequest| seen.param(&name(context)).is_none();
    let empty =
        move |context: &Context, seen: &ProxiedRequest| seen.param(&name(context)).as_deref() == Some("");
    vec![
        Fault::request("extract.num-required/defaults", "num may be absent.", fewest).when(absent),
        Fault::request("extract.num-required/defaults-in-text", "num may be absent in text.", fewest)
            .when(absent)
            .when(in_text),
        Fault::request("extract.num-required/empty", "num may be empty.", fewest).when(empty),
        Fault::request(
            "extract.num-required/as-many-as-allowed",
            "Without num, all gateways are returned.",
            most,
        )
        .when(absent),
    ]
}

fn range() -> Vec<Fault> {
    let minimum = |context: &Context| *context.contract.extract.num_range.start();
    let maximum = |context: &Context| *context.contract.extract.num_range.end();
    let below = move |context: &Context, seen: &ProxiedRequest| {
        num(context, seen).is_some_and(|num| num < minimum(context))
    };
    let above = move |context: &Context, seen: &ProxiedRequest| {
        num(context, seen).is_some_and(|num| num > maximum(context))
    };
    let just_above =
        move |context: &Context, seen: &ProxiedRequest| num(context, seen) == Some(maximum(context) + 1);
    let sent = |context: &Context, seen: &ProxiedRequest| {
        seen.param(&context.contract.extract.num.name).unwrap_or_default()
    };
    vec![
        Fault::request("extract.num-range/zero", "0 gives one gateway.", fewest)
            .when(|context, seen| num(context, seen) == Some(0)),
        Fault::request("extract.num-range/below", "What is too small becomes the minimum.", fewest)
            .when(below),
        Fault::request("extract.num-range/sign-dropped", "A negative number loses its sign.", fewest)
            .when(move |context, seen| sent(context, seen).starts_with('-')),
        Fault::request("extract.num-range/clamped", "What is too large becomes the maximum.", most)
            .when(above),
        Fault::request("extract.num-range/one-above", "The maximum is one too high.", most).when(just_above),
        Fault::request(
            "extract.num-range/one-above-other-protocol",
            "The maximum is one too high for the other protocol.",
            most,
        )
        .when(just_above)
        .when(with_other_protocol),
        Fault::request("extract.num-range/one-above-in-text", "The maximum is one too high in text.", most)
            .when(just_above)
            .when(in_text),
        Fault::request("extract.num-range/zero-in-text", "0 gives one gateway in text.", fewest)
            .when(|context, seen| num(context, seen) == Some(0))
            .when(in_text),
        Fault::request("extract.num-range/large-wraps", "A number of 64 bits is cut to fewer bits.", fewest)
            .when(|context, seen| num(context, seen).is_some_and(|num| num > i64::from(u32::MAX))),
        Fault::request(
            "extract.num-range/beyond-64-bits",
            "A number beyond 64 bits becomes the maximum.",
            most,
        )
        .when(move |context, seen| {
            let sent = sent(context, seen);
            sent.parse::<i64>().is_err() && sent.parse::<f64>().is_ok_and(|sent| sent > 1e20)
        }),
        Fault::request("extract.num-range/fraction", "A fraction is cut off.", fewest)
            .when(move |context, seen| sent(context, seen).contains('.')),
        Fault::request("extract.num-range/word", "A word counts as one.", fewest)
            .when(move |context, seen| sent(context, seen).starts_with(|c: char| c.is_ascii_alphabetic())),
        Fault::request("extract.num-range/maximum-rejected", "The maximum is rejected.", Context::reject)
            .when(at_maximum),
        Fault::request("extract.num-range/minimum-rejected", "The minimum is rejected.", Context::reject)
            .when(move |context, seen| num(context, seen) == Some(minimum(context))),
        Fault::request(
            "extract.num-range/maximum-rejected-in-text",
            "The maximum is rejected in text.",
            Context::reject,
        )
        .when(at_maximum)
        .when(in_text),
        Fault::reply(
            "extract.num-range/breaks-below",
            "A number that is too small breaks the service.",
            |_, _, reply| {
                *reply = Reply::json_with(500, &json!({"message": "internal error"}));
            },
        )
        .when(below),
    ]
}

fn count() -> Vec<Fault> {
    let one_more = |_: &Context, _: &ProxiedRequest, body: &mut Value| {
        if let Some(entries) = body["data"].as_array_mut() {
            entries.extend(entries.first().cloned());
        }
    };
    let extra = |id, breaks| Fault::success(id, breaks, one_more);
    let asked =
        |wanted: i64| move |context: &Context, seen: &ProxiedRequest| num(context, seen) == Some(wanted);
    let mut faults = vec![
        extra("extract.count/one-more", "There is one entry more than num."),
        extra("extract.count/one-more-at-minimum", "num=1 gives two entries.").when(asked(1)),
        extra("extract.count/one-more-at-two", "num=2 gives three entries.").when(asked(2)),
        extra("extract.count/one-more-at-maximum", "The largest num gives one entry more.").when(at_maximum),
        Fault::success("extract.count/twice", "Every gateway comes twice.", |_, _, body| {
            if let Some(entries) = body["data"].as_array_mut() {
                *entries = entries.iter().flat_map(|entry| [entry.clone(), entry.clone()]).collect();
            }
        }),
        Fault::reply(
            "extract.count/one-more-in-text",
            "A plain-text response has one entry more.",
            |context, seen, reply| {
                if context.accepted(seen, reply) {
                    let text = String::from_utf8_lossy(&reply.body).into_owned();
                    let first = text.split(&separator(context, seen)).next().unwrap_or_default();
                    reply.body = format!("{text}{}{first}", separator(context, seen)).into();
                }
            },
        )
        .when(in_text),
    ];
    faults.extend(under!(
        extra,
        "extract.count/one-more-",
        "There is one entry more than num",
        [with_other_protocol, with_request_id, by_header, by_bearer]
    ));
    faults
}

fn partial() -> Vec<Fault> {
    const REQUESTED: &str = "x-proxy-requested-count";
    const RETURNED: &str = "x-proxy-returned-count";
    const FLAG: &str = "x-proxy-partial";
    let header = |id, breaks, change: ReplyChange| Fault::reply(id, breaks, change).when(of_scarce_region);
    let off = |name: &'static str, by: i64| -> ReplyChange {
        Box::new(move |_, _, reply| {
            let count = reply.headers.get(name).and_then(|value| value.to_str().ok()?.parse::<i64>().ok());
            if let Some(count) = count {
                reply.headers.insert(name, HeaderValue::from(count + by));
            }
        })
    };
    let copy = |from: &'static str, to: &'static str| -> ReplyChange {
        Box::new(move |_, _, reply| {
            if let Some(value) = reply.headers.get(from).cloned() {
                reply.headers.insert(to, value);
            }
        })
    };
    let unflagged = |reply: &mut Reply| {
        for name in [REQUESTED, RETURNED, FLAG] {
            reply.headers.remove(name);
        }
    };
    let short = move |id, breaks| {
        Fault::reply(id, breaks, move |context, seen, reply| {
            if context.accepted(seen, reply) {
                reply.edit(|body| {
                    if let Some(entries) = body["data"].as_array_mut() {
                        entries.pop();
                    }
                });
                unflagged(reply);
            }
        })
    };
    vec![
        Fault::reply(
            "extract.partial/unsaid",
            "A partial result has none of the headers.",
            move |_, _, reply| unflagged(reply),
        )
        .when(of_scarce_region),
        header(
            "extract.partial/no-requested-count",
            "A partial result lacks the requested count.",
            Box::new(without_header(REQUESTED)),
        ),
        header(
            "extract.partial/no-returned-count",
            "A partial result lacks the returned count.",
            Box::new(without_header(RETURNED)),
        ),
        header("extract.partial/no-flag", "A partial result lacks the flag.", Box::new(without_header(FLAG))),
        header(
            "extract.partial/requested-off-by-one",
            "The requested count is one too low.",
            off(REQUESTED, -1),
        ),
        header(
            "extract.partial/returned-off-by-one",
            "The returned count is one too high.",
            off(RETURNED, 1),
        ),
        header("extract.partial/returned-one-less", "The returned count is one too low.", off(RETURNED, -1)),
        header(
            "extract.partial/requested-is-returned",
            "The requested count is what was returned.",
            copy(RETURNED, REQUESTED),
        ),
        header(
            "extract.partial/returned-is-requested",
            "The returned count is what was requested.",
            copy(REQUESTED, RETURNED),
        ),
        header(
            "extract.partial/requested-word",
            "The requested count is a word.",
            Box::new(with_header(REQUESTED, "many")),
        ),
        header(
            "extract.partial/returned-fraction",
            "The returned count has the form 3/100.",
            Box::new(with_header(RETURNED, "3/100")),
        ),
        header(
            "extract.partial/flag-says-no",
            "The flag of a partial result says false.",
            Box::new(with_header(FLAG, "false")),
        ),
        header(
            "extract.partial/unsaid-in-text",
            "A partial plain-text result lacks the headers.",
            Box::new(move |_, _, reply| unflagged(reply)),
        )
        .when(in_text),
        header(
            "extract.partial/unsaid-other-protocol",
            "A partial result of the other protocol lacks the headers.",
            Box::new(move |_, _, reply| unflagged(reply)),
        )
        .when(with_other_protocol),
        short("extract.partial/one-short", "One entry is missing and nothing says so."),
        short(
            "extract.partial/one-short-at-maximum",
            "At the largest num one entry is missing and nothing says so.",
        )
        .when(at_maximum),
        short(
            "extract.partial/one-short-other-protocol",
            "For the other protocol one entry is missing and nothing says so.",
        )
        .when(with_other_protocol),
    ]
}

fn shortage() -> Vec<Fault> {
    let told = |id, breaks, value: &'static str| {
        Fault::rejection(id, breaks, with_header("retry-after", value)).when(of_empty_region)
    };
    let untold =
        |id, breaks| Fault::rejection(id, breaks, without_header("retry-after")).when(of_empty_region);
    vec![
        untold("extract.shortage-retry-after/untold", "A shortage has no Retry-After."),
        untold("extract.shortage-retry-after/untold-in-text", "A shortage in text has no Retry-After.")
            .when(in_text),
        untold(
            "extract.shortage-retry-after/untold-other-protocol",
            "A shortage of the other protocol has no Retry-After.",
        )
        .when(with_other_protocol),
        untold("extract.shortage-retry-after/untold-by-alias", "A shortage of a country has no Retry-After.")
            .when(|context, seen| seen.param(&context.contract.extract.regions.name).is_none()),
        untold(
            "extract.shortage-retry-after/untold-for-many",
            "A shortage of many gateways has no Retry-After.",
        )
        .when(at_maximum),
        Fault::rejection(
            "extract.shortage-retry-after/as-not-found",
            "A shortage is a plain 404.",
            |_, _, reply| {
                reply.status = StatusCode::NOT_FOUND;
                reply.headers.remove("retry-after");
            },
        )
        .when(of_empty_region),
        told("extract.shortage-retry-after/word", "Retry-After is a word.", "later"),
        told("extract.shortage-retry-after/negative", "Retry-After is negative.", "-5"),
        told("extract.shortage-retry-after/fraction", "Retry-After is a fraction.", "1.5"),
        told("extract.shortage-retry-after/unit", "Retry-After has a unit.", "2s"),
        told(
            "extract.shortage-retry-after/iso-date",
            "Retry-After is an RFC 3339 time.",
            "2026-01-01T00:00:00Z",
        ),
    ]
}

fn fewest(context: &Context, seen: &mut ProxiedRequest) {
    let extract = &context.contract.extract;
    seen.set_param(&extract.num.name, &extract.num_range.start().to_string());
}

fn most(context: &Context, seen: &mut ProxiedRequest) {
    let extract = &context.contract.extract;
    seen.set_param(&extract.num.name, &extract.num_range.end().to_string());
}
