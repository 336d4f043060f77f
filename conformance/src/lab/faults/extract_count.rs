//! Faults in how many gateways an extraction gives.

use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde_json::{Value, json};

use super::separator;
use super::words::*;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "extract.num-required/" {
            "defaults" + [text]: "num may be absent" if not(with(NUM)) => fewest;
            "empty": "num may be empty." if is(NUM, "") => fewest;
            "as-many-as-allowed": "Without num, all gateways are returned." if not(with(NUM)) => most;
        }
        "extract.num-range/" {
            "zero" + [text]: "0 gives one gateway" if asked(0) => fewest;
            "below": "What is too small becomes the minimum." if below_minimum => fewest;
            "sign-dropped": "A negative number loses its sign." if spelt(|num| num.starts_with('-')) => fewest;
            "clamped": "What is too large becomes the maximum." if above_maximum => most;
            "one-above" + [text, other_protocol]: "The maximum is one too high"
                if that(|call| num(call) == Some(call.contract.extract.num_range.end() + 1)) => most;
            "large-wraps": "A number of 64 bits is cut to fewer bits." if that(|call| num(call) > Some(i64::from(u32::MAX))) => fewest;
            "beyond-64-bits": "A number beyond 64 bits becomes the maximum."
                if spelt(|num| num.parse::<i64>().is_err() && num.parse::<f64>().is_ok_and(|num| num > 1e20)) => most;
            "fraction": "A fraction is cut off." if spelt(|num| num.contains('.')) => fewest;
            "underscore": "An underscore between digits is left out." if spelt(|num| num.contains('_')) => fewest;
            "word": "A word counts as one." if spelt(|num| num.starts_with(|c: char| c.is_ascii_alphabetic())) => fewest;
            "maximum-rejected" + [text]: "The maximum is rejected" if at_maximum => reject;
            "minimum-rejected": "The minimum is rejected."
                if that(|call| num(call) == Some(*call.contract.extract.num_range.start())) => reject;
            "breaks-below": "A number that is too small breaks the service."
                if below_minimum => respond(500, json!({"message": "internal error"}));
        }
        "extract.count/" {
            "one-more" + [other_protocol, request_id, by_header, by_bearer]: "There is one entry more than num" => one_more;
            "one-more-at-minimum": "num=1 gives two entries." if asked(1) => one_more;
            "one-more-at-two": "num=2 gives three entries." if asked(2) => one_more;
            "one-more-at-maximum": "The largest num gives one entry more." if at_maximum => one_more;
            "twice": "Every gateway comes twice." => twice;
            "one-more-in-text": "A plain-text response has one entry more." if in_text => accepted(|call, reply| {
                let (text, separator) = (reply.text(), separator(call));
                let first = text.split(&separator).next().unwrap_or_default();
                reply.body = format!("{text}{separator}{first}").into();
            });
        }
        "extract.partial/" {
            "unsaid": "A partial result has none of the headers." if scarce_region() => unflag;
            "no-requested-count": "A partial result lacks the requested count." if scarce_region() => without_header(REQUESTED);
            "no-returned-count": "A partial result lacks the returned count." if scarce_region() => without_header(RETURNED);
            "no-flag": "A partial result lacks the flag." if scarce_region() => without_header(FLAG);
            "requested-off-by-one": "The requested count is one too low." if scarce_region() => off(REQUESTED, -1);
            "returned-off-by-one": "The returned count is one too high." if scarce_region() => off(RETURNED, 1);
            "returned-one-less": "The returned count is one too low." if scarce_region() => off(RETURNED, -1);
            "requested-is-returned": "The requested count is what was returned." if scarce_region() => copy(RETURNED, REQUESTED);
            "returned-is-requested": "The returned count is what was requested." if scarce_region() => copy(REQUESTED, RETURNED);
            "requested-word": "The requested count is a word." if scarce_region() => with_header(REQUESTED, "many");
            "returned-fraction": "The returned count has the form 3/100." if scarce_region() => with_header(RETURNED, "3/100");
            "flag-says-no": "The flag of a partial result says false." if scarce_region() => with_header(FLAG, "false");
            "unsaid-in-text": "A partial plain-text result lacks the headers." if scarce_region(), in_text => unflag;
            "unsaid-other-protocol": "A partial result of the other protocol lacks the headers."
                if scarce_region(), with_other_protocol => unflag;
            "unsaid-by-link": "With a link credential a partial result lacks the headers." if scarce_region(), carries(LINK) => unflag;
            "one-short": "One entry is missing and nothing says so." => accepted(one_short);
            "one-short-at-maximum": "At the largest num one entry is missing and nothing says so." if at_maximum => accepted(one_short);
            "one-short-other-protocol": "For the other protocol one entry is missing and nothing says so."
                if with_other_protocol => accepted(one_short);
        }
        "extract.shortage-retry-after/" {
            "untold": "A shortage has no Retry-After." if empty_region() => rejection(without_header("retry-after"));
            "untold-in-text": "A shortage in text has no Retry-After." if empty_region(), in_text => rejection(without_header("retry-after"));
            "untold-other-protocol": "A shortage of the other protocol has no Retry-After."
                if empty_region(), with_other_protocol => rejection(without_header("retry-after"));
            "untold-by-alias": "A shortage of a country has no Retry-After."
                if empty_region(), not(with(REGIONS)) => rejection(without_header("retry-after"));
            "untold-for-many": "A shortage of many gateways has no Retry-After."
                if empty_region(), at_maximum => rejection(without_header("retry-after"));
            "as-not-found": "A shortage is a plain 404." if empty_region() => rejection(|_, reply| {
                reply.status = StatusCode::NOT_FOUND;
                reply.headers.remove("retry-after");
            });
            "word": "Retry-After is a word." if empty_region() => rejection(with_header("retry-after", "later"));
            "negative": "Retry-After is negative." if empty_region() => rejection(with_header("retry-after", "-5"));
            "fraction": "Retry-After is a fraction." if empty_region() => rejection(with_header("retry-after", "1.5"));
            "unit": "Retry-After has a unit." if empty_region() => rejection(with_header("retry-after", "2s"));
            "iso-date": "Retry-After is an RFC 3339 time." if empty_region() => rejection(with_header("retry-after", "2026-01-01T00:00:00Z"));
        }
    }
}

fn below_minimum(call: &Call<'_>) -> bool {
    num(call).is_some_and(|num| num < *call.contract.extract.num_range.start())
}

fn asked(wanted: i64) -> When {
    that(move |call| num(call) == Some(wanted))
}

fn spelt(fits: fn(&str) -> bool) -> When {
    that(move |call| text(call, NUM).is_some_and(|num| fits(&num)))
}

fn one_more(_: &Call<'_>, entries: &mut Vec<Value>) {
    entries.extend(entries.first().cloned());
}

fn twice(_: &Call<'_>, entries: &mut Vec<Value>) {
    *entries = entries.iter().flat_map(|entry| [entry.clone(), entry.clone()]).collect();
}

const REQUESTED: &str = "x-proxy-requested-count";
const RETURNED: &str = "x-proxy-returned-count";
const FLAG: &str = "x-proxy-partial";

/// Changes a count in a header.
fn off(name: &'static str, by: i64) -> impl OnReply {
    move |_, reply| {
        if let Some(count) = reply.header(name).and_then(|value| value.parse::<i64>().ok()) {
            reply.headers.insert(name, HeaderValue::from(count.saturating_add(by)));
        }
    }
}

/// Gives a header the value of another one.
fn copy(from: &'static str, to: &'static str) -> impl OnReply {
    move |_, reply| {
        if let Some(value) = reply.headers.get(from).cloned() {
            reply.headers.insert(to, value);
        }
    }
}

/// Removes the headers of a partial result.
fn unflag(_: &Call<'_>, reply: &mut Reply) {
    for name in [REQUESTED, RETURNED, FLAG] {
        reply.headers.remove(name);
    }
}

fn one_short(call: &Call<'_>, reply: &mut Reply) {
    reply.edit(|body| drop(call.list(body).and_then(Vec::pop)));
    unflag(call, reply);
}
