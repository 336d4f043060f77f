//! Faults in how many gateways an extraction gives.

use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde_json::{Value, json};

use super::condition::{
    at_maximum, in_text, num, of_empty_region, of_scarce_region, under, with_other_protocol,
};
use super::edit::{respond, with_header, without_header};
use super::separator;
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::fault::ReplyChange;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [required(), range(), count(), partial(), shortage()].into_iter().flatten().collect()
}

fn required() -> Vec<Fault> {
    let sent = |context: &Context, seen: &ProxiedRequest| seen.param(&context.contract.extract.num.name);
    let absent = move |context: &Context, seen: &ProxiedRequest| sent(context, seen).is_none();
    let empty = move |context: &Context, seen: &ProxiedRequest| sent(context, seen).as_deref() == Some("");
    faults_of![
        "extract.num-required/",
        request("defaults", "num may be absent.", fewest).when(absent),
        request("defaults-in-text", "num may be absent in text.", fewest).when(absent).when(in_text),
        request("empty", "num may be empty.", fewest).when(empty),
        request("as-many-as-allowed", "Without num, all gateways are returned.", most).when(absent),
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
    faults_of![
        "extract.num-range/",
        request("zero", "0 gives one gateway.", fewest).when(|context, seen| num(context, seen) == Some(0)),
        request("below", "What is too small becomes the minimum.", fewest).when(below),
        request("sign-dropped", "A negative number loses its sign.", fewest)
            .when(move |context, seen| sent(context, seen).starts_with('-')),
        request("clamped", "What is too large becomes the maximum.", most).when(above),
        request("one-above", "The maximum is one too high.", most).when(just_above),
        request("one-above-other-protocol", "The maximum is one too high for the other protocol.", most)
            .when(just_above)
            .when(with_other_protocol),
        request("one-above-in-text", "The maximum is one too high in text.", most)
            .when(just_above)
            .when(in_text),
        request("zero-in-text", "0 gives one gateway in text.", fewest)
            .when(|context, seen| num(context, seen) == Some(0))
            .when(in_text),
        request("large-wraps", "A number of 64 bits is cut to fewer bits.", fewest)
            .when(|context, seen| num(context, seen).is_some_and(|num| num > i64::from(u32::MAX))),
        request("beyond-64-bits", "A number beyond 64 bits becomes the maximum.", most).when(
            move |context, seen| {
                let sent = sent(context, seen);
                sent.parse::<i64>().is_err() && sent.parse::<f64>().is_ok_and(|sent| sent > 1e20)
            }
        ),
        request("fraction", "A fraction is cut off.", fewest)
            .when(move |context, seen| sent(context, seen).contains('.')),
        request("word", "A word counts as one.", fewest)
            .when(move |context, seen| sent(context, seen).starts_with(|c: char| c.is_ascii_alphabetic())),
        reject("maximum-rejected", "The maximum is rejected.").when(at_maximum),
        reject("minimum-rejected", "The minimum is rejected.")
            .when(move |context, seen| num(context, seen) == Some(minimum(context))),
        reject("maximum-rejected-in-text", "The maximum is rejected in text.").when(at_maximum).when(in_text),
        reply(
            "breaks-below",
            "A number that is too small breaks the service.",
            respond(500, json!({"message": "internal error"}))
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
    let mut faults = faults_of![
        "extract.count/",
        extra("one-more", "There is one entry more than num."),
        extra("one-more-at-minimum", "num=1 gives two entries.").when(asked(1)),
        extra("one-more-at-two", "num=2 gives three entries.").when(asked(2)),
        extra("one-more-at-maximum", "The largest num gives one entry more.").when(at_maximum),
        success("twice", "Every gateway comes twice.", |_, _, body| {
            if let Some(entries) = body["data"].as_array_mut() {
                *entries = entries.iter().flat_map(|entry| [entry.clone(), entry.clone()]).collect();
            }
        }),
        reply("one-more-in-text", "A plain-text response has one entry more.", |context, seen, reply| {
            if context.accepted(seen, reply) {
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                let first = text.split(&separator(context, seen)).next().unwrap_or_default();
                reply.body = format!("{text}{}{first}", separator(context, seen)).into();
            }
        })
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
    faults_of![
        "extract.partial/",
        reply("unsaid", "A partial result has none of the headers.", move |_, _, reply| unflagged(reply))
            .when(of_scarce_region),
        header(
            "no-requested-count",
            "A partial result lacks the requested count.",
            Box::new(without_header(REQUESTED))
        ),
        header(
            "no-returned-count",
            "A partial result lacks the returned count.",
            Box::new(without_header(RETURNED))
        ),
        header("no-flag", "A partial result lacks the flag.", Box::new(without_header(FLAG))),
        header("requested-off-by-one", "The requested count is one too low.", off(REQUESTED, -1)),
        header("returned-off-by-one", "The returned count is one too high.", off(RETURNED, 1)),
        header("returned-one-less", "The returned count is one too low.", off(RETURNED, -1)),
        header(
            "requested-is-returned",
            "The requested count is what was returned.",
            copy(RETURNED, REQUESTED)
        ),
        header(
            "returned-is-requested",
            "The returned count is what was requested.",
            copy(REQUESTED, RETURNED)
        ),
        header("requested-word", "The requested count is a word.", Box::new(with_header(REQUESTED, "many"))),
        header(
            "returned-fraction",
            "The returned count has the form 3/100.",
            Box::new(with_header(RETURNED, "3/100"))
        ),
        header(
            "flag-says-no",
            "The flag of a partial result says false.",
            Box::new(with_header(FLAG, "false"))
        ),
        header(
            "unsaid-in-text",
            "A partial plain-text result lacks the headers.",
            Box::new(move |_, _, reply| unflagged(reply))
        )
        .when(in_text),
        header(
            "unsaid-other-protocol",
            "A partial result of the other protocol lacks the headers.",
            Box::new(move |_, _, reply| unflagged(reply))
        )
        .when(with_other_protocol),
        short("one-short", "One entry is missing and nothing says so."),
        short("one-short-at-maximum", "At the largest num one entry is missing and nothing says so.")
            .when(at_maximum),
        short("one-short-other-protocol", "For the other protocol one entry is missing and nothing says so.")
            .when(with_other_protocol),
    ]
}

fn shortage() -> Vec<Fault> {
    let told = |id, breaks, value: &'static str| {
        Fault::rejection(id, breaks, with_header("retry-after", value)).when(of_empty_region)
    };
    let untold =
        |id, breaks| Fault::rejection(id, breaks, without_header("retry-after")).when(of_empty_region);
    faults_of![
        "extract.shortage-retry-after/",
        untold("untold", "A shortage has no Retry-After."),
        untold("untold-in-text", "A shortage in text has no Retry-After.").when(in_text),
        untold("untold-other-protocol", "A shortage of the other protocol has no Retry-After.")
            .when(with_other_protocol),
        untold("untold-by-alias", "A shortage of a country has no Retry-After.")
            .when(|context, seen| seen.param(&context.contract.extract.regions.name).is_none()),
        untold("untold-for-many", "A shortage of many gateways has no Retry-After.").when(at_maximum),
        rejection("as-not-found", "A shortage is a plain 404.", |_, _, reply| {
            reply.status = StatusCode::NOT_FOUND;
            reply.headers.remove("retry-after");
        })
        .when(of_empty_region),
        told("word", "Retry-After is a word.", "later"),
        told("negative", "Retry-After is negative.", "-5"),
        told("fraction", "Retry-After is a fraction.", "1.5"),
        told("unit", "Retry-After has a unit.", "2s"),
        told("iso-date", "Retry-After is an RFC 3339 time.", "2026-01-01T00:00:00Z"),
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
