//! Folds findings by mistake. A client with one bug in every call fails nearly all cases, although there is one thing to fix.

use super::case::ClientCase;
use super::result::ClientCaseResult;
use crate::check::{Outcome, Severity};

/// Refers each finding, and each case without a result, to the first case that shows the same. `results` stand as `cases` do.
pub(super) fn refer(cases: &[ClientCase], results: &mut [ClientCaseResult]) {
    let case = |result: &ClientCaseResult| cases.iter().find(|case| case.id == result.id);
    let is_plain: Vec<bool> = results.iter().map(|it| case(it).is_some_and(ClientCase::is_plain)).collect();
    // A plain call is a better reference than a case that happens to run first.
    let (plain, others): (Vec<usize>, Vec<usize>) = (0..results.len()).partition(|place| is_plain[*place]);
    let order = [plain, others].concat();
    for (rank, place) in order.iter().enumerate() {
        let (result, shown) = (&results[*place], &*results);
        let known = order[..rank].iter().flat_map(|known| {
            let is_of_call = is_plain[*known] && shown[*known].input.call == result.input.call;
            shown[*known].findings.iter().map(move |finding| (&shown[*known].id, finding, is_of_call))
        });
        let same_as = result.findings.iter().map(|finding| {
            // A failure that refers to a warning would be no failure of the report.
            let may_stand = |severity| severity == Severity::Fail || finding.severity == Severity::Warn;
            let mut same = known
                .clone()
                .filter(|(_, other, _)| other.mistake == finding.mistake && may_stand(other.severity));
            let of_call = same.clone().find(|(.., is_of_call)| *is_of_call);
            let found = of_call.or_else(|| same.find(|(_, other, _)| other.duty == finding.duty));
            found.map(|(id, other, _)| other.same_as.as_ref().unwrap_or(id).clone())
        });
        let same_as: Vec<_> = same_as.collect();
        results[*place].findings.iter_mut().zip(same_as).for_each(|(finding, same)| finding.same_as = same);
    }
    for place in 0..results.len() {
        let (before, [result, ..]) = results.split_at_mut(place) else { break };
        let is_same = |other: &&ClientCaseResult| other.ending.is_some() && other.outcome == result.outcome;
        if matches!(result.outcome, Outcome::Error(_)) && result.ending.is_some() {
            result.same_error_as = before.iter().find(is_same).map(|other| other.id.clone());
        }
    }
}
