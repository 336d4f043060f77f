//! Folds findings by mistake. A client with one bug in every call fails nearly all cases, although there is one thing to fix.

use super::case::ClientCase;
use super::result::{ClientCaseResult, ClientFinding};
use crate::check::{Outcome, Severity};

/// A finding of the case at this place, which that one shows in full.
struct Known {
    place: usize,
    finding: ClientFinding,
    shown_by: usize,
}

/// Refers each finding, and each case without a result, to the first case that shows the same. `results` are in the order of
/// `cases`.
pub(super) fn refer(cases: &[ClientCase], results: &mut [ClientCaseResult]) {
    let is_plain: Vec<bool> = results
        .iter()
        .map(|result| cases.iter().find(|case| case.id == result.id).is_some_and(ClientCase::is_plain))
        .collect();
    // A plain call is a better reference than a case that happens to run first.
    let (plain, others): (Vec<usize>, Vec<usize>) = (0..results.len()).partition(|place| is_plain[*place]);
    let mut known: Vec<Known> = Vec::new();
    for place in plain.into_iter().chain(others) {
        let mut new = Vec::new();
        for number in 0..results[place].findings.len() {
            let finding = &results[place].findings[number];
            // A failure that refers to a warning would be no failure of the report.
            let is_same = |other: &&Known| {
                other.finding.mistake == finding.mistake
                    && (other.finding.severity == Severity::Fail || finding.severity == Severity::Warn)
            };
            let of_call = |other: &&Known| {
                let call = |place: usize| &results[place].input.call;
                is_plain[other.place] && call(other.place) == call(place)
            };
            let same = || known.iter().filter(is_same);
            let found = same().find(of_call).or_else(|| same().find(|it| it.finding.duty == finding.duty));
            let shown_by = found.map(|found| found.shown_by);
            new.push(Known { place, finding: finding.clone(), shown_by: shown_by.unwrap_or(place) });
            let id = shown_by.map(|shown_by| results[shown_by].id.clone());
            results[place].findings[number].same_as = id;
        }
        known.extend(new);
    }
    refer_errors(results);
}

fn refer_errors(results: &mut [ClientCaseResult]) {
    let reason = |result: &ClientCaseResult| match &result.outcome {
        Outcome::Error(reason) if result.ending.is_some() => Some(reason.clone()),
        _ => None,
    };
    let reasons: Vec<_> = results.iter().map(|result| (result.id.clone(), reason(result))).collect();
    for (place, result) in results.iter_mut().enumerate() {
        let (_, own) = &reasons[place];
        let same = reasons[..place].iter().find(|(_, other)| own.is_some() && other == own);
        result.same_error_as = same.map(|(id, _)| id.clone());
    }
}
