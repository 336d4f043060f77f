use std::time::Duration;

use serde::Serialize;

use super::case::{ClientCase, Expectation, Place};
use super::duty::Duty;
use super::evidence::{Evidence, Problem};
use super::mistake::Mistake;
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
    /// The case that shows the same mistake: a plain call, which says that the situation of this case is not its cause, or an
    /// earlier case for the same duty. The verdict counts a mistake once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The sentences that presuppose the duty, when the contract does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inferred_from: Option<&'static str>,
    #[serde(skip)]
    pub(super) mistake: Mistake,
}

impl ClientFinding {
    /// The findings of a case, each mistake of a duty once.
    pub(super) fn all(problems: Vec<Problem>, inferred: InferredClauses) -> Vec<Self> {
        let mut findings: Vec<(Self, usize)> = Vec::new();
        for problem in problems {
            let finding = Self::new(problem, inferred);
            let same = findings.iter_mut().find(|(first, _)| {
                (first.duty, first.mistake, first.severity)
                    == (finding.duty, finding.mistake, finding.severity)
            });
            match same {
                Some((_, more)) => *more += 1,
                None => findings.push((finding, 0)),
            }
        }
        let counted = |(finding, more): (Self, usize)| match more {
            0 => finding,
            _ => {
                Self { actual: format!("{}, and {}", finding.actual, quantity(more, "more time")), ..finding }
            }
        };
        findings.into_iter().map(counted).collect()
    }

    /// The finding of a problem; `inferred` says what counts that the contract does not state.
    fn new(problem: Problem, inferred: InferredClauses) -> Self {
        let mistake = Mistake::new(&problem.expected, &problem.actual, problem.said);
        let Problem { duty, expected, actual, after, said: _, inferred_from } = problem;
        let actual = after.map_or_else(|| actual.clone(), |after| format!("{actual}, after {after}"));
        let severity = match inferred {
            InferredClauses::Warn if inferred_from.is_some() => Severity::Warn,
            InferredClauses::Warn | InferredClauses::Fail => Severity::Fail,
        };
        let requirement = duty.text();
        Self { duty, requirement, expected, actual, severity, same_as: None, mistake, inferred_from }
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
        let requests = evidence
            .requests
            .iter()
            .map(|recorded| format!("{:.3} s: {}", recorded.at.as_secs_f64(), recorded.line()));
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
            ..Self::interrupted(case)
        }
    }

    /// A case that the end of the run left without a result.
    pub(super) fn interrupted(case: &ClientCase) -> Self {
        Self {
            id: case.id.clone(),
            duty: case.duty,
            title: case.title.clone(),
            outcome: Outcome::Error("the run was interrupted".to_owned()),
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
