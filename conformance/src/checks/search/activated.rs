//! Bounds on the activation time: their format, and their order.

use jiff::Timestamp;

use super::rules::other_members;
use super::*;
use crate::grammar::date_times;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.activated-range.beyond", |_| {
        surveyed([("reversed by one step", 18, ())], reversed_by_one_step)
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
        cases(SearchActivatedRange, rows)
    }),
];

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
    let alone = spellings.iter().map(|text| sent(text, "alone", &[with(|probe, _| Ok(probe.any_search()))]));
    // Of the malformed ones, each bound is sent beside others every second time, in turn with the other bound.
    let is_sent = is_valid || at.is_multiple_of(2) == (name == ACTIVATED_FROM);
    let beside = spellings.iter().filter(|text| is_sent && is_in_order(text));
    let beside = beside.map(|text| sent(text, &position, &[]));
    let row = valid_if(is_valid, "", []).labelled(format!("{name}: {kind}")).sending(alone.chain(beside));
    match member {
        Some(member) => row.beside(member),
        None => row.changing(format!("beside {name}"), [field(opposite, other)]),
    }
}

async fn reversed_by_one_step(probe: &Probe<'_>, (): ()) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    for time in account.chosen()? {
        let time = Timestamp::from_nanosecond(time).map_err(|error| Stop::Error(error.to_string()))?;
        let Ok(before) = time.checked_sub(account.survey.step()) else { continue };
        let why = format!("{ACTIVATED_TO} {before} is just earlier than {ACTIVATED_FROM} {time}");
        let [good, bad] = [time, before].map(|to| {
            let bounds = kinds().filter(|kind| kind.is_bound()).zip([time, to]);
            let filters = bounds.map(|(kind, time)| kind.with(FieldValue::Time(time)));
            account.survey.query().filtered(filters).request(probe)
        });
        probe.control_once(&good).await?;
        probe.rejects(SearchActivatedOrder, &why, &bad).await?;
    }
    Ok(())
}
