use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Check;
use crate::contract::{Clause, ClauseEntry, OperationId, Unspecified};
use crate::names;
use crate::wire::{Exchange, RecordedExchange, Redactor};

/// A violation of a clause by the target. Every text is redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The clause.
    pub clause: Clause,
    /// The clause's own words.
    pub requirement: String,
    /// What a conforming service does.
    pub expected: String,
    /// What the target did.
    pub actual: String,
    /// Whether it fails the check.
    pub severity: Severity,
    /// Indexes of the exchanges that show it, in the recording of its check.
    pub exchanges: Vec<usize>,
    /// Those among them that were judged; the others only lead to them. None for a finding of a passive check, which judged the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<usize>,
    /// Those among them from which the expected result was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<usize>,
    /// The control request of its case, which was accepted. Another check may have sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Box<RecordedExchange>>,
    /// The label of its case; none when its check has one unnamed case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The sentences that presuppose the clause, when the contract does not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred_from: Option<String>,
    /// Variables of the facts that it depends on: a wrong fact causes a wrong finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// For a finding of a passive check: operation, form and class of the response that shows it, such as `search, JSON, accepted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_kind: Option<String>,
    /// For a finding of a passive check: the checks and labels of the cases whose exchanges show it.
    #[serde(skip)]
    pub seen_in: Vec<(String, String)>,
}

/// The result of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseResult {
    /// Unique within the check; empty when it is the only one.
    pub label: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// Requests sent.
    pub requests: usize,
    /// The clause that it is about, where the case says so.
    #[serde(skip)]
    pub clause: Option<Clause>,
}

/// The result of one check.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckResult {
    /// The check.
    pub id: &'static str,
    /// What a conforming service does.
    pub title: &'static str,
    /// What goes wrong for users when it does not.
    pub why: &'static str,
    /// The operation, if it tests a single one.
    pub operation: Option<OperationId>,
    /// The clauses that it cites.
    pub clauses: &'static [Clause],
    /// Its outcome.
    pub outcome: Outcome,
    /// The result of each case, including skipped ones; absent when the check has one unnamed case or is passive.
    #[serde(skip_serializing_if = "is_unnamed")]
    #[schemars(default)]
    pub cases: Vec<CaseResult>,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// Unspecified behaviour that was observed.
    pub observations: Vec<Observation>,
    /// The exchanges to which findings refer.
    pub exchanges: Vec<RecordedExchange>,
    /// A summary of each exchange; a long list is cut.
    pub evidence: Vec<Evidence>,
    /// Requests sent.
    pub requests: usize,
    /// In milliseconds.
    pub elapsed_ms: u64,
    /// Of a passive check: the [kinds](Finding::response_kind) of responses that it has judged.
    #[serde(skip)]
    pub judged: Option<BTreeSet<String>>,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A clause is violated.
    Fail,
    /// Doubtful, but no clause forbids it.
    Warn,
}

/// Severity of findings on inferred clauses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InferredClauses {
    /// The same as on stated clauses.
    #[default]
    Fail,
    /// Warnings.
    Warn,
}

names! { InferredClauses { Warn => "warn", Fail => "fail", } }

impl InferredClauses {
    /// The severity of a finding, whose clause may be inferred from some sentences.
    pub(crate) fn severity(self, found: Severity, inferred_from: Option<&str>) -> Severity {
        if self == Self::Warn && inferred_from.is_some() { Severity::Warn } else { found }
    }
}

/// How the target decides unspecified behaviour, which is never judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Observation {
    /// The unspecified behaviour.
    #[serde(rename = "silence")]
    pub unspecified: Unspecified,
    /// What was observed.
    pub text: String,
}

/// The outcome of a check or a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "reason", rename_all = "kebab-case")]
pub enum Outcome {
    /// The contract is kept.
    Passed,
    /// A clause is violated.
    Failed,
    /// Doubtful.
    Warning,
    /// A clause was violated, but not when the check was run again; the text says how often it was run.
    Flaky(String),
    /// A clause is violated, as the tester expects for the reason in the text.
    ExpectedFailure(String),
    /// Not run. The text says what is missing and how to supply it.
    Skipped(String),
    /// Run without a result, for example because the control request was not accepted.
    Inconclusive(String),
    /// An error of the suite or the network.
    Error(String),
}

/// A summary of one exchange, as evidence of what a check did. It is redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Method, path and query; cut if it is long.
    pub request: String,
    /// HTTP status, if there was a response.
    pub status: Option<u16>,
    /// Why there was no response.
    pub failure: Option<String>,
    /// In milliseconds.
    pub elapsed_ms: u64,
}

impl Finding {
    /// A finding on a clause, which may be inferred from some sentences. No exchange shows it yet.
    pub(crate) fn new(
        entry: &ClauseEntry,
        inferred_from: Option<&str>,
        severity: Severity,
        (expected, actual): (String, String),
    ) -> Self {
        Self {
            clause: entry.id,
            requirement: entry.text.clone(),
            expected,
            actual,
            severity,
            exchanges: Vec::new(),
            judged: Vec::new(),
            references: Vec::new(),
            control: None,
            case: None,
            inferred_from: inferred_from.map(str::to_owned),
            facts: Vec::new(),
            response_kind: None,
            seen_in: Vec::new(),
        }
    }

    /// Whether it belongs to the case with that label.
    pub fn is_of(&self, label: &str) -> bool {
        self.case.as_deref().unwrap_or_default() == label
    }
}

impl CheckResult {
    /// The result of a check that did not run.
    pub fn not_run(check: &'static Check, outcome: Outcome) -> Self {
        Self {
            id: check.id,
            title: check.title,
            why: check.why,
            operation: check.operation,
            clauses: check.clauses,
            outcome,
            cases: Vec::new(),
            findings: Vec::new(),
            observations: Vec::new(),
            exchanges: Vec::new(),
            evidence: Vec::new(),
            requests: 0,
            elapsed_ms: 0,
            judged: None,
        }
    }
}

fn is_unnamed(cases: &[CaseResult]) -> bool {
    cases.iter().all(|case| case.label.is_empty())
}

impl CaseResult {
    /// Of a case that did not run.
    pub(crate) fn not_run(label: &str, outcome: Outcome) -> Self {
        Self { label: label.to_owned(), outcome, requests: 0, clause: None }
    }
}

impl Outcome {
    /// The outcome of a check with these cases: the first of failed, flaky, error, inconclusive, warning, passed, skipped that one has.
    pub fn of_cases(cases: &[CaseResult]) -> Self {
        let worst = cases.iter().map(|case| &case.outcome).min_by_key(|outcome| outcome.parts().0);
        let Some(worst) = worst else { return Self::Skipped("none of its cases applies here".to_owned()) };
        let alike = cases.iter().filter(|case| case.outcome.parts().0 == worst.parts().0);
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for case in alike {
            let reason = case.outcome.reason().unwrap_or_default();
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, labels)) => labels.push(&case.label),
                None => reasons.push((reason, vec![&case.label])),
            }
        }
        // Labels are left out where all cases have the same reason.
        let text = |(reason, labels): (&str, Vec<&str>)| match labels.len() == cases.len() {
            true => reason.to_owned(),
            false => format!("{}: {reason}", listed(&labels, ", ")),
        };
        let reasons: Vec<String> = reasons.into_iter().map(text).collect();
        worst.clone().with_reason(listed(&reasons, "; "))
    }

    fn with_reason(mut self, reason: String) -> Self {
        use Outcome::{Error, ExpectedFailure, Flaky, Inconclusive, Skipped};
        if let Flaky(own) | ExpectedFailure(own) | Skipped(own) | Inconclusive(own) | Error(own) = &mut self {
            *own = reason;
        }
        self
    }

    /// Rank, name and reason. Among several outcomes, the one with the lowest rank decides.
    const fn parts(&self) -> (u8, &'static str, Option<&String>) {
        match self {
            Self::Failed => (0, "failed", None),
            Self::ExpectedFailure(reason) => (1, "expected failure", Some(reason)),
            Self::Flaky(reason) => (2, "flaky", Some(reason)),
            Self::Error(reason) => (3, "error", Some(reason)),
            Self::Inconclusive(reason) => (4, "inconclusive", Some(reason)),
            Self::Warning => (5, "warning", None),
            Self::Passed => (6, "passed", None),
            Self::Skipped(reason) => (7, "skipped", Some(reason)),
        }
    }

    /// Whether there is a result about the target.
    pub fn concluded(&self) -> bool {
        !matches!(self, Self::Skipped(_) | Self::Inconclusive(_) | Self::Error(_))
    }

    /// Its name in every report.
    pub const fn name(&self) -> &'static str {
        self.parts().1
    }

    /// The reason, if the outcome has one.
    pub fn reason(&self) -> Option<&str> {
        self.parts().2.map(String::as_str)
    }
}

fn listed(texts: &[impl AsRef<str>], between: &str) -> String {
    const MAX: usize = 3;
    let shown = texts.iter().take(MAX).map(AsRef::as_ref).collect::<Vec<&str>>().join(between);
    match texts.len().saturating_sub(MAX) {
        0 => shown,
        more => format!("{shown}{between}and {more} more"),
    }
}

impl Evidence {
    /// Summarizes and redacts an exchange.
    pub fn new(exchange: &Exchange, redactor: &Redactor) -> Self {
        const MAX_CHARACTERS: usize = 240;
        let request = format!("{} {}", exchange.request.method_name(), exchange.request.target());
        let failure = exchange.result.as_ref().err();
        Self {
            request: redactor.excerpt(&request, MAX_CHARACTERS),
            status: exchange.result.as_ref().ok().map(|response| response.status),
            failure: failure.map(|failure| redactor.excerpt(&failure.to_string(), MAX_CHARACTERS)),
            elapsed_ms: u64::try_from(exchange.elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combined(outcomes: &[Outcome]) -> Outcome {
        let labels = (0..).map(|number| format!("case-{number}"));
        let cases = labels.zip(outcomes).map(|(label, outcome)| CaseResult::not_run(&label, outcome.clone()));
        Outcome::of_cases(&cases.collect::<Vec<_>>())
    }

    #[test]
    fn the_outcome_of_a_check_follows_from_its_cases() {
        let skipped = || Outcome::Skipped("no fact".to_owned());
        let unclear = || Outcome::Inconclusive("busy".to_owned());
        assert_eq!(combined(&[Outcome::Passed, Outcome::Failed, unclear()]), Outcome::Failed);
        assert_eq!(combined(&[skipped(), Outcome::Passed]), Outcome::Passed);
        assert_eq!(combined(&[Outcome::Warning, Outcome::Passed]), Outcome::Warning);
        assert_eq!(combined(&[skipped(), skipped()]), skipped());
        assert_eq!(combined(&[Outcome::Passed, unclear()]), Outcome::Inconclusive("case-1: busy".to_owned()));
        assert_eq!(combined(&[unclear()]), unclear());
    }
}
