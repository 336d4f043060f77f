use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::CheckResult;
use crate::check::{Finding, Severity};
use crate::contract::Clause;
use crate::detection::{Cases, Cause, FailingCase, Matrix, Suspect, diagnose};

/// Findings with one likely cause: a known fault that the same cases notice. Nothing is named unless it fits well; see
/// [`crate::detection::MIN_FIT`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The known faults that fit, the most likely one first; at most three.
    pub faults: Vec<LikelyFault>,
    /// Further known faults that fit as well as the last one of these.
    pub alike: usize,
    /// The findings that the first fault explains. Those that cite its clause come first.
    pub findings: Vec<FindingReference>,
}

/// A known fault, and how well the failing cases of the run fit it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LikelyFault {
    /// Unique among the known faults.
    pub id: String,
    /// The clause that it breaks.
    pub clause: Clause,
    /// What a service with this fault does wrong, in a sentence.
    pub breaks: String,
    /// Failing cases that agree with it.
    pub agreeing: usize,
    /// Failing cases of checks that are known to notice it or to pass despite it.
    pub failing: usize,
    /// Cases that should have failed with this fault but did not.
    pub missed: usize,
}

/// Identifies a finding of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct FindingReference {
    /// Its check.
    pub check: &'static str,
    /// Its index among the findings of the check, from 0.
    pub finding: usize,
}

impl Diagnosis {
    /// The likely causes of the failing cases of a run. Each finding belongs to at most one diagnosis.
    pub(super) fn from_results(results: &[CheckResult], ran: &Cases<'_>, matrix: &Matrix) -> Vec<Self> {
        let clauses: BTreeMap<&str, &[Clause]> =
            results.iter().map(|result| (result.id, result.clauses)).collect();
        let failing = results.iter().flat_map(CheckResult::failing_cases);
        let failing = failing.map(|(judge, check, label)| FailingCase { judge, check, label });
        let cites = |judge: &str, clause| clauses.get(judge).is_some_and(|cited| cited.contains(&clause));
        let shows = |case: &FailingCase<'_>, clause: Clause| {
            let results = results.iter().filter(|result| result.id == case.judge);
            let mut findings = results.flat_map(|result| &result.findings);
            findings.any(|finding| finding.clause == clause && is_of_case(finding, case))
        };
        let causes = diagnose(matrix, ran, failing, cites, shows);
        let mut taken = BTreeSet::new();
        let mut diagnoses = Vec::new();
        for cause in &causes {
            let mut findings = findings(results, cause);
            findings.retain(|reference| taken.insert(*reference));
            if !findings.is_empty() {
                let Cause { suspects, alike, .. } = cause;
                let faults = suspects.iter().map(LikelyFault::new).collect();
                diagnoses.push(Self { faults, alike: *alike, findings });
            }
        }
        diagnoses
    }
}

impl LikelyFault {
    fn new(suspect: &Suspect<'_>) -> Self {
        let Suspect { fault, agreeing, contradicting, missed, .. } = *suspect;
        Self {
            id: fault.id.clone(),
            clause: fault.clause,
            breaks: fault.breaks.clone(),
            agreeing,
            failing: agreeing + contradicting,
            missed,
        }
    }
}

/// The findings of the cases of a cause.
fn findings(results: &[CheckResult], cause: &Cause<'_>) -> Vec<FindingReference> {
    let judges: BTreeSet<&str> = cause.cases.iter().map(|case| case.judge).collect();
    let mut found: Vec<(bool, FindingReference)> = Vec::new();
    for result in results.iter().filter(|result| judges.contains(result.id)) {
        for (number, finding) in result.findings.iter().enumerate() {
            if finding.severity == Severity::Fail && is_of_cause(result.id, finding, cause) {
                let cites = cause.suspects.first().is_some_and(|first| first.fault.clause == finding.clause);
                found.push((!cites, FindingReference { check: result.id, finding: number }));
            }
        }
    }
    found.sort_by_key(|(is_other, _)| *is_other);
    found.into_iter().map(|(_, reference)| reference).collect()
}

fn is_of_cause(judge: &str, finding: &Finding, cause: &Cause<'_>) -> bool {
    cause.cases.iter().any(|case| case.judge == judge && is_of_case(finding, case))
}

/// Whether a finding of the judge of a case is of that case.
fn is_of_case(finding: &Finding, case: &FailingCase<'_>) -> bool {
    match finding.seen_in.is_empty() {
        true => case.judge == case.check && finding.is_of(case.label),
        false => finding.seen_in.iter().any(|(check, label)| check == case.check && label == case.label),
    }
}
