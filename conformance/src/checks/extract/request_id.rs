//! The request id: its source, and that it stands for one extraction.

use super::*;
use crate::checks::extraction::content::{gateways, judge_repeated};

pub(super) static PROGRAMS: &[Program] = &[active("extract.idempotent.distinct", |_| {
    let case = |pair: IdPair| Case::for_data(pair.0, Cost::extraction(3, 5), pair, distinct);
    ID_PAIRS.map(case).into()
})];

pub(super) async fn concurrent(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let (form, requests) = (row.form(), row.requests(probe)?);
    let (first, second) = futures::future::join(probe.send(&requests[0]), probe.send(&requests[0])).await;
    let [(first, first_class), (second, second_class)] = [first?, second?];
    match [first_class, second_class].map(|class| class == ResponseClass::Accepted) {
        [false, false] => form.control(probe).await?,
        // A service may reject one of the two while the other is in flight.
        [true, true] if gateways(probe, &first) != gateways(probe, &second) => {
            let expected = format!("the same gateways for both calls, {}", form.name());
            probe.finding(ExtractIdempotent, &expected, "different gateways", &[&first, &second]);
        }
        _ => {}
    }
    Ok(())
}

/// The row has an extraction of the first account, a control of the second one, and one of the second one with the id of the first.
pub(super) async fn per_account(probe: &Probe<'_>, row: Arc<Row>) -> Result<(), Stop> {
    let [first, control, other] = &row.requests(probe)?[..] else {
        return Err(Stop::Error(
            "a row of `per-account` must have three requests; this is a bug of the suite".to_owned(),
        ));
    };
    probe.control(control).await?;
    let before = probe.control(first).await?;
    let why = "the second account sends an id that the first one has used";
    if let Some(accepted) = probe.accepts(ExtractIdempotent, why, other).await? {
        let count = content::count(probe, &accepted.exchange);
        let min = *probe.contract().extract.num_range.start();
        if i64::try_from(count).is_ok_and(|count| count > min) {
            let actual = format!("{}, as the first account requested", quantity(count, "entry"));
            let exchanges = [&before.exchange, &accepted.exchange];
            probe.finding(AllOwnAccount, "an extraction of its own", &actual, &exchanges);
        }
    }
    judge_repeated(probe, ExtractIdempotent, "sent again by the first account", &before, first).await
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
    if content::count(probe, &control.exchange) < 2 {
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
    let count = content::count(probe, &exchange);
    if is_accepted && count > 1 {
        return Ok(());
    }
    // A partial result with the gateway of the other id may be a replay with updated headers.
    let is_partial = exchange.result.as_ref().is_ok_and(|response| content::is_partial(probe, response));
    if is_accepted && is_partial && gateways(probe, &exchange) != gateways(probe, &one.exchange) {
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
