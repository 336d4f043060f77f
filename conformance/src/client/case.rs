use std::borrow::Cow;
use std::time::Duration;

use super::duty::Duty;
use super::evidence::{Evidence, Problem};
use super::protocol::Call;

/// What a conforming client reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// The result that the service sends.
    Result,
    /// An error.
    Error,
    /// Either: a client may give up where it may also wait.
    Either,
}

/// The address that the client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The lab, on the loopback interface.
    Lab,
    /// The lab, by an address that is not a loopback address, although it leads there.
    PlainHttp,
    /// A closed port.
    Nobody,
}

/// What the service does in a case.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    /// The steps of a scenario: the keys and tables after its name, in TOML. `{elsewhere}` stands for the URL of another
    /// host, `{token}` for the token.
    Scenario(Cow<'static, str>),
    /// A variation, for all requests.
    Variation(&'static str),
    /// It changes nothing.
    Plain,
}

pub(super) type Judge = fn(&Evidence) -> Vec<Problem>;

/// One situation that a client has to handle.
#[derive(Debug, Clone)]
pub struct ClientCase {
    /// Unique id: the duty, and what happens.
    pub id: String,
    /// The duty that it is about.
    pub duty: Duty,
    /// What happens, and what a conforming client does.
    pub title: String,
    /// What is asked for.
    pub call: Call,
    /// What a conforming client reports.
    pub expectation: Expectation,
    /// Time for the call.
    pub limit: Duration,
    /// How often the command is executed, in sequence.
    pub executions: usize,
    pub(super) stage: Stage,
    pub(super) place: Place,
    pub(super) has_valid_token: bool,
    pub(super) judge: Judge,
}

impl ClientCase {
    /// Time limit of a call unless a case is about time: enough for every wait of a case.
    pub(super) const LIMIT: Duration = Duration::from_secs(12);

    /// A case that has yet to be [`titled`](Self::titled).
    pub(super) fn new(duty: Duty, name: &str, call: Call) -> Self {
        Self {
            id: format!("{duty}.{name}"),
            duty,
            title: String::new(),
            call,
            expectation: Expectation::Result,
            limit: Self::LIMIT,
            executions: 1,
            stage: Stage::Plain,
            place: Place::Lab,
            has_valid_token: true,
            judge: |_| Vec::new(),
        }
    }

    /// What happens, and what a conforming client does.
    pub(super) fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    pub(super) fn expects(self, expectation: Expectation) -> Self {
        Self { expectation, ..self }
    }

    /// Plays these steps.
    pub(super) fn plays(self, steps: impl Into<Cow<'static, str>>) -> Self {
        Self { stage: Stage::Scenario(steps.into()), ..self }
    }

    pub(super) fn varied(self, variation: &'static str) -> Self {
        Self { stage: Stage::Variation(variation), ..self }
    }

    pub(super) fn judged(self, judge: Judge) -> Self {
        Self { judge, ..self }
    }

    pub(super) fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Whether the service does nothing unusual, so that a failure does not depend on the situation of the case.
    pub(super) fn is_plain(&self) -> bool {
        matches!((&self.stage, self.place), (Stage::Plain, Place::Lab)) && self.has_valid_token
    }

    /// Steps name their operation: `[[groups]]` is the step `[[default.groups]]` of a scenario file.
    pub(super) fn in_scenario(steps: &str) -> String {
        steps.replace("[[", "[[default.")
    }

    /// What the service does, for people: a line for each step.
    #[must_use]
    pub fn stage_text(&self) -> String {
        let lines = match (&self.stage, self.place) {
            (_, Place::Nobody) => "nobody listens at its address".to_owned(),
            (_, Place::PlainHttp) => {
                "has an address of plain http outside of the loopback interface".to_owned()
            }
            (Stage::Plain, Place::Lab) => "behaves as the reference server does".to_owned(),
            (Stage::Variation(id), Place::Lab) => {
                let known = crate::lab::variations().into_iter().find(|variation| variation.id == *id);
                let decides = known.map(|variation| variation.decides).unwrap_or_default();
                format!("decides unspecified behaviour so: {id}\n{decides}")
            }
            (Stage::Scenario(steps), Place::Lab) => {
                let steps = Self::in_scenario(steps).replace("{elsewhere}", "http://another-host.invalid");
                format!("plays these steps of a scenario:\n{}", steps.replace("{token}", "TOKEN"))
            }
        };
        lines.lines().map(|line| format!("  {line}\n")).collect()
    }

    /// Every problem of the evidence.
    #[must_use]
    pub fn problems(&self, evidence: &Evidence) -> Vec<Problem> {
        let mut problems = match self.expectation {
            Expectation::Result => evidence.result_problems(self.duty, true),
            Expectation::Error => evidence.error_problems(self.duty),
            Expectation::Either => evidence.result_problems(self.duty, false),
        };
        if self.expectation != Expectation::Result {
            problems.extend(evidence.crashes());
        }
        problems.extend((self.judge)(evidence));
        problems
    }
}
