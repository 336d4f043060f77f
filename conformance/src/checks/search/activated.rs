//! Bounds on the activation time: their format, their order, and which instances they admit.

use std::collections::BTreeSet;

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::SEARCH;
use super::addresses;
use super::cases::{
    A_RANGE, Change, FILTERS, Member, OTHER_MEMBERS, SECOND_PAGE, beside_member, control, surveyed,
};
use super::filters::cases_of_sizes;
use super::row::{self, Row};
use super::surveyed::{Account, SURVEYED, rows};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::values::instant;
use crate::checks::relation::{FieldValue, Instance, Query, Relation, kinds_of};
use crate::contract::Clause;
use crate::contract::part::{ACTIVATED_FROM, ACTIVATED_TO, IPS, PAGE_SIZE};
use crate::grammar::{Reason, by_reason, date_times};
use crate::wire::Request;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "search.activated-order.reversed",
        title: "`activatedTo` earlier than `activatedFrom` is rejected, compared as instants and not as text",
        why: "If swapped bounds are accepted, the empty result looks as if nothing was activated in that time.",
        clauses: &[Clause::SearchActivatedOrder],
        run: Run::Cases(|_| {
            let row = |(label, lower, upper): (&str, _, _), is_allowed| {
                let row = Row::accepts_or_rejects(Clause::SearchActivatedOrder, label, is_allowed);
                between(row, [lower, upper]).changing("bounds in order", |_, good| in_order(good))
            };
            let reversed = ["2026-06-30T00:00:00Z", "2026-01-01T00:00:00Z"];
            let beside = FILTERS.into_iter().chain(OTHER_PARAMETERS).map(|(label, change)| {
                let row = Row::rejects(Clause::SearchActivatedOrder, format!("reversed, beside {label}"));
                between(row, reversed).changing_doubtful(None, move |probe, good| {
                    in_order(change(&probe.contract().search, good))
                })
            });
            let alone = IN_ORDER.map(|bounds| row(bounds, true)).into_iter();
            row::cases(alone.chain(REVERSED.map(|bounds| row(bounds, false))).chain(beside))
        }),
        ..SEARCH
    },
    Check {
        id: "search.activated-range.alone",
        title: "each bound is accepted alone, and an instance that was never activated matches none",
        why: "Billing jobs request everything since a date. If both bounds are required, or pending instances match, their sums are wrong.",
        clauses: &[Clause::SearchActivatedRange],
        run: Run::Cases(|_| {
            let sides: [(&str, Bounds); 3] = [(ACTIVATED_FROM, FROM), (ACTIVATED_TO, TO), ("both", UNTIL)];
            let mut cases = bounded(sides.map(|(label, side)| (label, 5, vec![side], spread as Times, None)));
            for (side, property) in [("from", ACTIVATED_FROM), ("to", ACTIVATED_TO)] {
                let sized = kinds_of(&[property]).into_iter().flat_map(cases_of_sizes);
                cases.extend(sized.map(|case| case.relabelled(|label| format!("{side}, {label}"))));
            }
            cases
        }),
        ..SURVEYED
    },
    Check {
        id: "search.activated-range.beyond",
        title: "a bound one step past an activation excludes it, and one at midnight does not stand for the day",
        why: "If bounds are rounded to seconds or days, results include activations of the neighbouring period, some of them twice.",
        clauses: &[Clause::SearchActivatedRange, Clause::SearchActivatedOrder],
        run: Run::Cases(|_| {
            let steps = [
                ("after", 9, vec![FROM], (|account| chosen(account, 1)) as Times, None),
                ("before", 9, vec![TO], |account| chosen(account, -1), None),
                ("at midnight", 6, vec![FROM, TO], midnights, None),
            ];
            let reversed = surveyed([("reversed by one step", 18, ())], reversed_by_one_step);
            let [after, before, midnight] = steps.map(|step| bounded([step]));
            [after, before, reversed, midnight].concat()
        }),
        ..SURVEYED
    },
    Check {
        id: "search.activated-range.format",
        title: "both bounds accept RFC 3339 with a time zone and nothing else",
        why: "The meaning of a time without a zone depends on the machine. A guessed zone shifts every report by hours.",
        clauses: &[Clause::SearchActivatedRange],
        run: Run::Cases(|_| {
            // Each bound, and a value of the other one that contradicts none of its own.
            let bounds = [
                ([ACTIVATED_FROM, ACTIVATED_TO], "2099-12-31T00:00:00Z"),
                ([ACTIVATED_TO, ACTIVATED_FROM], "1970-01-01T00:00:00Z"),
            ];
            let cases = bounds.into_iter().flat_map(|(names, other)| {
                let reasons = by_reason(date_times(0)).into_iter().enumerate();
                reasons.map(move |(at, reason)| {
                    let member = if reason.is_valid { None } else { other_member(at) };
                    format_case(names, other, member, reason)
                })
            });
            let without_zone = FILTERS.into_iter().chain(OTHER_PARAMETERS).map(|(label, change)| {
                let row = Row::rejects(Clause::SearchActivatedRange, format!("no time zone, beside {label}"));
                let row = between(row, ["2026-01-01T00:00:00", "2026-06-30T00:00:00"]);
                row.changing_doubtful(None, move |probe, good| {
                    in_order(change(&probe.contract().search, good))
                })
                .case()
            });
            cases.chain(without_zone).collect()
        }),
        ..SEARCH
    },
    Check {
        id: "search.activated-range.offsets",
        title: "a bound means the same instant in every time zone offset",
        why: "Callers send local times. A server that ignores the offset shifts the range by hours, unnoticed.",
        clauses: &[Clause::SearchActivatedRange],
        run: Run::Cases(|_| {
            bounded(OFFSETS.map(|(label, minutes)| (label, 10, vec![FROM, TO], some as Times, Some(minutes))))
        }),
        ..SURVEYED
    },
    Check {
        id: "search.activated-range.own-instant",
        title: "a bound equal to an activation includes it, on either side and on both",
        why: "With exclusive bounds, consecutive periods miss the activations between them, such as those at midnight.",
        clauses: &[Clause::SearchActivatedRange],
        run: Run::Cases(|_| {
            let sides: [(&str, Bounds); 3] = [(ACTIVATED_FROM, FROM), (ACTIVATED_TO, TO), ("both", BOTH)];
            let own: Times = |account| chosen(account, 0);
            bounded(sides.map(|(label, side)| (label, 9, vec![side], own, None)))
        }),
        ..SURVEYED
    },
];

/// Lower and upper bounds in order. Some of them compare the other way round as texts.
const IN_ORDER: [(&str, &str, &str); 10] = [
    ("far apart", "1960-01-01T00:00:00Z", "2300-01-01T00:00:00Z"),
    ("later, both before 1970", "1960-01-01T00:00:00Z", "1960-01-02T00:00:00Z"),
    ("later, both after 2262", "2290-01-01T00:00:00Z", "2300-01-01T00:00:00Z"),
    ("equal", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"),
    ("equal in two offsets", "2026-03-01T12:00:00Z", "2026-03-01T13:00:00+01:00"),
    ("equal in half an hour's offset", "2026-03-01T12:00:00+05:30", "2026-03-01T06:30:00Z"),
    ("later, and smaller as text", "2026-03-01T12:00:00+05:30", "2026-03-01T07:00:00Z"),
    ("equal, with a fraction of zero", "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00Z"),
    ("later by a fraction", "2026-03-01T12:00:00.1Z", "2026-03-01T12:00:00.25Z"),
    ("later by a fraction of fewer digits", "2026-03-01T12:00:00.25Z", "2026-03-01T12:00:00.3Z"),
];

const REVERSED: [(&str, &str, &str); 9] = [
    ("earlier, both before 1970", "1965-01-01T00:00:00Z", "1960-01-01T00:00:00Z"),
    ("earlier, both after 2262", "2300-01-01T00:00:00Z", "2290-01-01T00:00:00Z"),
    ("earlier by months", "2026-06-30T00:00:00Z", "2026-01-01T00:00:00Z"),
    ("earlier by a second", "2026-03-01T12:00:01Z", "2026-03-01T12:00:00Z"),
    ("earlier by its offset", "2026-03-01T12:00:00Z", "2026-03-01T12:30:00+01:00"),
    ("earlier across the new year", "2025-12-31T23:30:00-01:00", "2026-01-01T00:00:00Z"),
    ("earlier, both in one offset", "2026-03-01T12:00:00+05:30", "2026-03-01T11:59:59+05:30"),
    ("earlier by years, the month later", "2026-01-01T00:00:00Z", "2024-12-31T00:00:00Z"),
    ("earlier by a millisecond", "2026-03-01T12:00:00.002Z", "2026-03-01T12:00:00.001Z"),
];

const OTHER_PARAMETERS: [(&str, Change); 4] = [
    ("a page size", |search, good| good.field(PAGE_SIZE, *search.page_sizes.start())),
    SECOND_PAGE,
    ("an item with a port", |_, good| good.field(IPS, vec!["203.0.113.250:8080"])),
    ("many items", |search, good| good.field(IPS, addresses::distinct(search.distinct_items))),
];

/// The row with a search between these bounds.
fn between(row: Row, [lower, upper]: [&'static str; 2]) -> Row {
    let why = format!("{ACTIVATED_FROM} {lower} and {ACTIVATED_TO} {upper}");
    row.sending(why, move |_, good| Ok(good.field(ACTIVATED_FROM, lower).field(ACTIVATED_TO, upper)))
}

fn in_order(good: Request) -> Request {
    good.field(ACTIVATED_FROM, "2026-01-01T00:00:00Z").field(ACTIVATED_TO, "2026-06-30T00:00:00Z")
}

/// The member beside which a malformed bound is sent: `None` stands for the other bound; the other members rotate.
fn other_member(at: usize) -> Option<Member> {
    let members = OTHER_MEMBERS.into_iter().filter(|(label, _)| *label != A_RANGE.0).map(Some);
    std::iter::once(None).chain(members).cycle().nth(at).flatten()
}

/// Spellings of one kind, each sent alone and beside another member, or beside the other bound if there is no other member.
fn format_case(
    names: [&'static str; 2],
    other: &'static str,
    member: Option<Member>,
    reason: Reason,
) -> Case {
    let requests = 2 * u32::try_from(reason.spellings.len()).unwrap_or(u32::MAX);
    let label = format!("{}: {}", names[0], reason.text);
    let beside = format!("beside {}", member.map_or(names[0], |(member, _)| member));
    let case = Case::for_data(label, Cost::requests(requests), (names, other, member, reason), judge_format);
    control(case).sharing(beside, Cost::requests(1))
}

async fn judge_format(
    probe: &Probe<'_>,
    ([name, opposite], other, member, reason): ([&'static str; 2], &'static str, Option<Member>, Reason),
) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchActivatedRange;
    let in_order = |text: &str| match (instant(text), instant(other)) {
        (Some(own), Some(other)) => {
            if name == ACTIVATED_FROM {
                own <= other
            } else {
                own >= other
            }
        }
        _ => true,
    };
    let alone = probe.any_search();
    let beside = match member {
        Some(member) => (beside_member(probe, member).await?, format!("beside {}", member.0)),
        None => (alone.clone().field(opposite, other), "beside the other bound".to_owned()),
    };
    for (place, (good, position)) in [(alone, "alone".to_owned()), beside].into_iter().enumerate() {
        // A valid instant may contradict the other bound.
        let texts = reason.spellings.iter().filter(|text| place == 0 || !reason.is_valid || in_order(text));
        for text in texts {
            let why = format!("{name} is {text:?}, {}, {position}", reason.text);
            let request = good.clone().field(name, text.as_str());
            if reason.is_valid {
                probe.control_once(&good).await?;
                probe.accepts(CLAUSE, &why, &request).await?;
            } else {
                probe.rejects_after_control(CLAUSE, &why, &good, &request).await?;
            }
        }
    }
    Ok(())
}

/// The lower and the upper bound of a search about a time.
type Bounds = fn(Timestamp) -> [Option<Timestamp>; 2];

const FROM: Bounds = |time| [Some(time), None];
const TO: Bounds = |time| [None, Some(time)];
const BOTH: Bounds = |time| [Some(time), Some(time)];
/// Since long ago.
const UNTIL: Bounds = |time| [Some(time.min(Timestamp::UNIX_EPOCH)), Some(time)];

/// Chooses the times of a case.
type Times = fn(Account<'_>) -> Result<Vec<Timestamp>, Stop>;

/// Cases of searches with each of some bounds about each of some times: label, own requests, bounds, times, and the offset in which
/// they are written.
fn bounded(
    cases: impl IntoIterator<Item = (&'static str, u32, Vec<Bounds>, Times, Option<i32>)>,
) -> Vec<Case> {
    let cases = cases.into_iter();
    let cases =
        cases.map(|(label, requests, bounds, times, offset)| (label, requests, (bounds, times, offset)));
    rows(Relation::Survey, cases, |account, (bounds, times, offset)| {
        let times = times(account)?.into_iter();
        let within = times.flat_map(|time| bounds.iter().map(move |bounds| within(account, bounds(time))));
        Ok(within.map(|query| Query { offset, ..query }).collect())
    })
}

/// A search for all instances that were activated within bounds.
fn within(account: Account<'_>, bounds: [Option<Timestamp>; 2]) -> Query {
    let kinds = kinds_of(&[ACTIVATED_FROM, ACTIVATED_TO]).into_iter();
    let filters = kinds.zip(bounds).filter_map(|(kind, time)| Some(kind.with(FieldValue::Time(time?))));
    account.survey.query().filtered(filters).citing(Clause::SearchActivatedRange)
}

async fn reversed_by_one_step(probe: &Probe<'_>, (): ()) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    for time in chosen(account, 0)? {
        let Ok(before) = time.checked_sub(account.survey.step()) else { continue };
        let why = format!("activatedTo {before} is just earlier than activatedFrom {time}");
        let [good, bad] = [time, before].map(|to| within(account, [Some(time), Some(to)]).request(probe));
        probe.rejects_after_control(Clause::SearchActivatedOrder, &why, &good, &bad).await?;
    }
    Ok(())
}

const DAY_IN_NANOSECONDS: i128 = 24 * 60 * 60 * 1_000_000_000;

/// Midnights before activations. A bound at midnight is an instant, and does not stand for the day that begins or ends with it.
fn midnights(account: Account<'_>) -> Result<Vec<Timestamp>, Stop> {
    let midnight = |time: Timestamp| {
        let since = time.as_nanosecond().rem_euclid(DAY_IN_NANOSECONDS);
        (since > 0).then(|| Timestamp::from_nanosecond(time.as_nanosecond() - since).ok()).flatten()
    };
    let mut midnights: Vec<_> = activations(account)?.into_iter().filter_map(midnight).collect();
    midnights.dedup();
    let Some(last) = midnights.len().checked_sub(1) else {
        return Err(account.probe.skip("all instances at the searched addresses were activated at midnight"));
    };
    let mut some = vec![midnights[0], midnights[last / 2], midnights[last]];
    some.dedup();
    Ok(some)
}

/// Offsets in minutes, among them negative ones and ones with a part of an hour.
const OFFSETS: [(&str, i32); 7] = [
    ("-11:00", -11 * 60),
    ("-03:30", -(3 * 60 + 30)),
    ("-00:45", -45),
    ("+00:00", 0),
    ("+05:30", 5 * 60 + 30),
    ("+12:45", 12 * 60 + 45),
    ("+14:00", 14 * 60),
];

/// Some activation times, and the beginning of a year.
fn some(account: Account<'_>) -> Result<Vec<Timestamp>, Stop> {
    let own = chosen(account, 0)?;
    let middle = own.get(own.len() / 2).copied();
    Ok(own.into_iter().step_by(3).chain(middle.and_then(new_year)).collect())
}

/// The beginning of the year, since offsets move it into another year.
fn new_year(near: Timestamp) -> Option<Timestamp> {
    let year = Offset::UTC.to_datetime(near).year();
    Offset::UTC.to_timestamp(jiff::civil::DateTime::new(year, 1, 1, 0, 0, 0, 0).ok()?).ok()
}

/// The time a day before the first activation and a day after the last one, and some activations in between.
fn spread(account: Account<'_>) -> Result<Vec<Timestamp>, Stop> {
    let times = activations(account)?;
    let day = SignedDuration::from_hours(24);
    let wide = [times[0].checked_sub(day).ok(), times[times.len() - 1].checked_add(day).ok()];
    let quarters = [1, 2, 3].map(|part| times.get(times.len() * part / 4).copied());
    Ok(wide.into_iter().chain(quarters).flatten().collect())
}

/// Some activation times: the first, the last, the one with the most fractional digits, one at midnight, and some in between. Each is
/// moved by some steps of the precision of the service's own times, since it may store no finer ones.
fn chosen(account: Account<'_>, steps: i32) -> Result<Vec<Timestamp>, Stop> {
    const BETWEEN: usize = 6;
    let times = activations(account)?;
    let exact =
        account.survey.instances.values().filter_map(|instance| Some((instance, activation(instance)?)));
    let finest = exact.max_by_key(|(instance, _)| instance.digits).map(|(_, time)| time);
    let between = (0..=BETWEEN).filter_map(|part| times.get((times.len() - 1) * part / BETWEEN).copied());
    // A range of whole days begins or ends with it.
    let midnight = times.iter().copied().find(|time| time.as_nanosecond() % DAY_IN_NANOSECONDS == 0);
    let mut chosen: Vec<_> = between.chain(finest).chain(midnight).collect();
    chosen.sort_unstable();
    chosen.dedup();
    let moved = chosen.into_iter().filter_map(|time| time.checked_add(account.survey.step() * steps).ok());
    Ok(moved.collect())
}

/// Every activation time that a bound can have, ascending.
fn activations(account: Account<'_>) -> Result<Vec<Timestamp>, Stop> {
    let times: BTreeSet<_> = account.survey.instances.values().filter_map(activation).collect();
    let lacks = "no instance at the searched addresses was activated at a time that a bound can have";
    if times.is_empty() {
        Err(account.lacks(lacks, "addresses of activated instances"))
    } else {
        Ok(times.into_iter().collect())
    }
}

fn activation(instance: &Instance) -> Option<Timestamp> {
    let bound = kinds_of(&[ACTIVATED_FROM]).first()?.shown(instance)?;
    if let FieldValue::Time(time) = bound.value { Some(time) } else { None }
}
