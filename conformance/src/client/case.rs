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
    /// The lab, by an address that is not a loopback address, although it leads there. What stands before the address: a scheme,
    /// and a user that looks like a loopback address.
    PlainHttp(&'static str),
    /// A closed port.
    Nobody,
}

/// The token that the client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseToken {
    /// One of letters and digits that the service knows.
    Plain,
    /// One in base64 that the service knows.
    Base64,
    /// One that the service does not know.
    Unknown,
}

/// What the service does in a case.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    /// The steps of a scenario: the keys and tables after its name, in TOML, with [`Places`] in them.
    Scenario(Cow<'static, str>),
    /// A variation, for all requests.
    Variation(&'static str),
    /// It changes nothing.
    Plain,
}

/// What stands for values that are known when a case runs.
#[derive(Debug)]
pub(super) struct Places<'a> {
    /// `{token}`.
    pub(super) token: &'a str,
    /// `{service}`: the base URL of the lab.
    pub(super) service: &'a str,
    /// The port of another host: `{elsewhere}` is its URL, `{other-port}` its URL by the host of the lab, and `{pretender}` its
    /// URL after a user that makes it begin as the base URL does.
    pub(super) other_port: &'a str,
}

impl Places<'_> {
    pub(super) fn fill(&self, steps: &str) -> String {
        let Self { token, service, other_port } = self;
        steps
            .replace("{token}", token)
            .replace("{service}", service)
            .replace("{elsewhere}", &format!("http://localhost:{other_port}"))
            .replace("{other-port}", &format!("http://127.0.0.1:{other_port}"))
            .replace("{pretender}", &format!("{service}@localhost:{other_port}"))
    }
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
    /// Whether names of headers are spelt with capitals.
    pub(super) capitals: bool,
    pub(super) token: CaseToken,
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
            capitals: false,
            token: CaseToken::Plain,
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
        matches!((&self.stage, self.place), (Stage::Plain, Place::Lab)) && self.token == CaseToken::Plain
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
            (_, Place::PlainHttp(prefix)) => {
                format!(
                    "has an address of plain http outside of the loopback interface: {prefix}0.0.0.0:PORT"
                )
            }
            (Stage::Plain, Place::Lab) => "behaves as the reference server does".to_owned(),
            (Stage::Variation(id), Place::Lab) => {
                let known = crate::lab::variations().into_iter().find(|variation| variation.id == *id);
                let decides = known.map(|variation| variation.decides).unwrap_or_default();
                format!("decides unspecified behaviour so: {id}\n{decides}")
            }
            (Stage::Scenario(steps), Place::Lab) => {
                let places = Places { token: "TOKEN", service: "http://127.0.0.1:PORT", other_port: "OTHER" };
                format!("plays these steps of a scenario:\n{}", places.fill(&Self::in_scenario(steps)))
            }
        };
        let further = [
            (self.capitals, "spells the names of headers with capitals"),
            (self.token == CaseToken::Base64, "knows the account by a token in base64"),
        ];
        let further = further.iter().filter(|(is_so, _)| *is_so).map(|(_, line)| *line);
        lines.lines().chain(further).map(|line| format!("  {line}\n")).collect()
    }

    pub(super) fn problems(&self, evidence: &Evidence) -> Vec<Problem> {
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
