//! What a case leaves behind, and judgements on it that several cases share.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use hyper::header::RETRY_AFTER;
use serde_json::Value;

use super::case::Expectation;
use super::duty::Duty;
use super::protocol::{Answer, Operation};
use super::result::ClientFinding;
use crate::contract::{Contract, OperationId};
use crate::lab::{Framing, ProxiedRequest, Reply};
use crate::quantity::quantity;
use crate::response::gateways::denies;
use crate::target::Secret;
use crate::wire::retry_after;

/// How much the timers of a client and of this process may differ.
const TOLERANCE: Duration = Duration::from_millis(30);

/// A request that arrived, and its response.
#[derive(Debug, Clone)]
pub(super) struct RecordedRequest {
    /// Number of the execution that it belongs to, from 0.
    pub(super) execution: usize,
    /// When it arrived, after the beginning of the case.
    pub(super) at: Duration,
    pub(super) replied: Duration,
    /// Wall clock at that time, for dates.
    pub(super) replied_at: std::time::SystemTime,
    /// The operation; none for another path.
    pub(super) operation: Option<OperationId>,
    pub(super) request: ProxiedRequest,
    pub(super) reply: Reply,
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Exit {
    Code(i32),
    /// By a signal that it was not sent here.
    Signal,
    /// It was killed when its time was over.
    Killed,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal => f.write_str("a signal"),
            Self::Killed => f.write_str("a timeout: it was killed"),
        }
    }
}

/// One execution of the command.
#[derive(Debug, Clone)]
pub(super) struct Execution {
    pub(super) exit: Exit,
    /// What it wrote to standard output, up to 1 MiB.
    pub(super) stdout: Vec<u8>,
    /// What it wrote to standard error, up to 1 MiB.
    pub(super) stderr: Vec<u8>,
    pub(super) elapsed: Duration,
    /// Its answer, or why standard output is not one JSON object of the protocol.
    pub(super) output: Result<Answer, String>,
}

impl Execution {
    pub(super) fn has_result(&self) -> bool {
        self.exit == Exit::Code(0) && self.output.as_ref().is_ok_and(Answer::is_result)
    }
}

/// What a case leaves behind.
#[derive(Debug)]
pub(super) struct Evidence {
    pub(super) operation: Operation,
    pub(super) executions: Vec<Execution>,
    pub(super) requests: Vec<RecordedRequest>,
    /// How many requests arrived at another host with the token.
    pub(super) leaks: usize,
    /// The ids of the instances that a search finds, on all pages; none where the case searches for what nobody has.
    pub(super) instances: Vec<i64>,
    pub(super) token: Secret,
    /// The tester's own secrets, which the command must not have.
    pub(super) secrets: Vec<Secret>,
    pub(super) contract: &'static Contract,
}

impl Evidence {
    /// The requests of an execution.
    pub(super) fn of(&self, execution: usize) -> impl DoubleEndedIterator<Item = &RecordedRequest> {
        self.requests.iter().filter(move |recorded| recorded.execution == execution)
    }

    pub(super) fn extractions(&self, execution: usize) -> impl DoubleEndedIterator<Item = &RecordedRequest> {
        self.of(execution).filter(|recorded| recorded.operation == Some(OperationId::Extract))
    }

    /// The result that an execution has to report; none when no success was sent.
    pub(super) fn truth(&self, execution: usize) -> Option<Answer> {
        let last = self.of(execution).rfind(|recorded| self.is_success(recorded))?;
        let body = last.reply.json();
        Some(match self.operation {
            Operation::Extract => Answer::result(endpoints(&body), None),
            Operation::ExtractText => {
                let (extract, request) = (&self.contract.extract, &last.request);
                let separator =
                    extract.separator(request.param(&extract.lb.name), request.param(&extract.sb.name));
                let text = String::from_utf8_lossy(&last.reply.body);
                Answer::result(text.split(&separator).map(str::to_owned), None)
            }
            Operation::Groups => Answer::result(ids(&body, "groupId").map(|id| id.to_string()), None),
            // The lab has made the pages of a search for what nobody has.
            Operation::Search if self.instances.is_empty() => {
                let served = self.of(execution).filter(|it| self.is_success(it));
                let of_page =
                    |recorded: &RecordedRequest| ids(&recorded.reply.json(), "instanceId").collect();
                let found: BTreeSet<i64> = served.flat_map::<Vec<i64>, _>(of_page).collect();
                Answer::result(found.iter().map(ToString::to_string), body["data"]["total"].as_i64())
            }
            Operation::Search => Answer::result(
                self.instances.iter().map(ToString::to_string),
                i64::try_from(self.instances.len()).ok(),
            ),
        })
    }

    /// The gateways of all extractions of an execution; a repeat with the same request id counts once.
    pub(super) fn extracted(&self, execution: usize) -> Option<Vec<String>> {
        let mut seen = BTreeSet::new();
        let mut gateways = Vec::new();
        for (recorded, id) in self.extractions(execution).zip(self.request_ids(execution)) {
            if self.is_success(recorded) && id.is_none_or(|id| seen.insert(id)) {
                gateways.extend(endpoints(&recorded.reply.json()));
            }
        }
        (self.operation == Operation::Extract).then_some(gateways)
    }

    /// Whether a response is a complete success.
    fn is_success(&self, recorded: &RecordedRequest) -> bool {
        let Some(id) = recorded.operation else { return false };
        let success = &self.contract.operation(id).success;
        let is_code = match recorded.reply.json().get("code") {
            Some(code) => code.as_f64() == Some(success.code as f64),
            None => self.operation == Operation::ExtractText,
        };
        !recorded.reply.is_broken() && recorded.reply.status.as_u16() == success.status && is_code
    }

    /// Whether a response is a complete success with as many gateways as were asked for.
    pub(super) fn is_whole(&self, recorded: &RecordedRequest) -> bool {
        let flag = recorded.reply.headers.get(self.contract.extract.partial_flag.as_str());
        let is_partial = flag.and_then(|flag| flag.to_str().ok()).is_some_and(|flag| !denies(flag));
        self.is_success(recorded) && !is_partial
    }

    /// What is wrong with the answer of each execution.
    pub(super) fn answer_problems(&self, duty: Duty, expectation: Expectation) -> Vec<ClientFinding> {
        let mut problems = Vec::new();
        for (number, execution) in self.executions.iter().enumerate() {
            let problem = |duty, expected, actual: &str| {
                ClientFinding::new(duty, expected, actual).after(&self.summary(number))
            };
            problems.extend(match (self.truth(number), expectation) {
                (_, Expectation::Result) if !execution.has_result() => {
                    let expected = "a result: the service served the call";
                    Some(problem(duty, expected, &ending(execution)).said_by(execution))
                }
                // What a response is like is open where it is no success, and no caller dies of it.
                _ if !execution.has_result() => self.has_crashed(number).then(|| {
                    let expected = "an answer, which is an error where the call failed";
                    let crash = format!("a crash: {}", ending(execution));
                    problem(Duty::Tolerant, expected, &crash).said_by(execution)
                }),
                // Whatever the case is about, it is this duty that says what a success is.
                (None, _) => {
                    Some(problem(Duty::BothCodes, "an error: no response was a success", "a result"))
                }
                (Some(_), Expectation::Error) => {
                    // A client that never sent the request that fails has no error to report.
                    let met_failure = self.of(number).any(|recorded| !self.is_success(recorded));
                    met_failure.then(|| problem(duty, "an error: a request of the call failed", "a result"))
                }
                (Some(truth), _) => {
                    let output = execution.output.clone().unwrap_or_default();
                    let differs = |truth| difference(self.operation.result().1, &output, truth);
                    // Several extractions of a few gateways are one of many.
                    let all = self.extracted(number).map(|all| Answer::result(all, None));
                    let difference = differs(truth).filter(|_| all.is_none_or(|all| differs(all).is_some()));
                    difference.map(|(expected, actual)| ClientFinding::new(duty, expected, actual))
                }
            });
        }
        problems
    }

    /// Whether an execution ended without a word, although it had begun the call. Before its first request it shows nothing of the
    /// client, and an answer in another form is a mistake of the command.
    pub(super) fn has_crashed(&self, number: usize) -> bool {
        let is_crash = self.executions.get(number).is_some_and(|execution| match execution.exit {
            Exit::Code(0) | Exit::Killed => false,
            Exit::Code(_) | Exit::Signal => execution.stdout.trim_ascii().is_empty(),
        });
        is_crash && self.of(number).next().is_some()
    }

    /// Requests that arrived before the time of Retry-After was over.
    pub(super) fn early_requests(&self, duty: Duty) -> Vec<ClientFinding> {
        let mut problems = Vec::new();
        for pair in self.requests.windows(2) {
            let [before, after] = pair else { continue };
            let value = before.reply.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let wait = value.and_then(|value| retry_after(value, None, before.replied_at));
            let Some(wait) = wait.filter(|_| before.execution == after.execution) else { continue };
            if after.at + TOLERANCE < before.replied.saturating_add(wait) {
                let (status, wait) = (before.reply.status.as_u16(), wait.as_secs_f64());
                let came = after.at.saturating_sub(before.replied).as_secs_f64();
                let expected = format!("no request for {wait:.2} s after HTTP {status} with Retry-After");
                let actual = format!("the next one came after {came:.2} s");
                problems.push(ClientFinding::new(duty, expected, actual));
            }
        }
        problems
    }

    /// More requests of one execution than `most`.
    pub(super) fn too_many_requests(&self, duty: Duty, most: usize) -> Vec<ClientFinding> {
        let counts = (0..self.executions.len()).map(|number| self.of(number).count());
        let expected = format!("at most {} of one call", quantity(most, "request"));
        let problem = |count| ClientFinding::new(duty, &*expected, quantity(count, "request"));
        counts.filter(|count| *count > most).map(problem).collect()
    }

    /// More requests of one execution than a limited number of retries.
    pub(super) fn endless_retries(&self) -> Vec<ClientFinding> {
        /// Maximum number of requests of one call; more retries count as unlimited. The contract names no number.
        const MAX_REQUESTS: usize = 30;
        let inferred = "7.3: a limited number of times; the contract gives no number, so the limit of the suite is generous";
        let problems = self.too_many_requests(Duty::LimitedRetries, MAX_REQUESTS);
        problems.into_iter().map(|problem| problem.inferred(inferred)).collect()
    }

    /// The request ids of the extractions of an execution; none for one without.
    pub(super) fn request_ids(&self, execution: usize) -> Vec<Option<String>> {
        let id = |recorded: &RecordedRequest| {
            recorded.request.request_id(&self.contract.extract).filter(|id| !id.is_empty())
        };
        self.extractions(execution).map(id).collect()
    }

    /// Repeats of an extraction without a request id, and under another one.
    pub(super) fn request_id_problems(&self) -> Vec<ClientFinding> {
        let mut problems = Vec::new();
        for number in 0..self.executions.len() {
            let ids = self.request_ids(number);
            if ids.len() > 1 && ids.iter().any(Option::is_none) {
                let expected = "a request id in each request of an extraction that is repeated";
                let actual = format!("{} requests, of which some have none", ids.len());
                problems.push(ClientFinding::new(Duty::NoBlindRepeat, expected, actual));
            } else if ids.windows(2).any(|pair| pair[0] != pair[1]) {
                let expected = "the same request id in each request of an extraction";
                let actual = format!("{} requests with different ones", ids.len());
                problems.push(ClientFinding::new(Duty::SameRequestId, expected, actual));
            }
        }
        problems
    }

    /// A request id that an execution used before.
    pub(super) fn used_request_ids(&self) -> Vec<ClientFinding> {
        let ids = (0..self.executions.len()).filter_map(|number| self.request_ids(number).pop().flatten());
        let ids: Vec<String> = ids.collect();
        let is_repeated = ids.len() == 2 && ids[0] == ids[1];
        let expected = "another request id for a new extraction";
        let problem = || ClientFinding::new(Duty::SameRequestId, expected, "the same one");
        is_repeated.then(problem).into_iter().collect()
    }

    /// Requests to an address where none may arrive.
    pub(super) fn requests_over_plain_http(&self) -> Vec<ClientFinding> {
        let expected = "no request: 0.0.0.0 is not the loopback interface";
        let actual = || format!("{} over plain http", self.summary(0));
        let problem = |_| ClientFinding::new(Duty::HttpsOnly, expected, actual());
        self.requests.first().map(problem).into_iter().collect()
    }

    /// What was sent to an execution, without any value: "GET groups -> 429, GET groups -> 200".
    pub(super) fn summary(&self, execution: usize) -> String {
        let lines: Vec<String> = self.of(execution).map(RecordedRequest::line).collect();
        match lines.as_slice() {
            [] => "no request".to_owned(),
            [lines @ .., last] if lines.len() > 5 => {
                format!("{}, …, {last} ({} requests)", lines[..3].join(", "), lines.len() + 1)
            }
            lines => lines.join(", "),
        }
    }
}

impl RecordedRequest {
    /// Method, operation and status, with what was done to the connection.
    pub(super) fn line(&self) -> String {
        let operation = self.operation.map_or("another path", |operation| operation.id());
        let end = match self.reply.framing {
            Framing::Silent(_) => "nothing".to_owned(),
            Framing::Reset(_) if self.reply.is_broken() => "reset".to_owned(),
            Framing::Cut(_) | Framing::WrongLength(_) if self.reply.is_broken() => "cut".to_owned(),
            _ => self.reply.status.as_u16().to_string(),
        };
        format!("{operation} -> {end}")
    }
}

/// This member of each item of a listing.
pub(super) fn ids(body: &Value, name: &str) -> impl Iterator<Item = i64> {
    let items = body["data"]["items"].as_array().into_iter().flatten();
    items.filter_map(move |item| item[name].as_i64())
}

/// The gateways of a JSON extraction as the protocol writes them.
fn endpoints(body: &Value) -> Vec<String> {
    let entries = body["data"].as_array().into_iter().flatten();
    entries.map(|entry| format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"])).collect()
}

/// How an execution without a result ended.
fn ending(execution: &Execution) -> String {
    match execution.exit {
        Exit::Killed => "it was killed when its time was over".to_owned(),
        Exit::Signal => "it was ended by a signal".to_owned(),
        Exit::Code(0) => match &execution.output {
            Ok(Answer { error: Some(_), .. }) => "an error".to_owned(),
            Ok(_) => "an answer without a result of this operation".to_owned(),
            Err(reason) => format!("no answer: standard output is {reason}"),
        },
        Exit::Code(code) => format!("exit code {code}"),
    }
}

/// What a result lacks and has too much, in words.
fn difference(what: &str, output: &Answer, truth: Answer) -> Option<(String, String)> {
    let (sent, found) = (truth.items?, output.items.clone().unwrap_or_default());
    // A service may send a gateway several times, and a caller may drop the repeats.
    let (distinct, known) = (BTreeSet::from_iter(&sent), BTreeSet::from_iter(&found));
    let (lost, foreign) = (distinct.difference(&known).count(), known.difference(&distinct).count());
    let count = |list: &[String], one: &String| list.iter().filter(|other| *other == one).count();
    let repeated = known.intersection(&distinct).filter(|one| count(&found, one) > count(&sent, one)).count();
    if lost + repeated + foreign > 0 {
        let parts = [(lost, "missing"), (repeated, "too often"), (foreign, "never sent")];
        let parts =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let parts = parts.collect::<Vec<_>>().join(", ");
        return Some((
            format!("the service's {}, none more often than it was sent", quantity(sent.len(), what)),
            format!("{}: {parts}", quantity(found.len(), what)),
        ));
    }
    match (output.total, truth.total) {
        (Some(found), Some(sent)) if found != sent => {
            Some((format!("the total {sent}, which counts all pages"), format!("the total {found}")))
        }
        _ => None,
    }
}
