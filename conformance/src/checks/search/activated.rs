//! Bounds on the activation time: their format, their order, and which instances they admit.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::filters::cases_of_sizes;
use super::rules::{A_PORT, other_members};
use super::*;
use crate::grammar::date_times;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.activated-order.reversed", |scope| {
        let rows = stated("search.activated-order.reversed", scope).into_iter();
        cases(SearchActivatedOrder, rows.chain(beside_others("reversed", LATE, EARLY)))
    }),
    active("search.activated-range.alone", |_| {
        let sides: [(&str, Bounds); 3] = [(ACTIVATED_FROM, FROM), (ACTIVATED_TO, TO), ("both", UNTIL)];
        let mut cases = bounded(sides.map(|(label, side)| (label, 5, vec![side], spread as Times, None)));
        for (side, property) in [("from", ACTIVATED_FROM), ("to", ACTIVATED_TO)] {
            let sized = kinds_of(&[property]).into_iter().flat_map(cases_of_sizes);
            cases.extend(sized.map(|case| case.relabelled(|label| format!("{side}, {label}"))));
        }
        cases
    }),
    active("search.activated-range.beyond", |_| {
        let steps = [
            ("after", 9, vec![FROM], (|account| chosen(account, 1)) as Times, None),
            ("before", 9, vec![TO], |account| chosen(account, -1), None),
            ("at midnight", 6, vec![FROM, TO], midnights, None),
        ];
        let reversed = surveyed([("reversed by one step", 18, ())], reversed_by_one_step);
        let [after, before, midnight] = steps.map(|step| bounded([step]));
        [after, before, reversed, midnight].concat()
    }),
    active("search.activated-range.format", |_| {
        // Each bound, and a value of the other one that contradicts none of its own.
        let bounds = [
            ([ACTIVATED_FROM, ACTIVATED_TO], "2099-12-31T00:00:00Z"),
            ([ACTIVATED_TO, ACTIVATED_FROM], "1970-01-01T00:00:00Z"),
        ];
        let rows = bounds.into_iter().flat_map(|(names, other)| {
            let reasons = by_reason(date_times()).into_iter().enumerate();
            reasons.map(move |(at, reason)| format_row(names, other, at, reason))
        });
        let no_zone = beside_others("no time zone", "2026-01-01T00:00:00", "2026-06-30T00:00:00");
        cases(SearchActivatedRange, rows.chain(no_zone))
    }),
    active("search.activated-range.offsets", |_| {
        let offsets =
            OFFSETS.map(|(label, minutes)| (label, 10, vec![FROM, TO], some as Times, Some(minutes)));
        // A service may remember a result under the text of a bound without its offset.
        let alike = row(Relation::Survey, "one local time in two offsets", 2, |account, ()| {
            let own = chosen(account, 0)?;
            let time = own[own.len() / 2];
            let (label, minutes) = OFFSETS[OFFSETS.len() - 1];
            let ahead = SignedDuration::from_mins(minutes.into());
            let earlier =
                time.checked_sub(ahead).map_err(|error| Stop::Error(format!("{label}: {error}")))?;
            let there = Query { offset: Some(minutes), ..within(account, FROM(earlier)) };
            Ok(vec![Query { offset: Some(0), ..within(account, FROM(time)) }, there])
        });
        [bounded(offsets), alike].concat()
    }),
    active("search.activated-range.own-instant", |_| {
        let sides: [(&str, Bounds); 3] = [(ACTIVATED_FROM, FROM), (ACTIVATED_TO, TO), ("both", BOTH)];
        let own: Times = |account| chosen(account, 0);
        bounded(sides.map(|(label, side)| (label, 9, vec![side], own, None)))
    }),
];

const EARLY: &str = "2026-01-01T00:00:00Z";
const LATE: &str = "2026-06-30T00:00:00Z";

const OTHER_PARAMETERS: [Company; 4] = [
    ("a page size", &[Set(PAGE_SIZE, Min(0))]),
    SECOND_PAGE,
    A_PORT,
    ("many items", &[Set(IPS, Value::Items("max addresses"))]),
];

/// Invalid bounds beside each other member.
fn beside_others(label: &'static str, lower: &'static str, upper: &'static str) -> impl Iterator<Item = Row> {
    filters().chain(OTHER_PARAMETERS).map(move |(member, edits)| {
        let row = invalid(words(lower, upper), between(lower, upper));
        let valid = [edits, &between(EARLY, LATE)].concat();
        let row = row.changing(format!("bounds in order, beside {member}"), valid, 0).doubtful();
        row.labelled(format!("{label}, beside {member}"))
    })
}

fn between(lower: &'static str, upper: &'static str) -> [Edit; 2] {
    [Set(ACTIVATED_FROM, Value::Word(lower)), Set(ACTIVATED_TO, Value::Word(upper))]
}

fn words(lower: &str, upper: &str) -> String {
    format!("{ACTIVATED_FROM} {lower} and {ACTIVATED_TO} {upper}")
}

/// Spellings of one kind, each sent alone, and beside the other bound or, if malformed, beside one of the other members in turn.
fn format_row(
    [name, opposite]: [&'static str; 2],
    other: &'static str,
    at: usize,
    Reason { text: kind, is_valid, spellings, .. }: Reason,
) -> Row {
    let members = other_members().into_iter().filter(|(label, _)| *label != A_RANGE.0).map(Some);
    let member = std::iter::once(None).chain(members).cycle().nth(at).flatten().filter(|_| !is_valid);
    let position =
        member.map_or("beside the other bound".to_owned(), |(member, _)| format!("beside {member}"));
    // A valid instant may contradict the other bound.
    let is_in_order = |text: &str| match (instant(text), instant(other)) {
        (Some(own), Some(other)) if is_valid && name == ACTIVATED_FROM => own <= other,
        (Some(own), Some(other)) if is_valid => own >= other,
        _ => true,
    };
    let sent = |text: &String, position: &str, edits: &[Edit]| {
        let edits = edits.iter().cloned().chain([field(name, text.as_str())]).collect();
        (format!("{name} is {text:?}, {kind}, {position}"), edits)
    };
    let alone =
        spellings.iter().map(|text| sent(text, "alone", &[Edit::Change(|probe, _| Ok(probe.any_search()))]));
    // Of the malformed ones, each bound is sent beside others every second time, in turn with the other bound.
    let is_sent = is_valid || at.is_multiple_of(2) == (name == ACTIVATED_FROM);
    let beside = spellings.iter().filter(|text| is_sent && is_in_order(text));
    let beside = beside.map(|text| sent(text, &position, &[]));
    let row = valid_if(is_valid, "", []).labelled(format!("{name}: {kind}")).sending(alone.chain(beside));
    match member {
        Some(member) => row.beside(member),
        None => row.changing(format!("beside {name}"), [Set(opposite, Value::Word(other))], 0),
    }
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
    account.survey.query().filtered(filters).citing(SearchActivatedRange)
}

async fn reversed_by_one_step(probe: &Probe<'_>, (): ()) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    for time in chosen(account, 0)? {
        let Ok(before) = time.checked_sub(account.survey.step()) else { continue };
        let why = format!("activatedTo {before} is just earlier than activatedFrom {time}");
        let [good, bad] = [time, before].map(|to| within(account, [Some(time), Some(to)]).request(probe));
        probe.control_once(&good).await?;
        probe.rejects(SearchActivatedOrder, &why, &bad).await?;
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
