//! Repeated request ids: by callers without access, with another transport of the token, and ids that are nearly the same.

use super::access::{NO_ENTITLEMENT, NO_VERIFICATION, NO_WHITELIST};
use super::request_id::SEVERAL;
use super::*;

pub(super) static PROGRAMS: &[Program] = &[
    active("extract.idempotent.access", |_| cases(AllTokenRequired, replays())),
    active("extract.idempotent.distinct", |_| {
        let case = |pair: IdPair| Case::for_data(pair.0, Cost::extraction(3, 5), pair, distinct);
        ID_PAIRS.map(case).into()
    }),
    active("extract.idempotent.transports", |_| {
        let [query, header, bearer] = Transport::ALL;
        let row = |(first, second): (Transport, Transport)| {
            let moved = || vec![Edit::NoToken, Edit::Token(second, Credential::Own)];
            let why = format!("sent again with the token in {}", second.name());
            let row = accept("", "", [set(NUM, SEVERAL), Edit::Id(Place::Query, 0)]);
            let row = row.labelled(format!("{} then {}", first.label(), second.label()));
            let row = row.in_form(Extraction::by(first)).giving(SEVERAL, Unless::Control, &[]);
            // An extraction with the token in the other place is accepted before.
            let row = row.after(moved()).costing(Cost::extraction(4, SEVERAL + 2));
            row.then([Then::Again(ExtractIdempotent, why, moved())])
        };
        let pairs = [(query, header), (query, bearer), (header, query), (bearer, query)];
        cases(ExtractIdempotent, pairs.map(row))
    }),
];

/// Each caller without access repeats a request id with which an extraction was accepted.
fn replays() -> Vec<Row> {
    let row = |label: &str, why: &str, edits: Vec<Edit>| {
        let why = format!("{why}, with the request id of an extraction that was accepted");
        reject(label, why, edits)
    };
    let absent = row("absent token", "the token is absent", vec![Edit::NoToken]);
    let wrong = [WrongToken::EMPTY, WrongToken::UNKNOWN, WrongToken::ALTERED];
    let wrong = wrong.map(|wrong| row(wrong.label, wrong.reason, vec![Edit::By(Credential::Wrong(wrong))]));
    let lacking = [NO_WHITELIST, NO_VERIFICATION, NO_ENTITLEMENT].map(|lack| {
        let row = row(lack.label, lack.reason, vec![Edit::By(lack.credential())]);
        row.citing(lack.clause).needing(lack.fact)
    });
    let callers: Vec<Row> = [absent].into_iter().chain(wrong).chain(lacking).collect();
    let forms = [
        (Extraction::PLAIN, Place::Query),
        (Extraction::PLAIN, Place::Header),
        (Extraction::TEXT, Place::Query),
        (Extraction::by(Transport::Header), Place::Query),
    ];
    let of_form = |(form, place): (Extraction, Place)| {
        let replayed = |row: &Row| row.clone().in_form(form.clone()).replaying(place);
        callers.iter().map(replayed).collect::<Vec<_>>()
    };
    forms.into_iter().flat_map(of_form).collect()
}

/// Two request ids that are nearly the same: label, length in characters, and the characters in which they differ, at the beginning
/// and at the end. A service may have any limit on the length.
type IdPair = (&'static str, usize, [&'static str; 2], [&'static str; 2]);

const ID_PAIRS: [IdPair; 7] = [
    ("last of 22", 22, ["", ""], ["1", "2"]),
    ("last of 36", 36, ["", ""], ["1", "2"]),
    ("last of 65", 65, ["", ""], ["1", "2"]),
    ("last of 129", 129, ["", ""], ["1", "2"]),
    ("first of 22", 22, ["1", "2"], ["", ""]),
    ("a hyphen more", 22, ["", ""], ["", "-"]),
    ("letter case", 22, ["", ""], ["a", "A"]),
];

/// A known id with another `num` is unspecified, but a new id is a new extraction.
async fn distinct(probe: &Probe<'_>, (label, length, before, after): IdPair) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let two = || probe.extract().query(NUM, extract.num_range.start() + 1);
    let fresh = two().query(REQUEST_ID, probe.fresh_request_id());
    let control = probe.control(&fresh).await?;
    if content::count(probe, &fresh, &control.response) < 2 {
        return Err(probe.skip("the service returned fewer than two gateways"));
    }
    let fresh = probe.fresh_request_id();
    let common: String = fresh.chars().chain("-".repeat(length).chars()).take(length - 1).collect();
    let [first_id, second_id] = [0, 1].map(|which| format!("{}{common}{}", before[which], after[which]));
    // The contract does not mention the letter case of ids.
    let is_doubtful = first_id.eq_ignore_ascii_case(&second_id);
    let first = probe.extract().query(REQUEST_ID, first_id);
    let Ok(one) = probe.control(&first).await else {
        return Err(probe.skip(&format!("a request id of {length} characters is not accepted")));
    };
    let second = two().query(REQUEST_ID, second_id);
    let (exchange, is_accepted) = probe.is_accepted(&second).await?;
    let count = exchange.result.as_ref().ok().map_or(0, |response| content::count(probe, &second, response));
    if is_accepted && count > 1 {
        return Ok(());
    }
    // A partial result with the gateway of the other id may be a replay with updated headers.
    let is_other = |response| {
        content::gateways(probe, &exchange.request, response)
            != content::gateways(probe, &one.exchange.request, &one.response)
    };
    if is_accepted
        && exchange
            .result
            .as_ref()
            .is_ok_and(|response| content::is_partial(probe, response) && is_other(response))
    {
        return Err(probe.skip("the service returned a partial result"));
    }
    let expected = format!("an extraction of its own for a new request id, {label}");
    let actual = if is_accepted {
        format!("{count} of 2 entries, as many as the request with the other id")
    } else {
        "rejected".to_owned()
    };
    let report = if is_doubtful { Probe::warning } else { Probe::finding };
    report(probe, ExtractIdempotent, &expected, &actual, &[&exchange]);
    Ok(())
}
