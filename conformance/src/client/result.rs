use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};
use std::time::Duration;

use serde::Serialize;

use super::case::{ClientCase, Expectation, Place};
use super::duty::Duty;
use super::evidence::{Evidence, Execution};
use super::protocol::Input;
use super::token_search::excerpt;
use crate::check::{InferredClauses, Outcome, Severity};
use crate::quantity::quantity;

/// The result of one case.
#[derive(Debug, Clone, Serialize)]
pub struct ClientCaseResult {
    /// The case.
    pub id: String,
    /// The duty that it is about.
    pub duty: Duty,
    /// What happens, and what a conforming client does.
    pub title: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// What was wrong.
    pub findings: Vec<ClientFinding>,
    /// The first case that has no result for the same reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_error_as: Option<String>,
    /// Whether it passed with an error where a result was possible: a client may give up.
    pub gave_up: bool,
    /// The requests that arrived, without any value: time, operation and response. A long list is cut.
    pub requests: Vec<String>,
    /// What the command was told: operation, arguments and time.
    pub(super) input: Input,
    /// How its last execution ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// The beginning and the end of its standard output, unless it shows the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_output: Option<String>,
    /// The beginning and the end of standard error, unless it shows the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<String>,
    /// In milliseconds.
    pub elapsed_ms: u64,
}

/// A duty that is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientFinding {
    /// The duty; another one than that of the case where its requests or its output show it.
    pub duty: Duty,
    /// What a caller does.
    pub requirement: &'static str,
    /// What was expected.
    pub expected: String,
    /// What happened.
    pub actual: String,
    /// Whether it counts as a failure.
    pub severity: Severity,
    /// The case that shows the same mistake: a plain call, or an earlier case for the same duty. The verdict counts a mistake once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The sentences that presuppose the duty, when the contract does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inferred_from: Option<&'static str>,
    /// What tells two mistakes apart: a hash, so that nothing of what a client wrote is kept.
    #[serde(skip)]
    pub(super) mistake: u64,
}

impl ClientFinding {
    /// A duty that was not kept. The texts hold no token.
    pub(super) fn new(duty: Duty, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        let (expected, actual) = (expected.into(), actual.into());
        let mistake = hash((without_numbers(&expected), without_numbers(&actual)));
        let (requirement, inferred_from, severity) = (duty.text(), duty.inferred_from(), Severity::Fail);
        Self { duty, requirement, expected, actual, severity, same_as: None, inferred_from, mistake }
    }

    /// Another error of the command would be another mistake.
    pub(super) fn said_by(self, execution: &Execution) -> Self {
        let failure = execution.output.as_ref().ok().and_then(|output| output.error.as_ref());
        let words = |part: &Option<String>| part.as_deref().map(without_numbers);
        let words = failure.map(|failure| [words(&failure.class), words(&failure.message)]);
        Self { mistake: hash((self.mistake, execution.exit, words)), ..self }
    }

    /// With the responses before it.
    pub(super) fn after(self, responses: &str) -> Self {
        Self { actual: format!("{}, after {responses}", self.actual), ..self }
    }

    /// The same where a sentence presupposes it, although the contract states the duty.
    pub(super) fn inferred(self, from: &'static str) -> Self {
        Self { inferred_from: Some(from), ..self }
    }

    /// Each mistake of a duty once; `inferred` says what counts that the contract does not state.
    pub(super) fn distinct(problems: Vec<Self>, inferred: InferredClauses) -> Vec<Self> {
        let mut findings: Vec<(Self, usize)> = Vec::new();
        for mut finding in problems {
            finding.severity = inferred.severity(Severity::Fail, finding.inferred_from);
            let key = |it: &Self| (it.duty, it.mistake, it.severity);
            match findings.iter_mut().find(|(first, _)| key(first) == key(&finding)) {
                Some((_, more)) => *more += 1,
                None => findings.push((finding, 0)),
            }
        }
        for (finding, more) in findings.iter_mut().filter(|(_, more)| *more > 0) {
            finding.actual.push_str(&format!(", and {}", quantity(*more, "more time")));
        }
        findings.into_iter().map(|(finding, _)| finding).collect()
    }
}

impl ClientCaseResult {
    pub(super) fn new(
        case: &ClientCase,
        evidence: &Evidence,
        (outcome, findings): (Outcome, Vec<ClientFinding>),
        elapsed: Duration,
    ) -> Self {
        let last = evidence.executions.last();
        let secrets = || evidence.secrets.iter().chain([&evidence.token]);
        let requests = evidence.requests.iter();
        let requests = requests.map(|it| format!("{:.3} s: {}", it.at.as_secs_f64(), it.line()));
        Self {
            gave_up: outcome == Outcome::Passed
                && case.expectation == Expectation::Either
                && case.place == Place::Lab
                && evidence.executions.iter().any(|execution| !execution.has_result()),
            outcome,
            findings,
            requests: requests.take(50).collect(),
            ending: last.map(|execution| execution.exit.to_string()),
            standard_output: last.and_then(|execution| excerpt(&execution.stdout, secrets())),
            standard_error: last.and_then(|execution| excerpt(&execution.stderr, secrets())),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            ..Self::not_run(case, "")
        }
    }

    /// Whether the command ended without an answer and before its first request.
    pub(super) fn never_began(&self) -> bool {
        matches!(self.outcome, Outcome::Error(_)) && self.requests.is_empty()
    }

    /// A case that the end of the run left without a result.
    pub(super) fn not_run(case: &ClientCase, reason: &str) -> Self {
        Self {
            id: case.id.clone(),
            duty: case.duty,
            title: case.title.clone(),
            outcome: Outcome::Error(reason.to_owned()),
            findings: Vec::new(),
            same_error_as: None,
            gave_up: false,
            requests: Vec::new(),
            input: Input::new(case.call.clone(), case.limit),
            ending: None,
            standard_output: None,
            standard_error: None,
            elapsed_ms: 0,
        }
    }
}

/// A hash that is the same in each process.
pub(super) fn hash(value: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::new().hash_one(value)
}

/// The text with each number replaced by `#`.
fn without_numbers(text: &str) -> String {
    let mut words: Vec<char> = text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
    words.dedup_by(|one, before| (*one, *before) == ('#', '#'));
    words.into_iter().collect()
}
