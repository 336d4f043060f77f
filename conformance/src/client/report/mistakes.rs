//! Which findings are one mistake. A client that gets something wrong in every call fails nearly all cases, and what it has to
//! mend is one thing.

use super::{CaseOutcome, ClientCaseResult, ClientFinding};
use crate::client::case::ClientCase;

/// What was expected and found, without the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake(String);

impl Mistake {
    pub(super) fn new(expected: &str, actual: &str) -> Self {
        let both = format!("{expected}\n{actual}");
        let mut words = String::with_capacity(both.len());
        for part in both.split_inclusive(|c: char| c.is_ascii_digit()) {
            let text = part.trim_end_matches(|c: char| c.is_ascii_digit());
            // A number of several digits is one.
            if text.len() < part.len() && !(text.is_empty() && words.ends_with('#')) {
                words.extend([text, "#"]);
            } else {
                words.push_str(text);
            }
        }
        Self(words)
    }
}

/// Refers each finding, and each case without a result, to the first case with the same. `results` are in the order of
/// `cases`.
pub(in crate::client) fn refer(cases: &[ClientCase], results: &mut [ClientCaseResult]) {
    let case_of = |result: &ClientCaseResult| cases.iter().find(|case| case.id == result.id);
    let is_plain = |result: &ClientCaseResult| case_of(result).is_some_and(ClientCase::is_plain);
    for number in 0..results.len() {
        let (earlier, rest) = results.split_at(number);
        let [result, later @ ..] = rest else { continue };
        let own_is_plain = is_plain(result);
        // A plain call says more than a case that happens to come first.
        let same_as: Vec<Option<String>> = result
            .findings
            .iter()
            .map(|finding| {
                let has = |other: &&ClientCaseResult, same_duty: bool| {
                    let same = other.findings.iter().filter(|it| it.same_as.is_none());
                    let mut same = same.filter(|it| it.mistake == finding.mistake);
                    same.any(|it| !same_duty || it.duty == finding.duty)
                };
                let plain = |other: &&ClientCaseResult| {
                    is_plain(other)
                        && other.input.call.operation == result.input.call.operation
                        && has(other, false)
                };
                let found = earlier.iter().find(plain);
                let found = found.or_else(|| earlier.iter().find(|other| has(other, true)));
                let found = found.or_else(|| later.iter().find(plain).filter(|_| !own_is_plain));
                found.map(|other| other.id.clone())
            })
            .collect();
        let reason = |result: &ClientCaseResult| match &result.outcome {
            CaseOutcome::Error(reason) if result.ending.is_some() => Some(reason.clone()),
            _ => None,
        };
        let own = reason(result);
        let same_error = earlier.iter().find(|other| own.is_some() && reason(other) == own);
        let same_error = same_error.map(|other| other.id.clone());
        let Some(result) = results.get_mut(number) else { continue };
        result.same_error_as = same_error;
        for (finding, same_as) in result.findings.iter_mut().zip(same_as) {
            finding.same_as = same_as;
        }
    }
    // A plain call that comes later may refer to an earlier case itself.
    for number in 0..results.len() {
        let Some(result) = results.get(number) else { continue };
        let root = |finding: &ClientFinding| {
            let other = results.iter().find(|other| Some(&other.id) == finding.same_as.as_ref())?;
            other.findings.iter().find(|it| it.mistake == finding.mistake)?.same_as.clone()
        };
        let roots: Vec<Option<String>> = result.findings.iter().map(root).collect();
        let Some(result) = results.get_mut(number) else { continue };
        for (finding, root) in result.findings.iter_mut().zip(roots) {
            finding.same_as = root.or(finding.same_as.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_make_no_other_mistake() {
        let mistake = |expected, actual| Mistake::new(expected, actual);
        let early = mistake("no request for 2.00 s after HTTP 429", "the next one came after 0.05 s");
        assert_eq!(
            early,
            mistake("no request for 3600.00 s after HTTP 429", "the next one came after 10.5 s")
        );
        assert_eq!(early.0, "no request for #.# s after HTTP #\nthe next one came after #.# s");
        assert_ne!(early, mistake("no request for 2.00 s", "the next one came after 0.05 s"));
        assert_ne!(mistake("a", "b"), mistake("ab", ""));
    }
}
