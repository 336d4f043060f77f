//! Bounds on the activation time: their form, their order, and which instances they admit.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::addresses;
use super::cases::{
    A_RANGE, Change, FILTERS, OTHER_MEMBERS, SECOND_PAGE, beside_member, control, control_or_skip, surveyed,
};
use super::filters::cases_of_sizes;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::values::instant;
use crate::checks::relation::{
    Comparison, Filter, FilterKind, Instance, Survey, apply, read_accepted, survey,
};
use crate::contract::{Clause, OperationId, Property, Search};
use crate::grammar::{Reason, by_reason, date_times};
use crate::target::Fact;

pub(super) static ORDER_REVERSED: Check = Check {
    id: "search.activated-order.reversed",
    title: "`activatedTo` earlier than `activatedFrom` is rejected, compared as instants and not as text",
    why: "Swapped bounds that are accepted return an empty list, which reads like \"nothing was activated then\".",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedOrder],
    needs: &[],
    run: Run::Cases(|_| {
        let in_order = IN_ORDER.into_iter().map(|row| order_case(row, true));
        let reversed = REVERSED.into_iter().map(|row| order_case(row, false));
        let beside = |(label, change)| {
            let label = format!("reversed, beside {label}");
            with_other_parameters(
                label,
                change,
                Clause::SearchActivatedOrder,
                ["2026-06-30T00:00:00Z", "2026-01-01T00:00:00Z"],
            )
        };
        in_order.chain(reversed).chain(FILTERS.into_iter().chain(OTHER_PARAMETERS).map(beside)).collect()
    }),
};

pub(super) static RANGE_ALONE: Check = Check {
    id: "search.activated-range.alone",
    title: "each bound may stand alone, and an instance that was never activated matches none",
    why: "Billing jobs ask for everything since a date. If both bounds are needed, or pending instances count, their sums are wrong.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let rows: [(&str, BoundSets); 3] = [
            ("activatedFrom", |time| vec![vec![Filter::ActivatedFrom(time)]]),
            ("activatedTo", |time| vec![vec![Filter::ActivatedTo(time)]]),
            ("both", |time| {
                vec![vec![Filter::ActivatedFrom(time.min(Timestamp::UNIX_EPOCH)), Filter::ActivatedTo(time)]]
            }),
        ];
        let mut cases = surveyed(rows.map(|(label, sides)| (label.to_owned(), 5, sides)), |probe, sides| {
            Box::pin(alone(probe, sides))
        });
        for (side, kind) in [("from", FilterKind::ActivatedFrom), ("to", FilterKind::ActivatedTo)] {
            let sized = cases_of_sizes(kind).into_iter();
            cases.extend(sized.map(|case| case.relabelled(|label| format!("{side}, {label}"))));
        }
        cases
    }),
};

pub(super) static RANGE_BEYOND: Check = Check {
    id: "search.activated-range.beyond",
    title: "a bound one step past an activation excludes it",
    why: "Bounds that are rounded to seconds or days report activations of the neighbouring period, and some of them twice.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange, Clause::SearchActivatedOrder],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases = [
            ("after", 8, Bounds::From),
            ("before", 8, Bounds::To),
            ("reversed by one step", 16, Bounds::Both),
        ];
        surveyed(cases.map(|(label, requests, side)| (label.to_owned(), requests, side)), |probe, side| {
            Box::pin(beyond(probe, side))
        })
    }),
};

pub(super) static RANGE_FORMAT: Check = Check {
    id: "search.activated-range.format",
    title: "both bounds take RFC 3339 with a time zone and nothing else",
    why: "A time without a zone means another instant on each machine. A guessed zone shifts every report by hours.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange],
    needs: &[],
    run: Run::Cases(|scope| {
        let search = &scope.contract.search;
        let bounds: [fn(&Search) -> [&Property; 2]; 2] = [
            |search| [&search.activated_from, &search.activated_to],
            |search| [&search.activated_to, &search.activated_from],
        ];
        // Something that no bound of the other side contradicts.
        let others = ["2099-12-31T00:00:00Z", "1970-01-01T00:00:00Z"];
        let cases = bounds.into_iter().zip(others).flat_map(|(bound, other)| {
            let name = bound(search)[0].name.clone();
            let reasons = by_reason(date_times(0)).into_iter().enumerate();
            reasons.map(move |(at, reason)| {
                let member = if reason.is_valid { None } else { other_member(at) };
                format_case(&name, bound, other, member, reason)
            })
        });
        let without_zone = |(label, change)| {
            let label = format!("no time zone, beside {label}");
            with_other_parameters(
                label,
                change,
                Clause::SearchActivatedRange,
                ["2026-01-01T00:00:00", "2026-06-30T00:00:00"],
            )
        };
        cases.chain(FILTERS.into_iter().chain(OTHER_PARAMETERS).map(without_zone)).collect()
    }),
};

pub(super) static RANGE_OFFSETS: Check = Check {
    id: "search.activated-range.offsets",
    title: "a bound means the same instant in whatever offset it is written",
    why: "Callers send local times. A server that ignores the offset shifts the range by hours, unnoticed.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases = OFFSETS.map(|(label, minutes)| (label.to_owned(), 10, minutes));
        surveyed(cases, |probe, minutes| Box::pin(offsets(probe, minutes)))
    }),
};

pub(super) static RANGE_OWN_INSTANT: Check = Check {
    id: "search.activated-range.own-instant",
    title: "a bound equal to an activation includes it, on either side and on both",
    why: "With exclusive bounds, adjoining periods lose the activations between them, such as those at midnight.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let rows: [(&str, BoundSets); 3] = [
            ("activatedFrom", |time| vec![vec![Filter::ActivatedFrom(time)]]),
            ("activatedTo", |time| vec![vec![Filter::ActivatedTo(time)]]),
            ("both", |time| vec![vec![Filter::ActivatedFrom(time), Filter::ActivatedTo(time)]]),
        ];
        surveyed(rows.map(|(label, sides)| (label.to_owned(), 8, sides)), |probe, sides| {
            Box::pin(own_instant(probe, sides))
        })
    }),
};

/// Sets of bounds made from an instant.
type BoundSets = fn(Timestamp) -> Vec<Vec<Filter>>;

#[derive(Debug, Clone, Copy)]
enum Bounds {
    From,
    To,
    Both,
}

/// Lower and upper bounds that are equal, or that compare the other way round as texts.
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

/// What else a search may carry, under which its bounds are judged all the same.
const OTHER_PARAMETERS: [(&str, Change); 4] = [
    ("a page size", |search, good| good.field(&search.page_size.name, *search.page_sizes.start())),
    SECOND_PAGE,
    ("an item with a port", |search, good| good.field(&search.ips.name, vec!["203.0.113.250:8080"])),
    ("many items", |search, good| good.field(&search.ips.name, addresses::distinct(search.distinct_items))),
];

/// Bounds that are rejected, beside another member; unknown values of a filter may be rejected by themselves.
fn with_other_parameters(label: String, change: Change, clause: Clause, bounds: [&'static str; 2]) -> Case {
    Case::with(label, Cost::requests(2), (change, clause, bounds), |probe, (change, clause, bounds)| {
        Box::pin(async move {
            let search = &probe.contract().search;
            let (from, to) = (&search.activated_from.name, &search.activated_to.name);
            let between = |lower: &str, upper: &str| {
                change(search, probe.any_search()).field(from, lower).field(to, upper)
            };
            let good = between("2026-01-01T00:00:00Z", "2026-06-30T00:00:00Z");
            control_or_skip(probe, &good).await?;
            let [lower, upper] = bounds;
            let why = format!("{from} {lower} and {to} {upper}");
            probe.rejects(clause, &why, &between(lower, upper)).await
        })
    })
}

fn order_case((label, lower, upper): (&'static str, &'static str, &'static str), is_allowed: bool) -> Case {
    let case = Case::with(label, Cost::requests(1), (lower, upper, is_allowed), |probe, data| {
        let (lower, upper, is_allowed) = data;
        Box::pin(async move {
            const CLAUSE: Clause = Clause::SearchActivatedOrder;
            let search = &probe.contract().search;
            let (from, to) = (&search.activated_from.name, &search.activated_to.name);
            let between = |lower: &str, upper: &str| probe.any_search().field(from, lower).field(to, upper);
            let good = between("2026-01-01T00:00:00Z", "2026-06-30T00:00:00Z");
            let why = format!("{from} {lower} and {to} {upper}");
            if is_allowed {
                probe.control_once(&good).await?;
                return probe.accepts(CLAUSE, &why, &between(lower, upper)).await.map(drop);
            }
            probe.rejects_after_control(CLAUSE, &why, &good, &between(lower, upper)).await
        })
    });
    case.sharing("bounds in order", Cost::requests(1))
}

/// What a malformed bound is sent beside: the other bound, for which this gives nothing, and each of the other members in turn.
fn other_member(at: usize) -> Option<(&'static str, Change)> {
    let members = OTHER_MEMBERS.into_iter().filter(|(label, _)| *label != A_RANGE.0).map(Some);
    std::iter::once(None).chain(members).cycle().nth(at).flatten()
}

/// Spellings of one kind, each alone and beside another member: the other bound where none is given.
fn format_case(
    name: &str,
    bound: fn(&Search) -> [&Property; 2],
    other: &'static str,
    member: Option<(&'static str, Change)>,
    reason: Reason,
) -> Case {
    let requests = 2 * u32::try_from(reason.spellings.len()).unwrap_or(u32::MAX);
    let label = format!("{name}: {}", reason.text);
    let beside = match member {
        Some((member, _)) => format!("beside {member}"),
        None => format!("beside {name}"),
    };
    let case = Case::with(
        label,
        Cost::requests(requests),
        (bound, other, member, reason),
        |probe, (bound, other, member, reason)| {
            Box::pin(async move {
                const CLAUSE: Clause = Clause::SearchActivatedRange;
                let [bound, opposite] = bound(&probe.contract().search);
                let is_lower = bound.name == probe.contract().search.activated_from.name;
                let in_order = |text: &str| match (instant(text), instant(other)) {
                    (Some(own), Some(other)) => {
                        if is_lower {
                            own <= other
                        } else {
                            own >= other
                        }
                    }
                    _ => true,
                };
                let alone = probe.any_search();
                let beside = match member {
                    Some(member) => (beside_member(probe, member).await?, member.0),
                    None => (alone.clone().field(&opposite.name, other), "the other bound"),
                };
                for (good, position) in [(alone, "alone"), beside] {
                    for text in &reason.spellings {
                        // A valid instant may still contradict the other bound.
                        if position != "alone" && reason.is_valid && !in_order(text) {
                            continue;
                        }
                        let beside = if position == "alone" { "" } else { "beside " };
                        let why = format!("{} is {text:?}, {}, {beside}{position}", bound.name, reason.text);
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
            })
        },
    );
    control(case).sharing(beside, Cost::requests(1))
}

async fn alone(probe: &Probe<'_>, sides: BoundSets) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let times = survey.activations();
    let day = SignedDuration::from_hours(24);
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Err(none_activated(probe)) };
    let wide = [first.checked_sub(day).ok(), last.checked_add(day).ok()].into_iter().flatten();
    let quarters = [1, 2, 3].into_iter().filter_map(|part| times.get(times.len() * part / 4).copied());
    for bounds in wide.chain(quarters).flat_map(sides) {
        judge(probe, &mut comparison, &bounds, ToString::to_string).await?;
    }
    comparison.conclude(probe).await
}

async fn own_instant(probe: &Probe<'_>, sides: BoundSets) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for bounds in chosen(probe, survey)?.into_iter().flat_map(sides) {
        judge(probe, &mut comparison, &bounds, ToString::to_string).await?;
    }
    comparison.conclude(probe).await
}

/// The smallest step is the one that the service has shown: it may keep no finer times.
async fn beyond(probe: &Probe<'_>, side: Bounds) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for time in chosen(probe, survey)? {
        let (Ok(after), Ok(before)) = (time.checked_add(survey.step()), time.checked_sub(survey.step()))
        else {
            continue;
        };
        match side {
            Bounds::From => {
                judge(probe, &mut comparison, &[Filter::ActivatedFrom(after)], ToString::to_string).await?
            }
            Bounds::To => {
                judge(probe, &mut comparison, &[Filter::ActivatedTo(before)], ToString::to_string).await?
            }
            Bounds::Both => {
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

/// Offsets in minutes: negative ones and such of half an hour, across midnight and across the end of the year.
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

/// The beginning of a year, which offsets push to either side.
fn new_year(near: Timestamp) -> Option<Timestamp> {
    let year = Offset::UTC.to_datetime(near).year();
    Offset::UTC.to_timestamp(jiff::civil::DateTime::new(year, 1, 1, 0, 0, 0, 0).ok()?).ok()
}

/// Some activation times: the first, the last, the one shown with the most digits, and some between.
fn chosen(probe: &Probe<'_>, survey: &Survey) -> Result<Vec<Timestamp>, Stop> {
    const BETWEEN: usize = 6;
    let times = survey.activations();
    if times.is_empty() {
        return Err(none_activated(probe));
    }
    let finest = survey.instances.values().filter(|instance| instance.activation().is_some());
    let finest = finest.max_by_key(|instance| instance.digits).and_then(Instance::activation);
    let between = (0..=BETWEEN).filter_map(|part| times.get((times.len() - 1) * part / BETWEEN).copied());
    let mut chosen: Vec<_> = between.chain(finest).collect();
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

fn none_activated(probe: &Probe<'_>) -> Stop {
    probe.skip_lacking(
        "no surveyed instance was activated at a time that a bound can name",
        "addresses of activated instances",
        Fact::OwnAddresses,
    )
}

/// Bounds, written as `write` does, must find what the survey says that they admit.
async fn judge(
    probe: &Probe<'_>,
    comparison: &mut Comparison<'_>,
    bounds: &[Filter],
    write: impl Fn(&Timestamp) -> String,
) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchActivatedRange;
    let search = &probe.contract().search;
    let survey = comparison.survey();
    let mut request = survey.request.clone();
    let mut words = Vec::new();
    for bound in bounds {
        let (Filter::ActivatedFrom(time) | Filter::ActivatedTo(time)) = bound else { continue };
        let from = bound.kind() == FilterKind::ActivatedFrom;
        let name = if from { &search.activated_from.name } else { &search.activated_to.name };
        let text = write(time);
        words.push(format!("{name}={text}"));
        request = request.field(name, text);
    }
    let what = words.join(" & ");
    if let Some(found) = read_accepted(probe, CLAUSE, &what, &request).await? {
        comparison.same(CLAUSE, &what, &survey.admitted(bounds), &found);
    }
    Ok(())
}
