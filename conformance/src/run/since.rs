//! What changed between an earlier report and a run: for `run --since`, and for `replay`, which runs nothing else.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::{CheckResult, Report, SavedReport};
use crate::check::{Finding, Outcome, Severity};
use crate::names::names;

/// What became of the findings of an earlier report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Since {
    /// Start of the earlier run.
    pub begun: String,
    /// The suite or the contract of the earlier run, if it was another one, so that results may differ for that reason.
    pub other_suite: Option<String>,
    /// The base URL of the earlier run, if it was another one, so that results may differ for that reason.
    pub other_target: Option<String>,
    /// Each violation of either run: those of a check that cite one clause in one case count as one.
    pub findings: Vec<ChangedFinding>,
}

/// A violation of two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFinding {
    /// The check.
    pub check: String,
    /// The label of the case; empty for the only one of a check.
    pub case: String,
    /// The id of the clause.
    pub clause: String,
    /// What became of it.
    pub change: FindingChange,
    /// Why it is not reproduced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

names! {
    /// What became of a violation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum FindingChange {
        /// It was not found before.
        New => "new",
        /// Its check ran again, and did not find it.
        Fixed => "fixed",
        /// It was found again.
        Unchanged => "unchanged",
        /// Its check has no result now, or another one each time.
        NotReproduced => "not reproduced",
    }
}

impl Since {
    /// Compares the results of a run with an earlier report.
    #[must_use]
    pub fn new(before: &SavedReport, now: &Report) -> Self {
        let is_same = before.suite == now.suite && before.contract_sha256 == now.contract_sha256;
        let other_suite = (!is_same).then(|| format!("{}, contract {}", before.suite, before.contract));
        let target = |base: &str| base.trim_end_matches('/').to_owned();
        let other_target = Some(target(&before.target)).filter(|before| *before != target(&now.target));
        let mut since = Self { begun: before.begun.clone(), other_suite, other_target, findings: Vec::new() };
        let is_violation = |finding: &&Finding| finding.severity == Severity::Fail;
        for check in &before.checks {
            let result = now.checks.iter().find(|result| result.id == check.id);
            for finding in check.findings.iter().filter(is_violation) {
                since.add(&check.id, finding, became(finding, result));
            }
        }
        for result in &now.checks {
            let violations = result.findings.iter().filter(is_violation);
            violations.for_each(|finding| since.add(result.id, finding, (FindingChange::New, None)));
        }
        since
    }

    fn add(&mut self, check: &str, finding: &Finding, (change, reason): (FindingChange, Option<String>)) {
        if self.finding(check, finding).is_none() {
            let (case, clause) = (finding.case.clone().unwrap_or_default(), finding.clause.to_string());
            self.findings.push(ChangedFinding { check: check.to_owned(), case, clause, change, reason });
        }
    }

    /// What became of a finding of a check.
    #[must_use]
    pub fn finding(&self, check: &str, finding: &Finding) -> Option<&ChangedFinding> {
        let case = finding.case.as_deref().unwrap_or_default();
        let is_same = |known: &&ChangedFinding| {
            known.check == check && known.case == case && known.clause == finding.clause.id()
        };
        self.findings.iter().find(is_same)
    }

    /// Those with a change.
    pub fn of(&self, change: FindingChange) -> impl Iterator<Item = &ChangedFinding> {
        self.findings.iter().filter(move |finding| finding.change == change)
    }

    /// What the earlier run had otherwise, so that results may differ for that reason.
    pub fn differences(&self) -> impl Iterator<Item = String> {
        let target =
            self.other_target.iter().map(|other| format!("the earlier run was of another target, {other}"));
        target.chain(self.other_suite.iter().map(|other| format!("the earlier run had {other}")))
    }

    /// "findings since 2026-01-31T12:00:00Z: 2 new, 1 fixed, 3 unchanged"
    #[must_use]
    pub fn words(&self) -> String {
        let counts = FindingChange::ALL.map(|change| (self.of(change).count(), change));
        let shown = counts.iter().filter(|(count, change)| *count > 0 || *change == FindingChange::New);
        let counts: Vec<String> = shown.map(|(count, change)| format!("{count} {}", change.name())).collect();
        format!("findings since {}: {}", self.begun, counts.join(", "))
    }
}

impl ChangedFinding {
    /// The check with the case.
    #[must_use]
    pub fn id(&self) -> String {
        if self.case.is_empty() { self.check.clone() } else { format!("{}/{}", self.check, self.case) }
    }
}

/// What became of a finding whose check has this result now.
fn became(finding: &Finding, result: Option<&CheckResult>) -> (FindingChange, Option<String>) {
    let not_reproduced = |reason: &str| (FindingChange::NotReproduced, Some(reason.to_owned()));
    let Some(result) = result else { return not_reproduced("its check was not chosen") };
    let label = finding.case.as_deref().unwrap_or_default();
    let case = result.case(label);
    // What was a violation may be a warning now, where inferred clauses are not to fail.
    let is_same = |now: &&Finding| now.clause == finding.clause && now.is_of(label);
    let is_judged =
        |judged: &BTreeSet<String>| finding.response_kind.as_ref().is_some_and(|kind| judged.contains(kind));
    match case.unwrap_or(&result.outcome) {
        outcome @ Outcome::Flaky(_) => not_reproduced(outcome.reason().unwrap_or_default()),
        _ if result.findings.iter().any(|now| is_same(&now)) => (FindingChange::Unchanged, None),
        _ if case.is_none() && !label.is_empty() => not_reproduced("its case did not run"),
        outcome if outcome.concluded() && !result.judged.as_ref().is_none_or(is_judged) => {
            let kind =
                finding.response_kind.as_deref().unwrap_or("the kind that the earlier report leaves out");
            not_reproduced(&format!("no response was judged like the one that shows it ({kind})"))
        }
        outcome if outcome.concluded() => (FindingChange::Fixed, None),
        outcome => not_reproduced(outcome.reason().unwrap_or_default()),
    }
}
