//! Faults in the bounds on the activation time.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::words::*;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "search.activated-range/" {
            "from-exclusive": "The lower bound is not included." => moved(FROM, later);
            "to-exclusive": "The upper bound is not included." => moved(TO, earlier);
            "equal-finds-nothing": "Equal bounds find nothing." if bounds(|from, to| from == to) => find_nothing;
            "from-ignored-alone": "The lower bound alone is ignored." if not(texts(TO)) => ignore(FROM);
            "to-ignored-alone": "The upper bound alone is ignored." if not(texts(FROM)) => ignore(TO);
            "to-ignored-beside-from": "Of two bounds the lower one counts."
                if texts(FROM), that(|call| time(call, FROM) <= time(call, TO)) => ignore(TO);
            "from-needs-to": "The lower bound alone is rejected." if texts(FROM), not(texts(TO)) => reject;
            "to-needs-from": "The upper bound alone is rejected." if texts(TO), not(texts(FROM)) => reject;
            "ipv6-lost": "A bound finds no IPv6 instances." if with(FROM) => lose_v6;
            "by-expiry": "The upper bound is compared with the expiry as well." if with(TO) => lose(|_, item| item["expiresAt"].is_null());
            "midnight-to-end-of-day": "An upper bound at midnight stands for the whole day."
                => moved(TO, |_, time| if is_midnight(time) { time.checked_add(DAY - NANOSECOND).ok() } else { None });
            "midnight-excluded": "A lower bound at midnight is not included."
                => moved(FROM, |text, time| if is_midnight(time) { later(text, time) } else { None });
            "from-beyond-included": "The lower bound includes the nanosecond before." => moved(FROM, earlier);
            "to-beyond-included": "The upper bound includes the nanosecond after." => moved(TO, later);
            "to-cut-to-seconds": "The upper bound is cut to seconds." => moved(TO, whole_seconds);
            "from-cut-to-seconds": "The lower bound is cut to seconds." => moved(FROM, whole_seconds);
            "to-cut-to-milliseconds": "The upper bound is cut to milliseconds."
                => moved(TO, |_, time| Timestamp::from_millisecond(time.as_millisecond()).ok());
            "from-cut-to-microseconds": "The lower bound is cut to microseconds."
                => moved(FROM, |_, time| Timestamp::from_microsecond(time.as_microsecond()).ok());
            "from-rounded-up": "The lower bound is rounded up to seconds." => moved(FROM, |text, time| {
                let second = whole_seconds(text, time)?;
                if second < time { second.checked_add(SECOND).ok() } else { Some(second) }
            });
            "to-whole-day": "The upper bound reaches to the end of its day."
                => moved(TO, |_, time| Timestamp::from_second((day(time) + 1) * 86_400 - 1).ok());
            "from-offset-ignored": "The offset of the lower bound is ignored." => moved(FROM, local);
            "to-offset-ignored": "The offset of the upper bound is ignored." => moved(TO, local);
            "from-offset-reversed": "The offset of the lower bound is added where it is to be taken away."
                => moved(FROM, |text, time| local(text, local(text, time)?));
            "to-half-hours-lost": "Of an offset of the upper bound the minutes are ignored." => moved(TO, without_minutes);
            "from-half-hours-lost": "Of an offset of the lower bound the minutes are ignored." => moved(FROM, without_minutes);
            "from-negative-offset-taken-positive": "A negative offset of the lower bound is taken for a positive one."
                => moved(FROM, |text, time| {
                    offset(text).filter(SignedDuration::is_negative)?;
                    local(text, local(text, time)?)
                });
            "to-negative-half-hour": "The minutes of a negative offset of the upper bound are added." => moved(TO, |text, time| {
                offset(text).filter(SignedDuration::is_negative)?;
                without_minutes(text, without_minutes(text, time)?)
            });
            "to-day-not-carried": "An offset of the upper bound that passes midnight loses the day." => moved(TO, |text, time| {
                let days = day(local(text, time)?) - day(time);
                time.checked_add(SignedDuration::from_secs(days * 86_400)).ok()
            });
            "from-fraction-lost-with-offset": "With an offset the lower bound loses its fraction." => moved(FROM, |text, time| {
                offset(text)?;
                let second = whole_seconds(text, time)?;
                second.checked_add(SECOND).ok().filter(|_| second < time)
            });
            "offset-rejected": "Only UTC is accepted." if any_bound(|text| offset(text).is_some()) => reject;
            "never-is-early": "An instance that was never activated matches an upper bound." if texts(TO), not(texts(FROM)) => show_never_activated();
            "never-is-late": "An instance that was never activated matches a lower bound." if texts(FROM), not(texts(TO)) => show_never_activated();
            "never-is-between": "An instance that was never activated matches two bounds." if with(FROM), with(TO) => show_never_activated();
            "never-is-late-with-ports": "With ports, what was never activated matches a lower bound."
                if with(FROM), all_with_ports => show_never_activated();
            "remembered-without-offset": "A result is remembered under the lower bound without its offset."
                if any_bound(|text| offset(text).is_some()), not(texts(TO)) => success(|call, body| {
                    let mut key = call.json().clone();
                    key[FROM.name(call)] = json!(text(call, FROM).map(|from| from[..from.len() - "+00:00".len()].to_owned()));
                    match call.memory.recall(&key.to_string()) {
                        Some(earlier) => *body = earlier.json(),
                        None => call.memory.keep(&key.to_string(), &Reply::json_with(200, body)),
                    }
                });
            "from-zoneless": "A lower bound without a zone is taken for UTC." => in_utc(FROM);
            "to-zoneless": "An upper bound without a zone is taken for UTC." => in_utc(TO);
            "date": "A date is taken for an instant." => ignore_texts(|text| text.len() == 10);
            "word": "A bound that is a word is ignored." => ignore_texts(|text| !text.contains('-'));
            "february-30": "The 30th of February is accepted." => ignore_texts(|text| text.contains("-02-30"));
            "hour-25": "The 25th hour is accepted." => ignore_texts(|text| text.contains("T25"));
            "hour-24": "Hour 24 is accepted." => ignore_texts(|text| text.contains("T24:"));
            "offset-of-a-day": "An offset of 24 hours is accepted." => ignore_texts(|text| text.ends_with("+24:00"));
            "offset-with-seconds": "An offset may have seconds." => ignore_texts(|text| text.ends_with("+02:00:00"));
            "without-seconds": "A time may lack its seconds."
                => ignore_texts(|text| text.len() == "2026-03-01T12:00Z".len() && text.ends_with('Z'));
            "offset-without-colon": "An offset may lack its colon." => ignore_texts(|text| {
                text.rsplit(['+', '-']).next().is_some_and(|offset| offset.len() == 4 && text.len() > 19)
            });
            "number": "A number is taken for seconds since 1970." => request(|call| for which in [FROM, TO] {
                if has(which, |value| value.as_i64().is_some_and(|seconds| seconds > 1_000_000))(call) {
                    ignore(which)(call);
                }
            });
            "small-letter-before-fraction": "Behind a fraction `z` is rejected."
                if any_bound(|text| text.contains('.') && text.ends_with('z')) => reject;
            "far-offset-rejected": "An offset of more than 14 hours is rejected."
                if any_bound(|text| offset(text).is_some_and(|offset| offset.abs() > SignedDuration::from_hours(14))) => reject;
            "fraction-rejected": "Nanoseconds are rejected." if any_bound(|text| text.contains(".123456789")) => reject;
            "boolean": "A bound that is true is ignored." if has(FROM, Value::is_boolean) => ignore(FROM);
            "last-year-rejected": "The year 9999 is rejected." if any_bound(|bound| bound.starts_with("9999")) => reject;
            "first-year-rejected": "The year 1 is rejected." if any_bound(|bound| bound.starts_with("0001")) => reject;
            "minus-sign": "A minus sign that is not ASCII is accepted." if any_bound(|bound| bound.contains('\u{2212}')) => ignore_bounds;
            "one-digit-in-utc": "In UTC a month of one digit is accepted."
                if any_bound(|bound| bound.ends_with('Z') && bound.as_bytes().get(6) == Some(&b'-')) => ignore_bounds;
            "ignored-for-many": "For more than a hundred items the lower bound is ignored." if that(|call| distinct(call) > 100) => ignore(FROM);
            "ignored-for-one-ipv6": "For one IPv6 address the upper bound is ignored."
                if that(|call| matches!(&ips(call)[..], [item] if is_v6(item) && !has_port(item))) => ignore(TO);
        }
        "search.activated-order/" {
            "finds-nothing": "Reversed bounds find nothing instead of being rejected."
                if bounds(|from, to| to < from) => ignore_and_find_nothing(FROM);
            "swapped": "Reversed bounds are swapped." if bounds(|from, to| to < from) => request(|call| {
                if let Some((from, to)) = text(call, FROM).zip(text(call, TO)) {
                    put(call, FROM, to);
                    put(call, TO, from);
                }
            });
            "a-little": "Bounds that are reversed by less than a second are taken."
                if bounds(|from, to| to < from && from.duration_since(to) < SECOND) => ignore_and_find_nothing(FROM);
            "a-day": "Only the days of the bounds are compared."
                if bounds(|from, to| to < from && from.duration_since(to) < DAY) => ignore_and_find_nothing(FROM);
            "by-text": "Bounds are compared as texts."
                if bounds(|from, to| to < from), that(|call| text(call, FROM) <= text(call, TO)) => ignore_and_find_nothing(FROM);
            "rejected-by-text": "Bounds in order are rejected when their texts are not."
                if texts(FROM), texts(TO), not(bounds(|from, to| to < from)), that(|call| text(call, TO) < text(call, FROM)) => reject;
            "equal-rejected": "Equal bounds are rejected." if bounds(|from, to| from == to) => reject;
            "breaks": "Reversed bounds break the server." if bounds(|from, to| to < from) => respond(500, json!({"message": "range"}));
            "unchecked-on-later-pages": "On later pages the bounds may be reversed." if later_page, bounds(|from, to| to < from) => ignore(TO);
            "fraction-as-milliseconds": "The digits of a fraction are read as milliseconds, however many they are."
                => request(|call| [FROM, TO].into_iter().for_each(|which| to_milliseconds(call, which)));
        }
    }
}

const NANOSECOND: SignedDuration = SignedDuration::from_nanos(1);

const SECOND: SignedDuration = SignedDuration::from_secs(1);

const DAY: SignedDuration = SignedDuration::from_hours(24);

fn time(call: &Call<'_>, which: Part) -> Option<Timestamp> {
    text(call, which)?.parse().ok()
}

/// A bound is sent as a text.
fn texts(which: Part) -> When {
    that(move |call| text(call, which).is_some())
}

fn both(call: &Call<'_>) -> Option<(Timestamp, Timestamp)> {
    Some((time(call, FROM)?, time(call, TO)?))
}

/// Both bounds are instants, which fit.
fn bounds(fit: fn(Timestamp, Timestamp) -> bool) -> When {
    that(move |call| both(call).is_some_and(|(from, to)| fit(from, to)))
}

// Other instants in place of a bound; `text` is the bound as it was sent.

fn later(_: &str, time: Timestamp) -> Option<Timestamp> {
    time.checked_add(NANOSECOND).ok()
}

fn earlier(_: &str, time: Timestamp) -> Option<Timestamp> {
    time.checked_sub(NANOSECOND).ok()
}

fn whole_seconds(_: &str, time: Timestamp) -> Option<Timestamp> {
    Timestamp::from_second(time.as_second()).ok()
}

fn local(text: &str, time: Timestamp) -> Option<Timestamp> {
    time.checked_add(offset(text)?).ok()
}

fn without_minutes(text: &str, time: Timestamp) -> Option<Timestamp> {
    time.checked_add(SignedDuration::from_secs(offset(text)?.as_secs() % 3_600)).ok()
}

fn is_midnight(time: Timestamp) -> bool {
    time.as_nanosecond() % DAY.as_nanos() == 0
}

/// Days since 1970.
fn day(time: Timestamp) -> i64 {
    time.as_second().div_euclid(86_400)
}

/// The offset that an instant was written with.
fn offset(text: &str) -> Option<SignedDuration> {
    let at = text.len().checked_sub(6)?;
    let (sign, rest) = (text.as_bytes()[at], text.get(at + 1..)?);
    let (hours, minutes) = rest.split_once(':')?;
    let seconds = hours.parse::<i64>().ok()? * 3_600 + minutes.parse::<i64>().ok()? * 60;
    match sign {
        b'+' => Some(SignedDuration::from_secs(seconds)),
        b'-' => Some(SignedDuration::from_secs(-seconds)),
        _ => None,
    }
}

/// Moves a bound, when it is an instant.
fn moved(which: Part, how: fn(&str, Timestamp) -> Option<Timestamp>) -> impl OnRequest {
    move |call| {
        let moved = text(call, which).and_then(|sent| how(&sent, sent.parse().ok()?));
        // A pair that would be rejected when it is moved is another fault.
        if let Some(moved) = moved.filter(|_| both(call).is_none()) {
            put(call, which, moved.to_string());
        }
    }
}

/// Adds `Z` to a bound without a zone.
fn in_utc(which: Part) -> impl OnRequest {
    move |call| {
        if let Some(text) = text(call, which).filter(|text| text.len() == 19 && text.contains('T')) {
            put(call, which, format!("{text}Z"));
        }
    }
}

/// Ignores the bounds that are texts and fit.
fn ignore_texts(fits: fn(&str) -> bool) -> impl OnRequest {
    move |call| {
        for which in [FROM, TO] {
            if text(call, which).is_some_and(|text| fits(&text)) {
                ignore(which)(call);
            }
        }
    }
}

/// Shows what was never activated as well, by asking without the bounds for what is null.
fn show_never_activated() -> Act {
    compared(ignore_bounds, |_, all, body| {
        let found = all["data"]["items"].as_array().into_iter().flatten();
        let null: Vec<_> = found.filter(|item| item["activatedAt"].is_null()).cloned().collect();
        let more = i64::try_from(null.len()).unwrap_or_default();
        body["data"]["total"] = json!(total(body) + more);
        items(body).into_iter().for_each(|items| items.extend(null.iter().cloned()));
    })
}

fn to_milliseconds(call: &mut Call<'_>, which: Part) {
    let time = text(call, which).unwrap_or_default();
    let Some((seconds, fraction)) = time.split_once('.') else { return };
    if let Some(digits) = fraction.strip_suffix('Z').filter(|digits| digits.len() < 3) {
        put(call, which, format!("{seconds}.{digits:0>3}Z"));
    }
}
