//! Faults in the bounds on the activation time.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::edit::respond;
use super::search::{
    FROM, NOBODY, PropertyGetter, TO, all_with_ports, asks, edit_ips, has, ignore, lose, of_v6, put, text,
};
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [ends(), precision(), offsets(), never(), form(), order()].into_iter().flatten().collect()
}

const NANOSECOND: SignedDuration = SignedDuration::from_nanos(1);

fn time(context: &Context, seen: &ProxiedRequest, which: PropertyGetter) -> Option<Timestamp> {
    text(context, seen, which)?.parse().ok()
}

/// One bound is sent and not the other.
fn only(
    one: PropertyGetter,
    other: PropertyGetter,
) -> impl Fn(&Context, &ProxiedRequest) -> bool + Send + Sync {
    move |context, seen| text(context, seen, one).is_some() && text(context, seen, other).is_none()
}

/// A bound has a text that fits.
fn any_bound(fits: fn(&str) -> bool) -> impl Fn(&Context, &ProxiedRequest) -> bool + Send + Sync {
    move |context, seen| {
        [FROM, TO].into_iter().filter_map(|which| text(context, seen, which)).any(|text| fits(text.as_str()))
    }
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

fn without_minutes(text: &str, time: Timestamp) -> Option<Timestamp> {
    time.checked_add(SignedDuration::from_secs(offset(text)?.as_secs() % 3_600)).ok()
}

/// Moves a bound, when it is an instant.
fn moved(
    id: &'static str,
    breaks: &'static str,
    which: PropertyGetter,
    how: fn(&str, Timestamp) -> Option<Timestamp>,
) -> Fault {
    Fault::request(id, breaks, move |context, seen| {
        let Some(sent) = text(context, seen, which) else { return };
        if let Some(other) = sent.parse().ok().and_then(|time| how(&sent, time)) {
            put(context, seen, which, other.to_string());
        }
    })
    // A pair that would be rejected when it is moved is another fault.
    .when(|context, seen| time(context, seen, FROM).is_none() || time(context, seen, TO).is_none())
}

/// Writes a bound in another way.
fn rewritten(
    id: &'static str,
    breaks: &'static str,
    which: PropertyGetter,
    how: fn(&str) -> Option<String>,
) -> Fault {
    Fault::request(id, breaks, move |context, seen| {
        if let Some(other) = text(context, seen, which).and_then(|sent| how(&sent)) {
            put(context, seen, which, other);
        }
    })
}

fn ends() -> Vec<Fault> {
    let equal = |context: &Context, seen: &ProxiedRequest| {
        time(context, seen, FROM).is_some() && time(context, seen, FROM) == time(context, seen, TO)
    };
    faults_of![
        "search.activated-range/",
        moved("from-exclusive", "The lower bound is not included.", FROM, later),
        moved("to-exclusive", "The upper bound is not included.", TO, earlier),
        request("equal-finds-nothing", "Equal bounds find nothing.", |context, seen| {
            edit_ips(context, seen, |items| *items = vec![NOBODY.into()]);
        })
        .when(equal),
        request("from-ignored-alone", "The lower bound alone is ignored.", ignore(FROM))
            .when(|context, seen| text(context, seen, TO).is_none()),
        request("to-ignored-alone", "The upper bound alone is ignored.", ignore(TO))
            .when(|context, seen| text(context, seen, FROM).is_none()),
        request("to-ignored-beside-from", "Of two bounds the lower one counts.", ignore(TO)).when(
            move |context, seen| {
                text(context, seen, FROM).is_some() && time(context, seen, FROM) <= time(context, seen, TO)
            }
        ),
        reject("from-needs-to", "The lower bound alone is rejected.").when(only(FROM, TO)),
        reject("to-needs-from", "The upper bound alone is rejected.").when(only(TO, FROM)),
        success("ipv6-lost", "A bound finds no IPv6 instances.", lose(|_, _, item| of_v6(item)))
            .when(asks(FROM)),
        success(
            "by-expiry",
            "The upper bound is compared with the expiry as well.",
            lose(|_, _, item| item["expiresAt"].is_null())
        )
        .when(asks(TO)),
    ]
}

fn precision() -> Vec<Fault> {
    faults_of![
        "search.activated-range/",
        moved("from-beyond-included", "The lower bound includes the nanosecond before.", FROM, earlier),
        moved("to-beyond-included", "The upper bound includes the nanosecond after.", TO, later),
        moved("to-cut-to-seconds", "The upper bound is cut to seconds.", TO, whole_seconds),
        moved("from-cut-to-seconds", "The lower bound is cut to seconds.", FROM, whole_seconds),
        moved("to-cut-to-milliseconds", "The upper bound is cut to milliseconds.", TO, |_, time| {
            Timestamp::from_millisecond(time.as_millisecond()).ok()
        }),
        moved("from-cut-to-microseconds", "The lower bound is cut to microseconds.", FROM, |_, time| {
            Timestamp::from_microsecond(time.as_microsecond()).ok()
        }),
        moved("from-rounded-up", "The lower bound is rounded up to seconds.", FROM, |_, time| {
            let second = Timestamp::from_second(time.as_second()).ok()?;
            if second < time { second.checked_add(SignedDuration::from_secs(1)).ok() } else { Some(second) }
        }),
        moved("to-whole-day", "The upper bound reaches to the end of its day.", TO, |_, time| {
            Timestamp::from_second((time.as_second().div_euclid(86_400) + 1) * 86_400 - 1).ok()
        }),
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
        moved("from-offset-ignored", "The offset of the lower bound is ignored.", FROM, local),
        moved("to-offset-ignored", "The offset of the upper bound is ignored.", TO, local),
        moved(
            "from-offset-reversed",
            "The offset of the lower bound is added where it is to be taken away.",
            FROM,
            |text, time| {
                let offset = offset(text)?;
                time.checked_add(offset).ok()?.checked_add(offset).ok()
            }
        ),
        moved(
            "to-half-hours-lost",
            "Of an offset of the upper bound the minutes are ignored.",
            TO,
            without_minutes
        ),
        moved(
            "from-half-hours-lost",
            "Of an offset of the lower bound the minutes are ignored.",
            FROM,
            without_minutes
        ),
        moved(
            "from-negative-offset-taken-positive",
            "A negative offset of the lower bound is taken for a positive one.",
            FROM,
            |text, time| {
                let offset = offset(text).filter(SignedDuration::is_negative)?;
                time.checked_add(offset).ok()?.checked_add(offset).ok()
            }
        ),
        moved(
            "to-negative-half-hour",
            "The minutes of a negative offset of the upper bound are added.",
            TO,
            |text, time| {
                let lost = offset(text).filter(SignedDuration::is_negative)?.as_secs() % 3_600;
                time.checked_add(SignedDuration::from_secs(2 * lost)).ok()
            }
        ),
        moved(
            "to-day-not-carried",
            "An offset of the upper bound that passes midnight loses the day.",
            TO,
            |text, time| {
                let day = |time: Timestamp| time.as_second().div_euclid(86_400);
                let local = time.checked_add(offset(text)?).ok()?;
                time.checked_add(SignedDuration::from_secs((day(local) - day(time)) * 86_400)).ok()
            }
        ),
        moved(
            "from-fraction-lost-with-offset",
            "With an offset the lower bound loses its fraction.",
            FROM,
            |text, time| {
                offset(text)?;
                let second = Timestamp::from_second(time.as_second()).ok()?;
                second.checked_add(SignedDuration::from_secs(1)).ok().filter(|_| second < time)
            }
        ),
        reject("offset-rejected", "Only UTC is accepted.").when(any_bound(|text| offset(text).is_some())),
    ]
}

fn never() -> Vec<Fault> {
    // Shows what was never activated as well, by asking without the bound for what is null.
    let shown = |id, breaks| {
        Fault::serve(id, breaks, move |context, seen| {
            Box::pin(async move {
                let mut reply = context.upstream.call(&seen).await;
                if context.operation(&seen).is_none() || !context.accepted(&seen, &reply) {
                    return reply;
                }
                let mut all = seen.clone();
                ignore(FROM)(context, &mut all);
                ignore(TO)(context, &mut all);
                let all = context.upstream.call(&all).await.json();
                let found = all["data"]["items"].as_array().into_iter().flatten();
                let null: Vec<_> = found.filter(|item| item["activatedAt"].is_null()).cloned().collect();
                reply.edit(|body| {
                    let more = i64::try_from(null.len()).unwrap_or_default();
                    body["data"]["total"] = json!(super::search::total(body) + more);
                    if let Some(items) = super::search::items(body) {
                        items.extend(null);
                    }
                });
                reply
            })
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
    let zoneless = |text: &str| {
        let bare = text.len() == 19 && text.contains('T');
        bare.then(|| format!("{text}Z"))
    };
    let taken = |id, breaks, fits: fn(&str) -> bool| {
        Fault::request(id, breaks, move |context, seen| {
            for which in [FROM, TO] {
                if text(context, seen, which).is_some_and(|text| fits(&text)) {
                    ignore(which)(context, seen);
                }
            }
        })
    };
    faults_of![
        "search.activated-range/",
        rewritten("from-zoneless", "A lower bound without a zone is taken for UTC.", FROM, zoneless),
        rewritten("to-zoneless", "An upper bound without a zone is taken for UTC.", TO, zoneless),
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
        request("number", "A number is taken for seconds since 1970.", |context, seen| {
            for which in [FROM, TO] {
                if has(which, |value| value.as_i64().is_some_and(|seconds| seconds > 1_000_000))(
                    context, seen,
                ) {
                    ignore(which)(context, seen);
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
        request("boolean", "A bound that is true is ignored.", ignore(FROM))
            .when(has(FROM, Value::is_boolean)),
    ]
}

fn order() -> Vec<Fault> {
    let both = |context: &Context, seen: &ProxiedRequest| {
        Some((time(context, seen, FROM)?, time(context, seen, TO)?))
    };
    let reversed = move |context: &Context, seen: &ProxiedRequest| {
        both(context, seen).is_some_and(|(from, to)| to < from)
    };
    let texts =
        |context: &Context, seen: &ProxiedRequest| text(context, seen, FROM).zip(text(context, seen, TO));
    let nothing = |context: &Context, seen: &mut ProxiedRequest| {
        ignore(FROM)(context, seen);
        edit_ips(context, seen, |items| *items = vec![NOBODY.into()]);
    };
    faults_of![
        "search.activated-order/",
        request("finds-nothing", "Reversed bounds find nothing instead of being rejected.", nothing)
            .when(reversed),
        request("swapped", "Reversed bounds are swapped.", |context, seen| {
            if let Some((from, to)) = text(context, seen, FROM).zip(text(context, seen, TO)) {
                put(context, seen, FROM, to);
                put(context, seen, TO, from);
            }
        })
        .when(reversed),
        request("a-little", "Bounds that are reversed by less than a second are taken.", nothing).when(
            move |context, seen| {
                both(context, seen).is_some_and(|(from, to)| {
                    to < from && from.duration_since(to) < SignedDuration::from_secs(1)
                })
            }
        ),
        request("a-day", "Only the days of the bounds are compared.", nothing).when(move |context, seen| {
            both(context, seen).is_some_and(|(from, to)| {
                to < from && from.duration_since(to) < SignedDuration::from_hours(24)
            })
        }),
        request("by-text", "Bounds are compared as texts.", nothing).when(move |context, seen| {
            reversed(context, seen) && texts(context, seen).is_some_and(|(from, to)| from <= to)
        }),
        reject("rejected-by-text", "Bounds in order are rejected when their texts are not.").when(
            move |context, seen| {
                !reversed(context, seen) && texts(context, seen).is_some_and(|(from, to)| to < from)
            }
        ),
        reject("equal-rejected", "Equal bounds are rejected.")
            .when(move |context, seen| both(context, seen).is_some_and(|(from, to)| from == to)),
        reply("breaks", "Reversed bounds break the server.", respond(500, json!({"message": "range"})))
            .when(reversed),
    ]
}
