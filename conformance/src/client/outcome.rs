//! From the evidence of a case to its problems and its outcome.

use std::time::Duration;

use hyper::Method;
use serde_json::Value;

use super::case::{ClientCase, Place};
use super::duty::Duty;
use super::evidence::{Evidence, Exit, RecordedRequest};
use super::protocol::MAX_OUTPUT;
use super::result::ClientFinding;
use super::token_search::{gives_away, shows};
use crate::check::{Outcome, Severity};
use crate::contract::{Extract, OperationId, Search};
use crate::quantity::quantity;

/// Exit code of a command that does not support an operation.
pub(super) const NOT_SUPPORTED: i32 = 64;

/// How much longer than its call a command may take, to write its answer and to exit.
const GRACE: Duration = Duration::from_secs(2);

/// The problems of the case, and those that are judged in every case.
pub(super) fn problems(case: &ClientCase, evidence: &Evidence) -> Vec<ClientFinding> {
    let mut problems = case.problems(evidence);
    let mut begun = Duration::ZERO;
    for (number, execution) in evidence.executions.iter().enumerate() {
        for (name, text) in [("output", &execution.stdout), ("error", &execution.stderr)] {
            if shows(text, &evidence.token) {
                problems.push(ClientFinding::new(
                    Duty::TokenPrivate,
                    format!("standard {name} without the token"),
                    "it contains the token".to_owned(),
                ));
            }
            if gives_away(text, &evidence.secrets) {
                problems.push(ClientFinding::new(
                    Duty::TokenPrivate,
                    format!("standard {name} without a token of the tester's environment"),
                    "it contains one, which was not handed to the command".to_owned(),
                ));
            }
        }
        // A busy machine starts a command late: its time counts from its first request.
        let first = evidence.requests.iter().find(|recorded| recorded.execution == number);
        let starting = first.map_or(Duration::ZERO, |recorded| recorded.at.saturating_sub(begun));
        begun += execution.elapsed;
        if execution.elapsed.saturating_sub(starting) > case.limit + GRACE || execution.exit == Exit::Killed {
            let actual = match execution.exit {
                Exit::Killed => format!("it was killed after {:.1} s", execution.elapsed.as_secs_f64()),
                _ => format!("it took {:.1} s", execution.elapsed.as_secs_f64()),
            };
            let expected = format!("the call ends within its {} s", case.limit.as_secs_f64());
            problems.push(ClientFinding::new(Duty::TimeLimit, expected, actual));
        }
    }
    if evidence.leaks > 0 {
        problems.push(ClientFinding::new(
            Duty::TokenPrivate,
            "no token at the other host that a redirect names",
            format!("{} there with the token", quantity(evidence.leaks, "request")),
        ));
    }
    problems.extend(told_otherwise(case, evidence));
    problems.extend(not_told(case, evidence));
    problems.dedup();
    problems
}

/// Requests that ask for another number or another separator than the command was told.
fn told_otherwise(case: &ClientCase, evidence: &Evidence) -> Option<ClientFinding> {
    let extract = &evidence.contract.extract;
    let told = case.call.arguments.get(&extract.num.name)?.as_i64()?;
    let extractions =
        || evidence.requests.iter().filter(|request| request.operation == Some(OperationId::Extract));
    let number = |recorded: &RecordedRequest| recorded.request.param(&extract.num.name)?.parse::<i64>().ok();
    if let Some(more) = extractions().filter_map(number).find(|number| *number > told) {
        let expected = format!("`num` of at most {told}, as the command was told");
        return Some(ClientFinding::new(case.duty, expected, format!("`num` of {more}")));
    }
    // Several extractions of fewer are as good, when they are as many in all, or stop where there are no more.
    for (run, _) in evidence.executions.iter().enumerate().filter(|(_, execution)| execution.has_result()) {
        let own = || extractions().filter(|recorded| recorded.execution == run);
        if own().last().is_some_and(|recorded| !evidence.is_whole(recorded)) {
            continue;
        }
        let is_whole = own().all(|recorded| evidence.is_whole(recorded));
        let came = evidence.extracted(run).and_then(|all| i64::try_from(all.gateways?.len()).ok());
        if let Some(came) = came.filter(|came| is_whole && *came > told) {
            let expected = format!("{told} gateways in all, as the command was told");
            return Some(ClientFinding::new(case.duty, expected, format!("{came}, by several request ids")));
        }
        let asked = own().filter_map(number).fold(0, i64::saturating_add);
        if (1..told).contains(&asked) {
            let expected = format!("{told} gateways requested in all, as the command was told");
            return Some(ClientFinding::new(case.duty, expected, format!("{asked} requested in all")));
        }
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_text = |recorded: &&RecordedRequest| {
        recorded.request.param(&extract.return_type.name).as_deref() == Some(extract.text.as_str())
    };
    for parameter in [&extract.lb, &extract.sb] {
        let Some(told) = case.call.arguments.get(&parameter.name).map(text) else { continue };
        let default = parameter.schema.default.as_ref().map(text);
        let sent = extractions().filter(is_text).map(|recorded| recorded.request.param(&parameter.name));
        let other = sent.map(|value| value.or(default.clone())).find(|value| value.as_ref() != Some(&told));
        if let Some(other) = other {
            let expected = format!("{} `{told}`, as the command was told", parameter.name);
            let actual =
                other.map_or_else(|| "none".to_owned(), |other| format!("{} `{other}`", parameter.name));
            return Some(ClientFinding::new(Duty::TextEntries, expected, actual));
        }
    }
    let is_ascii =
        |recorded: &RecordedRequest| recorded.request.query.as_ref().is_none_or(|query| query.is_ascii());
    extractions().any(|recorded| !is_ascii(recorded)).then(|| {
        let expected = "a query with percent-encoding, since a URL consists of ASCII (RFC 3986)";
        ClientFinding::new(Duty::TextEntries, expected, "other characters as they are")
    })
}

/// What requests ask for although the command was not told so: another region or protocol than the default, a filter, another
/// page size, or whatever a body of an operation without one says.
fn not_told(case: &ClientCase, evidence: &Evidence) -> Option<ClientFinding> {
    let has_body = |recorded: &RecordedRequest| {
        recorded.request.method == Method::GET && !recorded.request.body.is_empty()
    };
    let differs = |recorded: &RecordedRequest| match recorded.operation? {
        // 4.1 and 4.2: no request body.
        _ if has_body(recorded) => Some((
            "no request body, since the operation has none".to_owned(),
            "a request with a body".to_owned(),
        )),
        OperationId::Extract => extracts_otherwise(case, &evidence.contract.extract, recorded),
        OperationId::Search => searches_otherwise(case, &evidence.contract.search, recorded),
        _ => None,
    };
    let (expected, actual) = evidence.requests.iter().find_map(differs)?;
    Some(ClientFinding::new(case.duty, expected, actual))
}

fn extracts_otherwise(
    case: &ClientCase,
    extract: &Extract,
    recorded: &RecordedRequest,
) -> Option<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    // `country` is another name of `regions`.
    let parameters = [
        (&extract.regions, &extract.regions),
        (&extract.country, &extract.regions),
        (&extract.protocol, &extract.protocol),
    ];
    parameters.into_iter().find_map(|(parameter, like)| {
        let told = case.call.arguments.get(&parameter.name).or(like.schema.default.as_ref()).map(text);
        let sent = recorded.request.param(&parameter.name).filter(|sent| !sent.is_empty())?;
        (Some(&sent) != told.as_ref()).then(|| {
            let told = told.unwrap_or_else(|| "none".to_owned());
            (format!("{} `{told}`, as the command was told", parameter.name), format!("`{sent}`"))
        })
    })
}

fn searches_otherwise(
    case: &ClientCase,
    search: &Search,
    recorded: &RecordedRequest,
) -> Option<(String, String)> {
    let (told, body) = (&case.call.arguments, recorded.request.json());
    let sent = |name: &str| body.get(name).filter(|value| !value.is_null());
    let size = &search.page_size.name;
    if let Some(wanted) = told.get(size)
        && sent(size).and_then(Value::as_f64) != wanted.as_f64()
    {
        let actual = sent(size).map_or_else(|| "none".to_owned(), ToString::to_string);
        return Some((format!("{size} {wanted}, as the command was told"), actual));
    }
    let names = search.filters.iter().map(|filter| &filter.property.name);
    names.filter(|name| !told.contains_key(*name)).find_map(|name| {
        let value = sent(name)?;
        Some((format!("no {name}, which the command was not told"), value.to_string()))
    })
}

/// The outcome of a case with these findings.
pub(super) fn of(case: &ClientCase, evidence: &Evidence, findings: &[ClientFinding]) -> Outcome {
    // Elsewhere a client may rightly send nothing, or nothing that arrives.
    let has_sent_nothing = evidence.requests.is_empty() && case.place == Place::Lab;
    let never_began = evidence.executions.iter().any(|execution| match execution.exit {
        Exit::Code(0) => execution.output.is_err(),
        Exit::Code(1) | Exit::Killed => has_sent_nothing && execution.output.is_err(),
        Exit::Code(_) | Exit::Signal => evidence.requests.is_empty() && execution.output.is_err(),
    });
    let is_endless = evidence.executions.iter().any(|execution| execution.stdout.len() > MAX_OUTPUT);
    if is_endless {
        return Outcome::Error(format!("it wrote more than {} MiB to standard output", MAX_OUTPUT >> 20));
    }
    // A command that cannot even start, or breaks the protocol, shows nothing of the client.
    let shows_token = findings.iter().any(|finding| finding.duty == Duty::TokenPrivate);
    let fails = findings.iter().any(|finding| finding.severity == Severity::Fail);
    if fails && (!never_began || shows_token) {
        return Outcome::Failed;
    }
    let executions = evidence.executions.iter().enumerate();
    let mut answering = executions.filter(|(number, _)| !evidence.has_crashed(*number));
    let broken = answering.find_map(|(_, execution)| match execution.exit {
        Exit::Code(0) => execution.output.as_ref().err().map(|reason| {
            format!("standard output is not one JSON object with a result or an error: {reason}")
        }),
        // Interpreters end with the same code when a program crashes.
        Exit::Code(1) => execution.output.as_ref().err().map(|reason| {
            format!("exit code 1, and standard output is not one JSON object with an error: {reason}")
        }),
        Exit::Code(code) => Some(format!("exit code {code}; expected 0, 1 or {NOT_SUPPORTED}")),
        Exit::Signal => Some("ended by a signal".to_owned()),
        Exit::Killed if has_sent_nothing => Some("killed before its first request".to_owned()),
        Exit::Killed => Some("killed".to_owned()),
    });
    match broken {
        Some(reason) => Outcome::Error(reason),
        None if findings.is_empty() => Outcome::Passed,
        None => Outcome::Warning,
    }
}
