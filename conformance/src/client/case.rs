use std::time::Duration;

use super::duty::Duty;
use super::evidence::Evidence;
use super::protocol::Call;
use super::result::ClientFinding;
use crate::lab::{DEFAULT, Row};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The lab, on the loopback interface.
    Lab,
    /// The lab, by an address that leads there and is no loopback address, behind this scheme, and a user that looks like one.
    PlainHttp(String),
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

/// What stands for the members of a success beside its code.
const SUCCESSES: [(&str, &str); 3] = [
    (
        "{extracted}",
        r#""success": true, "msg": "ok", "data": [{"ip": "192.0.2.1", "port": 80}], "request_ip": "127.0.0.1""#,
    ),
    ("{listed}", r#""message": "ok", "requestId": "r", "data": {"items": []}"#),
    (
        "{searched}",
        r#""message": "ok", "requestId": "r", "data": {"items": [], "page": 1, "pageSize": 50, "total": 0}"#,
    ),
];

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
    /// The steps of a scenario that the service plays, in TOML with [`Places`] in it; empty where it plays none.
    pub(super) steps: String,
    /// A variation of the lab, for all requests.
    pub(super) variation: Option<&'static Row>,
    pub(super) place: Place,
    /// Whether names of headers are spelt with capitals.
    pub(super) capitals: bool,
    pub(super) token: CaseToken,
    /// What its requests are judged by: what follows from the duty, where the case has no other.
    pub(super) judge: Option<RequestJudge>,
}

/// What is wrong with the requests of a case.
pub(super) type RequestJudge = fn(&Evidence) -> Vec<ClientFinding>;

impl ClientCase {
    /// Whether the service does nothing unusual, so that a failure does not depend on the situation of the case.
    pub(super) fn is_plain(&self) -> bool {
        let is_usual = self.steps.is_empty() && self.variation.is_none();
        is_usual && self.place == Place::Lab && self.token == CaseToken::Plain
    }

    /// The scenario that the service plays.
    pub(super) fn scenario(&self, places: &Places<'_>) -> String {
        let Places { token, service, other_port } = places;
        let steps =
            SUCCESSES.iter().fold(self.steps.clone(), |steps, (name, text)| steps.replace(name, text));
        let steps = steps
            .replace("{token}", token)
            .replace("{service}", service)
            .replace("{elsewhere}", &format!("http://localhost:{other_port}"))
            .replace("{other-port}", &format!("http://127.0.0.1:{other_port}"))
            .replace("{pretender}", &format!("{service}@localhost:{other_port}"));
        format!("[{DEFAULT}]\n{steps}")
    }

    /// What the service does, for people: a line for each step.
    #[must_use]
    pub fn stage_text(&self) -> String {
        let lines = match (&self.place, self.variation) {
            (Place::Nobody, _) => "nobody listens at its address".to_owned(),
            (Place::PlainHttp(prefix), _) => {
                let place = "has an address of plain http outside of the loopback interface";
                format!("{place}: {prefix}0.0.0.0:PORT")
            }
            (Place::Lab, Some(Row { id, breaks, .. })) => {
                format!("decides unspecified behaviour so: {id}\n{breaks}")
            }
            (Place::Lab, None) if self.steps.is_empty() => "behaves as the reference server does".to_owned(),
            (Place::Lab, None) => {
                let places = Places { token: "TOKEN", service: "http://127.0.0.1:PORT", other_port: "OTHER" };
                format!("plays this scenario:\n{}", self.scenario(&places))
            }
        };
        let further = [
            (self.capitals, "spells the names of headers with capitals"),
            (self.token == CaseToken::Base64, "knows the account by a token in base64"),
        ];
        let further = further.iter().filter(|(is_so, _)| *is_so).map(|(_, line)| *line);
        lines.lines().chain(further).map(|line| format!("  {line}\n")).collect()
    }
}

/// What judges the requests of the cases of a duty, where a row of `cases.txt` names no other judge.
pub(super) fn judge_of(duty: Duty) -> Option<RequestJudge> {
    match duty {
        Duty::WaitThrottled => Some(|evidence| evidence.early_requests(Duty::WaitThrottled)),
        Duty::WaitShortage => Some(|evidence| evidence.early_requests(Duty::WaitShortage)),
        Duty::LimitedRetries => Some(Evidence::endless_retries),
        Duty::SameRequestId | Duty::NoBlindRepeat => Some(Evidence::request_id_problems),
        Duty::HttpsOnly => Some(Evidence::requests_over_plain_http),
        Duty::BothCodes
        | Duty::TokenPrivate
        | Duty::Tolerant
        | Duty::TextEntries
        | Duty::Paging
        | Duty::TimeLimit => None,
    }
}

/// The judge with this name in `cases.txt`.
pub(super) fn judge_named(name: &str) -> Option<RequestJudge> {
    /// Maximum number of pages that a caller may request when all of them are empty.
    const MAX_PAGES: usize = 30;
    Some(match name {
        "waits" => |evidence| evidence.early_requests(Duty::WaitThrottled),
        "retries" => Evidence::endless_retries,
        "pages" => |evidence| evidence.too_many_requests(Duty::Paging, MAX_PAGES),
        "other-ids" => Evidence::used_request_ids,
        "same-id-inferred" => |evidence| {
            let from = "4.1 rule 5: a server error says as little of the outcome as an interruption";
            evidence.request_id_problems().into_iter().map(|problem| problem.inferred(from)).collect()
        },
        _ => return None,
    })
}
