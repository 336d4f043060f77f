//! Faults in how many gateways an extraction gives.

use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde_json::json;

use super::condition::{
    NUM, REGIONS, above_maximum, at_maximum, fewest, in_text, is, most, num, of_empty_region,
    of_scarce_region, sent, with_other_protocol,
};
use super::edit::{respond, with_header, without_header};
use super::separator;
use super::token::{LINK_CREDENTIAL, carries};
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [required(), range(), count(), partial(), shortage()].into_iter().flatten().collect()
}

fn required() -> Vec<Fault> {
    let absent = |call: &Call<'_>| sent(call, NUM).is_none();
    faults_of![
        "extract.num-required/",
        fault("defaults", "num may be absent.").when(absent).request(fewest),
        fault("defaults-in-text", "num may be absent in text.").when(absent).when(in_text).request(fewest),
        fault("empty", "num may be empty.").when(is(NUM, "")).request(fewest),
        fault("as-many-as-allowed", "Without num, all gateways are returned.").when(absent).request(most),
    ]
}

fn range() -> Vec<Fault> {
    let below = |call: &Call<'_>| num(call).is_some_and(|num| num < *call.contract.extract.num_range.start());
    let just_above = |call: &Call<'_>| num(call) == Some(call.contract.extract.num_range.end() + 1);
    let spelt = |fits: fn(&str) -> bool| move |call: &Call<'_>| sent(call, NUM).is_some_and(|num| fits(&num));
    faults_of![
        "extract.num-range/",
        fault("zero", "0 gives one gateway.").when(|call| num(call) == Some(0)).request(fewest),
        fault("below", "What is too small becomes the minimum.").when(below).request(fewest),
        fault("sign-dropped", "A negative number loses its sign.")
            .when(spelt(|num| num.starts_with('-')))
            .request(fewest),
        fault("clamped", "What is too large becomes the maximum.").when(above_maximum).request(most),
        fault("one-above", "The maximum is one too high.").when(just_above).request(most),
        fault("one-above-other-protocol", "The maximum is one too high for the other protocol.")
            .when(just_above)
            .when(with_other_protocol)
            .request(most),
        fault("one-above-in-text", "The maximum is one too high in text.")
            .when(just_above)
            .when(in_text)
            .request(most),
        fault("zero-in-text", "0 gives one gateway in text.")
            .when(|call| num(call) == Some(0))
            .when(in_text)
            .request(fewest),
        fault("large-wraps", "A number of 64 bits is cut to fewer bits.")
            .when(|call| num(call) > Some(i64::from(u32::MAX)))
            .request(fewest),
        fault("beyond-64-bits", "A number beyond 64 bits becomes the maximum.")
            .when(spelt(|num| num.parse::<i64>().is_err() && num.parse::<f64>().is_ok_and(|num| num > 1e20)))
            .request(most),
        fault("fraction", "A fraction is cut off.").when(spelt(|num| num.contains('.'))).request(fewest),
        fault("word", "A word counts as one.")
            .when(spelt(|num| num.starts_with(|c: char| c.is_ascii_alphabetic())))
            .request(fewest),
        reject("maximum-rejected", "The maximum is rejected.").when(at_maximum),
        reject("minimum-rejected", "The minimum is rejected.")
            .when(|call| num(call) == Some(*call.contract.extract.num_range.start())),
        reject("maximum-rejected-in-text", "The maximum is rejected in text.").when(at_maximum).when(in_text),
        fault("breaks-below", "A number that is too small breaks the service.")
            .when(below)
            .reply(respond(500, json!({"message": "internal error"}))),
    ]
}

fn count() -> Vec<Fault> {
    let extra =
        |id, breaks| Fault::new(id, breaks).list(|_, entries| entries.extend(entries.first().cloned()));
    let asked = |wanted: i64| move |call: &Call<'_>| num(call) == Some(wanted);
    faults_of![
        "extract.count/",
        extra("one-more", "There is one entry more than num."),
        extra("one-more-at-minimum", "num=1 gives two entries.").when(asked(1)),
        extra("one-more-at-two", "num=2 gives three entries.").when(asked(2)),
        extra("one-more-at-maximum", "The largest num gives one entry more.").when(at_maximum),
        fault("twice", "Every gateway comes twice.").list(|_, entries| {
            *entries = entries.iter().flat_map(|entry| [entry.clone(), entry.clone()]).collect();
        }),
        fault("one-more-in-text", "A plain-text response has one entry more.").when(in_text).reply(
            |call, reply| {
                if call.accepted(reply) {
                    let text = reply.text();
                    let first = text.split(&separator(call)).next().unwrap_or_default();
                    reply.body = format!("{text}{}{first}", separator(call)).into();
                }
            }
        ),
        several("one-more-", "There is one entry more than num", extra).under([
            with_other_protocol,
            with_request_id,
            by_header,
            by_bearer
        ]),
    ]
}

const REQUESTED: &str = "x-proxy-requested-count";
const RETURNED: &str = "x-proxy-returned-count";
const FLAG: &str = "x-proxy-partial";

/// Changes a count in a header.
fn off(name: &'static str, by: i64) -> impl Fn(&Call<'_>, &mut Reply) + Send + Sync {
    move |_, reply| {
        if let Some(count) = reply.header(name).and_then(|value| value.parse::<i64>().ok()) {
            reply.headers.insert(name, HeaderValue::from(count.saturating_add(by)));
        }
    }
}

/// Gives a header the value of another one.
fn copy(from: &'static str, to: &'static str) -> impl Fn(&Call<'_>, &mut Reply) + Send + Sync {
    move |_, reply| {
        if let Some(value) = reply.headers.get(from).cloned() {
            reply.headers.insert(to, value);
        }
    }
}

/// Removes the headers of a partial result.
fn unflagged(_: &Call<'_>, reply: &mut Reply) {
    for name in [REQUESTED, RETURNED, FLAG] {
        reply.headers.remove(name);
    }
}

fn partial() -> Vec<Fault> {
    let header = |id, breaks| Fault::new(id, breaks).when(of_scarce_region);
    let short = |id, breaks| {
        Fault::new(id, breaks).reply(|call, reply| {
            if call.accepted(reply) {
                reply.edit(|body| drop(call.list(body).and_then(Vec::pop)));
                unflagged(call, reply);
            }
        })
    };
    faults_of![
        "extract.partial/",
        header("unsaid", "A partial result has none of the headers.").reply(unflagged),
        header("no-requested-count", "A partial result lacks the requested count.")
            .reply(without_header(REQUESTED)),
        header("no-returned-count", "A partial result lacks the returned count.")
            .reply(without_header(RETURNED)),
        header("no-flag", "A partial result lacks the flag.").reply(without_header(FLAG)),
        header("requested-off-by-one", "The requested count is one too low.").reply(off(REQUESTED, -1)),
        header("returned-off-by-one", "The returned count is one too high.").reply(off(RETURNED, 1)),
        header("returned-one-less", "The returned count is one too low.").reply(off(RETURNED, -1)),
        header("requested-is-returned", "The requested count is what was returned.")
            .reply(copy(RETURNED, REQUESTED)),
        header("returned-is-requested", "The returned count is what was requested.")
            .reply(copy(REQUESTED, RETURNED)),
        header("requested-word", "The requested count is a word.").reply(with_header(REQUESTED, "many")),
        header("returned-fraction", "The returned count has the form 3/100.")
            .reply(with_header(RETURNED, "3/100")),
        header("flag-says-no", "The flag of a partial result says false.").reply(with_header(FLAG, "false")),
        header("unsaid-in-text", "A partial plain-text result lacks the headers.")
            .reply(unflagged)
            .when(in_text),
        header("unsaid-other-protocol", "A partial result of the other protocol lacks the headers.")
            .reply(unflagged)
            .when(with_other_protocol),
        header("unsaid-by-link", "With a link credential a partial result lacks the headers.")
            .reply(unflagged)
            .when(carries(LINK_CREDENTIAL)),
        short("one-short", "One entry is missing and nothing says so."),
        short("one-short-at-maximum", "At the largest num one entry is missing and nothing says so.")
            .when(at_maximum),
        short("one-short-other-protocol", "For the other protocol one entry is missing and nothing says so.")
            .when(with_other_protocol),
    ]
}

fn shortage() -> Vec<Fault> {
    let told = |id, breaks, value: &'static str| {
        Fault::new(id, breaks).when(of_empty_region).rejection(with_header("retry-after", value))
    };
    let untold =
        |id, breaks| Fault::new(id, breaks).when(of_empty_region).rejection(without_header("retry-after"));
    faults_of![
        "extract.shortage-retry-after/",
        untold("untold", "A shortage has no Retry-After."),
        untold("untold-in-text", "A shortage in text has no Retry-After.").when(in_text),
        untold("untold-other-protocol", "A shortage of the other protocol has no Retry-After.")
            .when(with_other_protocol),
        untold("untold-by-alias", "A shortage of a country has no Retry-After.")
            .when(|call| sent(call, REGIONS).is_none()),
        untold("untold-for-many", "A shortage of many gateways has no Retry-After.").when(at_maximum),
        fault("as-not-found", "A shortage is a plain 404.").when(of_empty_region).rejection(|_, reply| {
            reply.status = StatusCode::NOT_FOUND;
            reply.headers.remove("retry-after");
        }),
        told("word", "Retry-After is a word.", "later"),
        told("negative", "Retry-After is negative.", "-5"),
        told("fraction", "Retry-After is a fraction.", "1.5"),
        told("unit", "Retry-After has a unit.", "2s"),
        told("iso-date", "Retry-After is an RFC 3339 time.", "2026-01-01T00:00:00Z"),
    ]
}
