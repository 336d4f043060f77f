//! Faults in the bounds on the activation time.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::search::{NOBODY, PropertyGetter, asks, edit_ips, has_port, ignore, ips, lose, of_v6, put, value};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [ends(), precision(), offsets(), never(), form(), order()].into_iter().flatten().collect()
}

const FROM: PropertyGetter = |search| &search.activated_from;
const TO: PropertyGetter = |search| &search.activated_to;
const NANOSECOND: SignedDuration = SignedDuration::from_nanos(1);

fn text(context: &Context, seen: &ProxiedRequest, which: PropertyGetter) -> Option<String> {
    value(context, seen, which)?.as_str().map(str::to_owned)
}

fn time(context: &Context, seen: &ProxiedRequest, which: PropertyGetter) -> Option<Timestamp> {
    text(context, seen, which)?.parse().ok()
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
    vec![
        moved(
            "search.activated-range/from-exclusive",
            "The lower bound is not included.",
            FROM,
            |_, time| time.checked_add(NANOSECOND).ok(),
        ),
        moved("search.activated-range/to-exclusive", "The upper bound is not included.", TO, |_, time| {
            time.checked_sub(NANOSECOND).ok()
        }),
        Fault::request(
            "search.activated-range/equal-finds-nothing",
            "Equal bounds find nothing.",
            |context, seen| {
                edit_ips(context, seen, |items| *items = vec![NOBODY.into()]);
            },
        )
        .when(equal),
        Fault::request(
            "search.activated-range/from-ignored-alone",
            "The lower bound alone is ignored.",
            ignore(FROM),
        )
        .when(|context, seen| text(context, seen, TO).is_none()),
        Fault::request(
            "search.activated-range/to-ignored-alone",
            "The upper bound alone is ignored.",
            ignore(TO),
        )
        .when(|context, seen| text(context, seen, FROM).is_none()),
        Fault::request(
            "search.activated-range/to-ignored-beside-from",
            "Of two bounds the lower one counts.",
            ignore(TO),
        )
        .when(move |context, seen| {
            text(context, seen, FROM).is_some() && time(context, seen, FROM) <= time(context, seen, TO)
        }),
        Fault::request(
            "search.activated-range/from-needs-to",
            "The lower bound alone is rejected.",
            Context::reject,
        )
        .when(|context, seen| text(context, seen, FROM).is_some() && text(context, seen, TO).is_none()),
        Fault::request(
            "search.activated-range/to-needs-from",
            "The upper bound alone is rejected.",
            Context::reject,
        )
        .when(|context, seen| text(context, seen, TO).is_some() && text(context, seen, FROM).is_none()),
        Fault::success(
            "search.activated-range/ipv6-lost",
            "A bound finds no IPv6 instances.",
            lose(|_, _, item| of_v6(item)),
        )
        .when(asks(FROM)),
        Fault::success(
            "search.activated-range/by-expiry",
            "The upper bound is compared with the expiry as well.",
            lose(|_, _, item| item["expiresAt"].is_null()),
        )
        .when(asks(TO)),
    ]
}

fn precision() -> Vec<Fault> {
    vec![
        moved(
            "search.activated-range/from-beyond-included",
            "The lower bound includes the nanosecond before.",
            FROM,
            |_, time| time.checked_sub(NANOSECOND).ok(),
        ),
        moved(
            "search.activated-range/to-beyond-included",
            "The upper bound includes the nanosecond after.",
            TO,
            |_, time| time.checked_add(NANOSECOND).ok(),
        ),
        moved(
            "search.activated-range/to-cut-to-seconds",
            "The upper bound is cut to seconds.",
            TO,
            |_, time| Timestamp::from_second(time.as_second()).ok(),
        ),
        moved(
            "search.activated-range/from-cut-to-seconds",
            "The lower bound is cut to seconds.",
            FROM,
            |_, time| Timestamp::from_second(time.as_second()).ok(),
        ),
        moved(
            "search.activated-range/to-cut-to-milliseconds",
            "The upper bound is cut to milliseconds.",
            TO,
            |_, time| Timestamp::from_millisecond(time.as_millisecond()).ok(),
        ),
        moved(
            "search.activated-range/from-cut-to-microseconds",
            "The lower bound is cut to microseconds.",
            FROM,
            |_, time| Timestamp::from_microsecond(time.as_microsecond()).ok(),
        ),
        moved(
            "search.activated-range/from-rounded-up",
            "The lower bound is rounded up to seconds.",
            FROM,
            |_, time| {
                let second = Timestamp::from_second(time.as_second()).ok()?;
                if second < time {
                    second.checked_add(SignedDuration::from_secs(1)).ok()
                } else {
                    Some(second)
                }
            },
        ),
        moved(
            "search.activated-range/to-whole-day",
            "The upper bound reaches to the end of its day.",
            TO,
            |_, time| Timestamp::from_second((time.as_second().div_euclid(86_400) + 1) * 86_400 - 1).ok(),
        ),
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
    vec![
        moved(
            "search.activated-range/from-offset-ignored",
            "The offset of the lower bound is ignored.",
            FROM,
            local,
        ),
        moved(
            "search.activated-range/to-offset-ignored",
            "The offset of the upper bound is ignored.",
            TO,
            local,
        ),
        moved(
            "search.activated-range/from-offset-reversed",
            "The offset of the lower bound is added where it is to be taken away.",
            FROM,
            |text, time| {
                let offset = offset(text)?;
                time.checked_add(offset).ok()?.checked_add(offset).ok()
            },
        ),
        moved(
            "search.activated-range/to-half-hours-lost",
            "Of an offset of the upper bound the minutes are ignored.",
            TO,
            |text, time| {
                let lost = offset(text)?.as_secs() % 3_600;
                time.checked_add(SignedDuration::from_secs(lost)).ok()
            },
        ),
        moved(
            "search.activated-range/from-half-hours-lost",
            "Of an offset of the lower bound the minutes are ignored.",
            FROM,
            |text, time| {
                let lost = offset(text)?.as_secs() % 3_600;
                time.checked_add(SignedDuration::from_secs(lost)).ok()
            },
        ),
        moved(
            "search.activated-range/from-negative-offset-taken-positive",
            "A negative offset of the lower bound is taken for a positive one.",
            FROM,
            |text, time| {
                let offset = offset(text).filter(SignedDuration::is_negative)?;
                time.checked_add(offset).ok()?.checked_add(offset).ok()
            },
        ),
        moved(
            "search.activated-range/to-negative-half-hour",
            "The minutes of a negative offset of the upper bound are added.",
            TO,
            |text, time| {
                let lost = offset(text).filter(SignedDuration::is_negative)?.as_secs() % 3_600;
                time.checked_add(SignedDuration::from_secs(2 * lost)).ok()
            },
        ),
        moved(
            "search.activated-range/to-day-not-carried",
            "An offset of the upper bound that passes midnight loses the day.",
            TO,
            |text, time| {
                let day = |time: Timestamp| time.as_second().div_euclid(86_400);
                let local = time.checked_add(offset(text)?).ok()?;
                time.checked_add(SignedDuration::from_secs((day(local) - day(time)) * 86_400)).ok()
            },
        ),
        moved(
            "search.activated-range/from-fraction-lost-with-offset",
            "With an offset the lower bound loses its fraction.",
            FROM,
            |text, time| {
                offset(text)?;
                let second = Timestamp::from_second(time.as_second()).ok()?;
                second.checked_add(SignedDuration::from_secs(1)).ok().filter(|_| second < time)
            },
        ),
        Fault::request("search.activated-range/offset-rejected", "Only UTC is accepted.", Context::reject)
            .when(|context, seen| {
                [FROM, TO]
                    .into_iter()
                    .filter_map(|which| text(context, seen, which))
                    .any(|text| offset(&text).is_some())
            }),
    ]
}

fn never() -> Vec<Fault> {
    // Shows what was never activated as well, by asking without the bound for what is null.
    let shown = |id, breaks, fits: fn(&Context, &ProxiedRequest) -> bool| {
        Fault::serve(id, breaks, move |context, seen| {
            Box::pin(async move {
                let mut reply = context.upstream.call(&seen).await;
                if context.operation(&seen).is_none()
                    || !context.accepted(&seen, &reply)
                    || !fits(context, &seen)
                {
                    return reply;
                }
                let mut all = seen.clone();
                ignore(FROM)(context, &mut all);
                ignore(TO)(context, &mut all);
                let all = context.upstream.call(&all).await.json();
                let null: Vec<_> = all["data"]["items"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|item| item["activatedAt"].is_null())
                    .cloned()
                    .collect();
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
    vec![
        shown(
            "search.activated-range/never-is-early",
            "An instance that was never activated matches an upper bound.",
            |context, seen| text(context, seen, TO).is_some() && text(context, seen, FROM).is_none(),
        ),
        shown(
            "search.activated-range/never-is-late",
            "An instance that was never activated matches a lower bound.",
            |context, seen| text(context, seen, FROM).is_some() && text(context, seen, TO).is_none(),
        ),
        shown(
            "search.activated-range/never-is-between",
            "An instance that was never activated matches two bounds.",
            |context, seen| text(context, seen, FROM).is_some() && text(context, seen, TO).is_some(),
        ),
        shown(
            "search.activated-range/never-is-late-with-ports",
            "With ports, what was never activated matches a lower bound.",
            |context, seen| {
                text(context, seen, FROM).is_some() && ips(context, seen).iter().all(|item| has_port(item))
            },
        ),
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
    vec![
        rewritten(
            "search.activated-range/from-zoneless",
            "A lower bound without a zone is taken for UTC.",
            FROM,
            zoneless,
        ),
        rewritten(
            "search.activated-range/to-zoneless",
            "An upper bound without a zone is taken for UTC.",
            TO,
            zoneless,
        ),
        taken("search.activated-range/date", "A date is taken for an instant.", |text| text.len() == 10),
        taken("search.activated-range/word", "A bound that is a word is ignored.", |text| {
            !text.contains('-')
        }),
        taken("search.activated-range/february-30", "The 30th of February is accepted.", |text| {
            text.contains("-02-30")
        }),
        taken("search.activated-range/hour-25", "The 25th hour is accepted.", |text| text.contains("T25")),
        taken("search.activated-range/hour-24", "Hour 24 is accepted.", |text| text.contains("T24:")),
        taken("search.activated-range/offset-of-a-day", "An offset of 24 hours is accepted.", |text| {
            text.ends_with("+24:00")
        }),
        taken("search.activated-range/offset-with-seconds", "An offset may have seconds.", |text| {
            text.ends_with("+02:00:00")
        }),
        taken("search.activated-range/without-seconds", "A time may lack its seconds.", |text| {
            text.len() == "2026-03-01T12:00Z".len() && text.ends_with('Z')
        }),
        taken("search.activated-range/offset-without-colon", "An offset may lack its colon.", |text| {
            text.rsplit(['+', '-']).next().is_some_and(|offset| offset.len() == 4 && text.len() > 19)
        }),
        Fault::request(
            "search.activated-range/number",
            "A number is taken for seconds since 1970.",
            |context, seen| {
                for which in [FROM, TO] {
                    if value(context, seen, which)
                        .and_then(|value| value.as_i64())
                        .is_some_and(|seconds| seconds > 1_000_000)
                    {
                        ignore(which)(context, seen);
                    }
                }
            },
        ),
        Fault::request(
            "search.activated-range/small-letter-before-fraction",
            "Behind a fraction `z` is rejected.",
            Context::reject,
        )
        .when(|context, seen| {
            [FROM, TO]
                .into_iter()
                .filter_map(|which| text(context, seen, which))
                .any(|text| text.contains('.') && text.ends_with('z'))
        }),
        Fault::request(
            "search.activated-range/far-offset-rejected",
            "An offset of more than 14 hours is rejected.",
            Context::reject,
        )
        .when(|context, seen| {
            [FROM, TO].into_iter().any(|which| {
                let hours = text(context, seen, which).and_then(|text| offset(&text));
                hours.is_some_and(|offset| offset.abs() > SignedDuration::from_hours(14))
            })
        }),
        Fault::request(
            "search.activated-range/fraction-rejected",
            "Nanoseconds are rejected.",
            Context::reject,
        )
        .when(|context, seen| {
            [FROM, TO]
                .into_iter()
                .filter_map(|which| text(context, seen, which))
                .any(|text| text.contains(".123456789"))
        }),
        Fault::request("search.activated-range/boolean", "A bound that is true is ignored.", ignore(FROM))
            .when(|context, seen| value(context, seen, FROM).is_some_and(|value| value.is_boolean())),
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
    vec![
        Fault::request(
            "search.activated-order/finds-nothing",
            "Reversed bounds find nothing instead of being rejected.",
            nothing,
        )
        .when(reversed),
        Fault::request("search.activated-order/swapped", "Reversed bounds are swapped.", |context, seen| {
            if let Some((from, to)) = text(context, seen, FROM).zip(text(context, seen, TO)) {
                put(context, seen, FROM, to);
                put(context, seen, TO, from);
            }
        })
        .when(reversed),
        Fault::request(
            "search.activated-order/a-little",
            "Bounds that are reversed by less than a second are taken.",
            nothing,
        )
        .when(move |context, seen| {
            both(context, seen)
                .is_some_and(|(from, to)| to < from && from.duration_since(to) < SignedDuration::from_secs(1))
        }),
        Fault::request("search.activated-order/a-day", "Only the days of the bounds are compared.", nothing)
            .when(move |context, seen| {
                both(context, seen).is_some_and(|(from, to)| {
                    to < from && from.duration_since(to) < SignedDuration::from_hours(24)
                })
            }),
        Fault::request("search.activated-order/by-text", "Bounds are compared as texts.", nothing).when(
            move |context, seen| {
                reversed(context, seen) && texts(context, seen).is_some_and(|(from, to)| from <= to)
            },
        ),
        Fault::request(
            "search.activated-order/rejected-by-text",
            "Bounds in order are rejected when their texts are not.",
            Context::reject,
        )
        .when(move |context, seen| {
            !reversed(context, seen) && texts(context, seen).is_some_and(|(from, to)| to < from)
        }),
        Fault::request(
            "search.activated-order/equal-rejected",
            "Equal bounds are rejected.",
            Context::reject,
        )
        .when(move |context, seen| both(context, seen).is_some_and(|(from, to)| from == to)),
        Fault::reply("search.activated-order/breaks", "Reversed bounds break the server.", |_, _, reply| {
            *reply = Reply::json_with(500, &json!({"message": "range"}));
        })
        .when(reversed),
    ]
}
