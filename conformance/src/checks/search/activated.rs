//! Bounds on the activation time: their format, their order, and which instances they admit.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::SEARCH;
use super::addresses;
use super::cases::{
    A_RANGE, Change, FILTERS, Member, OTHER_MEMBERS, SECOND_PAGE, beside_member, control, surveyed,
};
use super::filters::cases_of_sizes;
use super::row::{self, Row};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::values::instant;
use crate::checks::relation::{
    Comparison, Filter, FilterKind, Instance, Survey, apply, lacks_addresses, survey,
};
use crate::contract::part::{ACTIVATED_FROM, ACTIVATED_TO, IPS, PAGE_SIZE};
use crate::contract::{Clause, Property, Search};
use crate::grammar::{Reason, by_reason, date_times};
use crate::target::Fact;
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
                between(row, reversed)
                    .changing_doubtful(None, move |search, good| in_order(change(search, good)))
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
        needs: &[Fact::OwnAddresses],
        run: Run::Cases(|_| {
            let rows: [(&str, Bounds); 3] = [
                ("activatedFrom", |time| vec![Filter::ActivatedFrom(time)]),
                ("activatedTo", |time| vec![Filter::ActivatedTo(time)]),
                ("both", |time| {
                    vec![Filter::ActivatedFrom(time.min(Timestamp::UNIX_EPOCH)), Filter::ActivatedTo(time)]
                }),
            ];
            let mut cases = surveyed(rows.map(|(label, bounds)| (label, 5, bounds)), alone);
            for (side, kind) in [("from", FilterKind::ActivatedFrom), ("to", FilterKind::ActivatedTo)] {
                let sized = cases_of_sizes(kind).into_iter();
                cases.extend(sized.map(|case| case.relabelled(|label| format!("{side}, {label}"))));
            }
            cases
        }),
        ..SEARCH
    },
    Check {
        id: "search.activated-range.beyond",
        title: "a bound one step past an activation excludes it, and one at midnight does not stand for the day",
        why: "If bounds are rounded to seconds or days, results include activations of the neighbouring period, some of them twice.",
        clauses: &[Clause::SearchActivatedRange, Clause::SearchActivatedOrder],
        needs: &[Fact::OwnAddresses],
        run: Run::Cases(|_| {
            let cases =
                [("after", 9, Side::From), ("before", 9, Side::To), ("reversed by one step", 18, Side::Both)];
            let mut cases = surveyed(cases, beyond);
            cases.extend(surveyed([("at midnight", 6, ())], at_midnight));
            cases
        }),
        ..SEARCH
    },
    Check {
        id: "search.activated-range.format",
        title: "both bounds accept RFC 3339 with a time zone and nothing else",
        why: "The meaning of a time without a zone depends on the machine. A guessed zone shifts every report by hours.",
        clauses: &[Clause::SearchActivatedRange],
        run: Run::Cases(|scope| {
            let search = &scope.contract.search;
            let bounds: [BoundPair; 2] = [
                |search| [&search.activated_from, &search.activated_to],
                |search| [&search.activated_to, &search.activated_from],
            ];
            // Values of the other bound that contradict no bound.
            let others = ["2099-12-31T00:00:00Z", "1970-01-01T00:00:00Z"];
            let cases = bounds.into_iter().zip(others).flat_map(|(bound, other)| {
                let name = bound(search)[0].name.clone();
                let reasons = by_reason(date_times(0)).into_iter().enumerate();
                reasons.map(move |(at, reason)| {
                    let member = if reason.is_valid { None } else { other_member(at) };
                    format_case(&name, bound, other, member, reason)
                })
            });
            let without_zone = FILTERS.into_iter().chain(OTHER_PARAMETERS).map(|(label, change)| {
                let row = Row::rejects(Clause::SearchActivatedRange, format!("no time zone, beside {label}"));
                let row = between(row, ["2026-01-01T00:00:00", "2026-06-30T00:00:00"]);
                row.changing_doubtful(None, move |search, good| in_order(change(search, good))).case()
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
        needs: &[Fact::OwnAddresses],
        run: Run::Cases(|_| {
            let cases = OFFSETS.map(|(label, minutes)| (label, 10, minutes));
            surveyed(cases, offsets)
        }),
        ..SEARCH
    },
    Check {
        id: "search.activated-range.own-instant",
        title: "a bound equal to an activation includes it, on either side and on both",
        why: "With exclusive bounds, consecutive periods miss the activations between them, such as those at midnight.",
        clauses: &[Clause::SearchActivatedRange],
        needs: &[Fact::OwnAddresses],
        run: Run::Cases(|_| {
            let rows: [(&str, Bounds); 3] = [
                ("activatedFrom", |time| vec![Filter::ActivatedFrom(time)]),
                ("activatedTo", |time| vec![Filter::ActivatedTo(time)]),
                ("both", |time| vec![Filter::ActivatedFrom(time), Filter::ActivatedTo(time)]),
            ];
            surveyed(rows.map(|(label, bounds)| (label, 9, bounds)), own_instant)
        }),
        ..SEARCH
    },
];

type Bounds = fn(Timestamp) -> Vec<Filter>;

#[derive(Debug, Clone, Copy)]
enum Side {
    From,
    To,
    Both,
}

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

type BoundPair = fn(&Search) -> [&Property; 2];

/// Spellings of one kind, each sent alone and beside another member, or beside the other bound if there is no other member.
fn format_case(
    name: &str,
    bound: BoundPair,
    other: &'static str,
    member: Option<Member>,
    reason: Reason,
) -> Case {
    let requests = 2 * u32::try_from(reason.spellings.len()).unwrap_or(u32::MAX);
    let label = format!("{name}: {}", reason.text);
    let beside = format!("beside {}", member.map_or(name, |(member, _)| member));
    let case = Case::for_data(label, Cost::requests(requests), (bound, other, member, reason), judge_format);
    control(case).sharing(beside, Cost::requests(1))
}

async fn judge_format(
    probe: &Probe<'_>,
    (bound, other, member, reason): (BoundPair, &'static str, Option<Member>, Reason),
) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchActivatedRange;
    let [bound, opposite] = bound(&probe.contract().search);
    let is_lower = bound.name == ACTIVATED_FROM;
    let in_order = |text: &str| match (instant(text), instant(other)) {
        (Some(own), Some(other)) if is_lower => own <= other,
        (Some(own), Some(other)) => own >= other,
        _ => true,
    };
    let alone = probe.any_search();
    let beside = match member {
        Some(member) => (beside_member(probe, member).await?, format!("beside {}", member.0)),
        None => (alone.clone().field(&opposite.name, other), "beside the other bound".to_owned()),
    };
    for (place, (good, position)) in [(alone, "alone".to_owned()), beside].into_iter().enumerate() {
        for text in &reason.spellings {
            // A valid instant may contradict the other bound.
            if place > 0 && reason.is_valid && !in_order(text) {
                continue;
            }
            let why = format!("{} is {text:?}, {}, {position}", bound.name, reason.text);
            let request = good.clone().field(&bound.name, text.as_str());
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

async fn alone(probe: &Probe<'_>, bounds: Bounds) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let times = survey.activations();
    let day = SignedDuration::from_hours(24);
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Err(none_activated(probe)) };
    let wide = [first.checked_sub(day).ok(), last.checked_add(day).ok()].into_iter().flatten();
    let quarters = [1, 2, 3].into_iter().filter_map(|part| times.get(times.len() * part / 4).copied());
    for bounds in wide.chain(quarters).map(bounds) {
        judge(probe, &mut comparison, &bounds, ToString::to_string).await?;
    }
    comparison.conclude(probe).await
}

async fn own_instant(probe: &Probe<'_>, bounds: Bounds) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for bounds in chosen(probe, survey)?.into_iter().map(bounds) {
        judge(probe, &mut comparison, &bounds, ToString::to_string).await?;
    }
    comparison.conclude(probe).await
}

/// The step is the precision of the service's own times, since it may store no finer ones.
async fn beyond(probe: &Probe<'_>, side: Side) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for time in chosen(probe, survey)? {
        let (Ok(after), Ok(before)) = (time.checked_add(survey.step()), time.checked_sub(survey.step()))
        else {
            continue;
        };
        match side {
            Side::From => {
                judge(probe, &mut comparison, &[Filter::ActivatedFrom(after)], ToString::to_string).await?
            }
            Side::To => {
                judge(probe, &mut comparison, &[Filter::ActivatedTo(before)], ToString::to_string).await?
            }
            Side::Both => {
                let between = |to| {
                    apply(
                        search,
                        survey.request.clone(),
                        &[Filter::ActivatedFrom(time), Filter::ActivatedTo(to)],
                    )
                };
                let why = format!("activatedTo {before} is just earlier than activatedFrom {time}");
                let (good, bad) = (between(time), between(before));
                probe.rejects_after_control(Clause::SearchActivatedOrder, &why, &good, &bad).await?;
            }
        }
    }
    comparison.conclude(probe).await
}

/// A bound at midnight is an instant, and does not stand for the day that begins or ends with it.
async fn at_midnight(probe: &Probe<'_>, (): ()) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let midnight = |time: &Timestamp| {
        let since = time.as_nanosecond().rem_euclid(DAY_IN_NANOSECONDS);
        (since > 0).then(|| Timestamp::from_nanosecond(time.as_nanosecond() - since).ok()).flatten()
    };
    let times = survey.activations();
    if times.is_empty() {
        return Err(none_activated(probe));
    }
    let mut midnights: Vec<_> = times.iter().filter_map(midnight).collect();
    midnights.dedup();
    let Some(last) = midnights.len().checked_sub(1) else {
        return Err(probe.skip("all instances at the searched addresses were activated at midnight"));
    };
    let mut some = vec![midnights[0], midnights[last / 2], midnights[last]];
    some.dedup();
    for time in some {
        for bounds in [[Filter::ActivatedFrom(time)], [Filter::ActivatedTo(time)]] {
            judge(probe, &mut comparison, &bounds, ToString::to_string).await?;
        }
    }
    comparison.conclude(probe).await
}

const DAY_IN_NANOSECONDS: i128 = 24 * 60 * 60 * 1_000_000_000;

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

async fn offsets(probe: &Probe<'_>, minutes: i32) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let own = chosen(probe, survey)?;
    let middle = own.get(own.len() / 2).copied();
    let offset = Offset::from_seconds(minutes * 60).map_err(|error| Stop::Error(error.to_string()))?;
    let write = |time: &Timestamp| time.display_with_offset(offset).to_string();
    for time in own.iter().copied().step_by(3).chain(middle.and_then(new_year)) {
        for bounds in [[Filter::ActivatedFrom(time)], [Filter::ActivatedTo(time)]] {
            judge(probe, &mut comparison, &bounds, write).await?;
        }
    }
    comparison.conclude(probe).await
}

/// The beginning of the year, since offsets move it into another year.
fn new_year(near: Timestamp) -> Option<Timestamp> {
    let year = Offset::UTC.to_datetime(near).year();
    Offset::UTC.to_timestamp(jiff::civil::DateTime::new(year, 1, 1, 0, 0, 0, 0).ok()?).ok()
}

/// Some activation times: the first, the last, the one with the most fractional digits, one at midnight, and some in between.
fn chosen(probe: &Probe<'_>, survey: &Survey) -> Result<Vec<Timestamp>, Stop> {
    const BETWEEN: usize = 6;
    let times = survey.activations();
    if times.is_empty() {
        return Err(none_activated(probe));
    }
    let finest = survey.instances.values().filter(|instance| instance.activation().is_some());
    let finest = finest.max_by_key(|instance| instance.digits).and_then(Instance::activation);
    let between = (0..=BETWEEN).filter_map(|part| times.get((times.len() - 1) * part / BETWEEN).copied());
    // A range of whole days begins or ends with it.
    let midnight = times.iter().copied().find(|time| time.as_nanosecond() % DAY_IN_NANOSECONDS == 0);
    let mut chosen: Vec<_> = between.chain(finest).chain(midnight).collect();
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

fn none_activated(probe: &Probe<'_>) -> Stop {
    let lacks = "no instance at the searched addresses was activated at a time that a bound can have";
    lacks_addresses(probe, lacks, "addresses of activated instances")
}

/// A search with these bounds, formatted by `write`, must find the surveyed instances that they admit.
async fn judge(
    probe: &Probe<'_>,
    comparison: &mut Comparison<'_>,
    bounds: &[Filter],
    write: impl Fn(&Timestamp) -> String,
) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchActivatedRange;
    let survey = comparison.survey();
    let mut request = survey.request.clone();
    let mut words = Vec::new();
    for bound in bounds {
        let (Filter::ActivatedFrom(time) | Filter::ActivatedTo(time)) = bound else { continue };
        let from = bound.kind() == FilterKind::ActivatedFrom;
        let name = if from { ACTIVATED_FROM } else { ACTIVATED_TO };
        let text = write(time);
        words.push(format!("{name}={text}"));
        request = request.field(name, text);
    }
    let what = words.join(" & ");
    comparison.finds(probe, CLAUSE, &what, &request, &survey.admitted(bounds)).await
}
