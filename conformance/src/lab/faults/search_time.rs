//! Faults in the bounds on the activation time.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::edit::respond;
use super::search::{
    FROM, PropertyGetter, TO, all_with_ports, any_bound, asks, find_nothing, has, ignore,
    ignore_and_find_nothing, ignore_bounds, items, lose, lose_v6, put, text, total,
};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [ends(), offsets(), never(), form(), order()].into_iter().flatten().collect()
}

const NANOSECOND: SignedDuration = SignedDuration::from_nanos(1);

const DAY: SignedDuration = SignedDuration::from_hours(24);

fn time(call: &Call<'_>, which: PropertyGetter) -> Option<Timestamp> {
    text(call, which)?.parse().ok()
}

fn both(call: &Call<'_>) -> Option<(Timestamp, Timestamp)> {
    Some((time(call, FROM)?, time(call, TO)?))
}

/// The bounds are reversed, by less than this.
fn reversed_by_less_than(most: SignedDuration) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| both(call).is_some_and(|(from, to)| to < from && from.duration_since(to) < most)
}

fn reversed(call: &Call<'_>) -> bool {
    both(call).is_some_and(|(from, to)| to < from)
}

/// One bound is sent and not the other.
fn only(one: PropertyGetter, other: PropertyGetter) -> impl Fn(&Call<'_>) -> bool + Send + Sync {
    move |call| text(call, one).is_some() && text(call, other).is_none()
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

fn is_midnight(time: Timestamp) -> bool {
    time.as_nanosecond() % DAY.as_nanos() == 0
}

fn without_minutes(text: &str, time: Timestamp) -> Option<Timestamp> {
    time.checked_add(SignedDuration::from_secs(offset(text)?.as_secs() % 3_600)).ok()
}

/// Moves a bound, when it is an instant.
fn moved(
    which: PropertyGetter,
    how: fn(&str, Timestamp) -> Option<Timestamp>,
) -> impl Fn(&mut Call<'_>) + Send + Sync {
    move |call| {
        let moved = text(call, which).and_then(|sent| how(&sent, sent.parse().ok()?));
        // A pair that would be rejected when it is moved is another fault.
        if let Some(moved) = moved.filter(|_| both(call).is_none()) {
            put(call, which, moved.to_string());
        }
    }
}

/// Adds `Z` to a bound without a zone.
fn in_utc(which: PropertyGetter) -> impl Fn(&mut Call<'_>) + Send + Sync {
    move |call| {
        if let Some(text) = text(call, which).filter(|text| text.len() == 19 && text.contains('T')) {
            put(call, which, format!("{text}Z"));
        }
    }
}

fn ends() -> Vec<Fault> {
    faults_of![
        "search.activated-range/",
        fault("from-exclusive", "The lower bound is not included.").request(moved(FROM, later)),
        fault("to-exclusive", "The upper bound is not included.").request(moved(TO, earlier)),
        fault("equal-finds-nothing", "Equal bounds find nothing.")
            .when(|call| both(call).is_some_and(|(from, to)| from == to))
            .request(find_nothing),
        fault("from-ignored-alone", "The lower bound alone is ignored.")
            .when(|call| text(call, TO).is_none())
            .request(ignore(FROM)),
        fault("to-ignored-alone", "The upper bound alone is ignored.")
            .when(|call| text(call, FROM).is_none())
            .request(ignore(TO)),
        fault("to-ignored-beside-from", "Of two bounds the lower one counts.")
            .when(move |call| text(call, FROM).is_some() && time(call, FROM) <= time(call, TO))
            .request(ignore(TO)),
        reject("from-needs-to", "The lower bound alone is rejected.").when(only(FROM, TO)),
        reject("to-needs-from", "The upper bound alone is rejected.").when(only(TO, FROM)),
        fault("ipv6-lost", "A bound finds no IPv6 instances.").when(asks(FROM)).success(lose_v6),
        fault("by-expiry", "The upper bound is compared with the expiry as well.")
            .when(asks(TO))
            .success(lose(|_, item| item["expiresAt"].is_null())),
        fault("midnight-to-end-of-day", "An upper bound at midnight stands for the whole day.").request(
            moved(TO, |_, time| {
                is_midnight(time).then(|| time.checked_add(DAY - NANOSECOND).ok()).flatten()
            })
        ),
        fault("midnight-excluded", "A lower bound at midnight is not included.")
            .request(moved(FROM, |text, time| if is_midnight(time) { later(text, time) } else { None })),
        fault("from-beyond-included", "The lower bound includes the nanosecond before.")
            .request(moved(FROM, earlier)),
        fault("to-beyond-included", "The upper bound includes the nanosecond after.")
            .request(moved(TO, later)),
        fault("to-cut-to-seconds", "The upper bound is cut to seconds.").request(moved(TO, whole_seconds)),
        fault("from-cut-to-seconds", "The lower bound is cut to seconds.")
            .request(moved(FROM, whole_seconds)),
        fault("to-cut-to-milliseconds", "The upper bound is cut to milliseconds.")
            .request(moved(TO, |_, time| { Timestamp::from_millisecond(time.as_millisecond()).ok() })),
        fault("from-cut-to-microseconds", "The lower bound is cut to microseconds.")
            .request(moved(FROM, |_, time| { Timestamp::from_microsecond(time.as_microsecond()).ok() })),
        fault("from-rounded-up", "The lower bound is rounded up to seconds.").request(moved(
            FROM,
            |_, time| {
                let second = Timestamp::from_second(time.as_second()).ok()?;
                if second < time {
                    second.checked_add(SignedDuration::from_secs(1)).ok()
                } else {
                    Some(second)
                }
            }
        )),
        fault("to-whole-day", "The upper bound reaches to the end of its day.")
            .request(moved(TO, |_, time| {
                Timestamp::from_second((time.as_second().div_euclid(86_400) + 1) * 86_400 - 1).ok()
            })),
    ]
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

fn offsets() -> Vec<Fault> {
    let local = |text: &str, time: Timestamp| time.checked_add(offset(text)?).ok();
    faults_of![
        "search.activated-range/",
        fault("from-offset-ignored", "The offset of the lower bound is ignored.").request(moved(FROM, local)),
        fault("to-offset-ignored", "The offset of the upper bound is ignored.").request(moved(TO, local)),
        fault("from-offset-reversed", "The offset of the lower bound is added where it is to be taken away.")
            .request(moved(FROM, |text, time| {
                let offset = offset(text)?;
                time.checked_add(offset).ok()?.checked_add(offset).ok()
            })),
        fault("to-half-hours-lost", "Of an offset of the upper bound the minutes are ignored.")
            .request(moved(TO, without_minutes)),
        fault("from-half-hours-lost", "Of an offset of the lower bound the minutes are ignored.")
            .request(moved(FROM, without_minutes)),
        fault(
            "from-negative-offset-taken-positive",
            "A negative offset of the lower bound is taken for a positive one."
        )
        .request(moved(FROM, |text, time| {
            let offset = offset(text).filter(SignedDuration::is_negative)?;
            time.checked_add(offset).ok()?.checked_add(offset).ok()
        })),
        fault("to-negative-half-hour", "The minutes of a negative offset of the upper bound are added.")
            .request(moved(TO, |text, time| {
                let lost = offset(text).filter(SignedDuration::is_negative)?.as_secs() % 3_600;
                time.checked_add(SignedDuration::from_secs(2 * lost)).ok()
            })),
        fault("to-day-not-carried", "An offset of the upper bound that passes midnight loses the day.")
            .request(moved(TO, |text, time| {
                let day = |time: Timestamp| time.as_second().div_euclid(86_400);
                let local = time.checked_add(offset(text)?).ok()?;
                time.checked_add(SignedDuration::from_secs((day(local) - day(time)) * 86_400)).ok()
            })),
        fault("from-fraction-lost-with-offset", "With an offset the lower bound loses its fraction.")
            .request(moved(FROM, |text, time| {
                offset(text)?;
                let second = Timestamp::from_second(time.as_second()).ok()?;
                second.checked_add(SignedDuration::from_secs(1)).ok().filter(|_| second < time)
            })),
        reject("offset-rejected", "Only UTC is accepted.").when(any_bound(|text| offset(text).is_some())),
    ]
}

fn never() -> Vec<Fault> {
    // Shows what was never activated as well, by asking without the bound for what is null.
    let shown = |id, breaks| {
        Fault::new(id, breaks).compared(ignore_bounds, |_, all, body| {
            let found = all["data"]["items"].as_array().into_iter().flatten();
            let null: Vec<_> = found.filter(|item| item["activatedAt"].is_null()).cloned().collect();
            let more = i64::try_from(null.len()).unwrap_or_default();
            body["data"]["total"] = json!(total(body) + more);
            items(body).into_iter().for_each(|items| items.extend(null.iter().cloned()));
        })
    };
    faults_of![
        "search.activated-range/",
        shown("never-is-early", "An instance that was never activated matches an upper bound.")
            .when(only(TO, FROM)),
        shown("never-is-late", "An instance that was never activated matches a lower bound.")
            .when(only(FROM, TO)),
        shown("never-is-between", "An instance that was never activated matches two bounds.")
            .when(asks(FROM))
            .when(asks(TO)),
        shown("never-is-late-with-ports", "With ports, what was never activated matches a lower bound.")
            .when(asks(FROM))
            .when(all_with_ports),
    ]
}

fn form() -> Vec<Fault> {
    let taken = |id, breaks, fits: fn(&str) -> bool| {
        Fault::new(id, breaks).request(move |call| {
            for which in [FROM, TO] {
                if text(call, which).is_some_and(|text| fits(&text)) {
                    ignore(which)(call);
                }
            }
        })
    };
    faults_of![
        "search.activated-range/",
        fault("from-zoneless", "A lower bound without a zone is taken for UTC.").request(in_utc(FROM)),
        fault("to-zoneless", "An upper bound without a zone is taken for UTC.").request(in_utc(TO)),
        taken("date", "A date is taken for an instant.", |text| text.len() == 10),
        taken("word", "A bound that is a word is ignored.", |text| !text.contains('-')),
        taken("february-30", "The 30th of February is accepted.", |text| text.contains("-02-30")),
        taken("hour-25", "The 25th hour is accepted.", |text| text.contains("T25")),
        taken("hour-24", "Hour 24 is accepted.", |text| text.contains("T24:")),
        taken("offset-of-a-day", "An offset of 24 hours is accepted.", |text| text.ends_with("+24:00")),
        taken("offset-with-seconds", "An offset may have seconds.", |text| text.ends_with("+02:00:00")),
        taken("without-seconds", "A time may lack its seconds.", |text| {
            text.len() == "2026-03-01T12:00Z".len() && text.ends_with('Z')
        }),
        taken("offset-without-colon", "An offset may lack its colon.", |text| {
            text.rsplit(['+', '-']).next().is_some_and(|offset| offset.len() == 4 && text.len() > 19)
        }),
        fault("number", "A number is taken for seconds since 1970.").request(|call| {
            for which in [FROM, TO] {
                if has(which, |value| value.as_i64().is_some_and(|seconds| seconds > 1_000_000))(call) {
                    ignore(which)(call);
                }
            }
        }),
        reject("small-letter-before-fraction", "Behind a fraction `z` is rejected.")
            .when(any_bound(|text| text.contains('.') && text.ends_with('z'))),
        reject("far-offset-rejected", "An offset of more than 14 hours is rejected.").when(any_bound(
            |text| offset(text).is_some_and(|offset| offset.abs() > SignedDuration::from_hours(14))
        )),
        reject("fraction-rejected", "Nanoseconds are rejected.")
            .when(any_bound(|text| text.contains(".123456789"))),
        fault("boolean", "A bound that is true is ignored.")
            .when(has(FROM, Value::is_boolean))
            .request(ignore(FROM)),
    ]
}

fn order() -> Vec<Fault> {
    let texts = |call: &Call<'_>| text(call, FROM).zip(text(call, TO));
    faults_of![
        "search.activated-order/",
        fault("finds-nothing", "Reversed bounds find nothing instead of being rejected.")
            .when(reversed)
            .request(ignore_and_find_nothing(FROM)),
        fault("swapped", "Reversed bounds are swapped.").when(reversed).request(move |call| {
            if let Some((from, to)) = texts(call) {
                put(call, FROM, to);
                put(call, TO, from);
            }
        }),
        fault("a-little", "Bounds that are reversed by less than a second are taken.")
            .when(reversed_by_less_than(SignedDuration::from_secs(1)))
            .request(ignore_and_find_nothing(FROM)),
        fault("a-day", "Only the days of the bounds are compared.")
            .when(reversed_by_less_than(DAY))
            .request(ignore_and_find_nothing(FROM)),
        fault("by-text", "Bounds are compared as texts.")
            .when(reversed)
            .when(move |call| texts(call).is_some_and(|(from, to)| from <= to))
            .request(ignore_and_find_nothing(FROM)),
        reject("rejected-by-text", "Bounds in order are rejected when their texts are not.")
            .when(move |call| !reversed(call) && texts(call).is_some_and(|(from, to)| to < from)),
        reject("equal-rejected", "Equal bounds are rejected.")
            .when(|call| both(call).is_some_and(|(from, to)| from == to)),
        fault("breaks", "Reversed bounds break the server.")
            .when(reversed)
            .reply(respond(500, json!({"message": "range"}))),
    ]
}
