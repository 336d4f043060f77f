//! From the evidence of a case to its problems and its outcome.

use std::collections::BTreeSet;
use std::time::Duration;

use hyper::Method;
use serde_json::Value;

use super::case::{ClientCase, Place as CasePlace};
use super::duty::Duty;
use super::evidence::{Evidence, Exit, RecordedRequest};
use super::protocol::MAX_OUTPUT;
use super::result::ClientFinding;
use crate::check::{Outcome, Severity};
use crate::contract::{OperationId, Place, part};
use crate::quantity::quantity;
use crate::wire::{gives_away, shows};

/// Exit code of a command that does not support an operation.
pub(super) const NOT_SUPPORTED: i32 = 64;

/// How much longer than its call a command may take, to write its answer and to exit.
const GRACE: Duration = Duration::from_secs(2);

/// The problems of the case, and those that are judged in every case.
pub(super) fn problems(case: &ClientCase, evidence: &Evidence) -> Vec<ClientFinding> {
    let mut problems = evidence.answer_problems(case.duty, case.expectation);
    problems.extend(case.judge.into_iter().flat_map(|judge| judge(evidence)));
    let mut begun = Duration::ZERO;
    for (number, execution) in evidence.executions.iter().enumerate() {
        for (name, text) in [("output", &execution.stdout), ("error", &execution.stderr)] {
            let mut shown =
                |expected, actual| problems.push(ClientFinding::new(Duty::TokenPrivate, expected, actual));
            if shows(text, &evidence.token) {
                shown(format!("standard {name} without the token"), "it contains the token");
            }
            if gives_away(text, &evidence.secrets) {
                let expected = format!("standard {name} without a token of the tester's environment");
                shown(expected, "it contains one, which was not handed to the command");
            }
        }
        // A busy machine starts a command late: its time counts from its first request.
        let first = evidence.of(number).next();
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
        let expected = "no token at the other host that a redirect names";
        let actual = format!("{} there with the token", quantity(evidence.leaks, "request"));
        problems.push(ClientFinding::new(Duty::TokenPrivate, expected, actual));
    }
    problems.extend(told_otherwise(case, evidence));
    // The first difference of each duty.
    let mut seen = BTreeSet::new();
    let differing = evidence.requests.iter().flat_map(|recorded| differences(case, evidence, recorded));
    problems.extend(differing.filter(|difference| seen.insert(difference.duty)));
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
        let own = || evidence.extractions(run);
        if own().last().is_some_and(|recorded| !evidence.is_whole(recorded)) {
            continue;
        }
        let is_whole = own().all(|recorded| evidence.is_whole(recorded));
        let came = evidence.extracted(run).and_then(|all| i64::try_from(all.len()).ok());
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
    let is_ascii = |recorded: &RecordedRequest| recorded.request.query.as_deref().is_none_or(str::is_ascii);
    extractions().any(|recorded| !is_ascii(recorded)).then(|| {
        let expected = "a query with percent-encoding, since a URL consists of ASCII (RFC 3986)";
        ClientFinding::new(Duty::TextEntries, expected, "other characters as they are")
    })
}

/// Each way in which one request asks for what the command was not told, such as a region or another page size.
fn differences(case: &ClientCase, evidence: &Evidence, recorded: &RecordedRequest) -> Vec<ClientFinding> {
    let (request, contract) = (&recorded.request, evidence.contract);
    let Some(operation) = recorded.operation.map(|id| contract.operation(id)) else { return Vec::new() };
    // 4.1 and 4.2: no request body.
    if request.method == Method::GET && !request.body.is_empty() {
        let expected = "no request body, since the operation has none";
        return vec![ClientFinding::new(case.duty, expected, "a request with a body")];
    }
    let told = |name: &str| case.call.arguments.get(name);
    let asks_for_text = request.param(part::RETURN_TYPE).as_deref() == Some(&contract.extract.text);
    let parameters = operation.parameters.iter().filter(|one| one.place == Place::Query);
    let parameters = parameters.filter_map(|one| {
        let (sent, default) = (request.param(&one.name), one.schema.default.as_ref().map(text));
        match one.name.as_str() {
            // How many gateways are asked for in all is judged above, and each client has request ids of its own.
            part::NUM | part::RETURN_TYPE | part::REQUEST_ID => None,
            // Nothing else has a separator.
            name @ (part::LB | part::SB) => {
                let is_told = asks_for_text && case.call.arguments.contains_key(name);
                is_told.then(|| (Duty::TextEntries, name, sent.or(default.clone()), default))
            }
            // Another name of `regions`.
            part::COUNTRY => {
                let default = contract.extract.regions.default_text();
                Some((case.duty, part::REGIONS, Some(sent.filter(|sent| !sent.is_empty())?), Some(default)))
            }
            name => {
                let sent = sent.filter(|sent| !sent.is_empty()).or_else(|| default.clone());
                Some((case.duty, name, sent, default))
            }
        }
    });
    let body = request.json();
    let members = operation.body.iter().filter(|one| ![part::IPS, part::PAGE].contains(&&*one.name));
    // In JSON a number and its text are different values, and `3.0` is the same number as `3`.
    let members = members.filter_map(|one| {
        let sent = body.get(&one.name).filter(|value| !value.is_null());
        let is_same = match (sent, told(&one.name)) {
            (Some(sent), Some(told)) if sent.is_number() => sent.as_f64() == told.as_f64(),
            (sent, told) => sent == told,
        };
        (!is_same).then(|| {
            (case.duty, &*one.name, sent.map(Value::to_string), told(&one.name).map(Value::to_string))
        })
    });
    let parameters = parameters
        .map(|(duty, name, sent, default)| (duty, name, sent, told(name).map(text).or(default)))
        .filter(|(_, _, sent, told)| sent != told);
    let differences = parameters.chain(members).map(|(duty, name, sent, told)| {
        let expected = match told {
            Some(told) => format!("{name} `{told}`, as the command was told"),
            None => format!("no {name}, which the command was not told"),
        };
        let actual = sent.map_or_else(|| "none".to_owned(), |sent| format!("{name} `{sent}`"));
        ClientFinding::new(duty, expected, actual)
    });
    differences.collect()
}

/// A value as a parameter has it. `3.0` is the same number as `3`.
fn text(value: &Value) -> String {
    let whole = value.as_f64().filter(|number| number.fract() == 0.0);
    whole
        .map(|number| number.to_string())
        .or_else(|| value.as_str().map(str::to_owned))
        .unwrap_or_else(|| value.to_string())
}

pub(super) fn of(case: &ClientCase, evidence: &Evidence, findings: &[ClientFinding]) -> Outcome {
    // Elsewhere a client may rightly send nothing, or nothing that arrives.
    let has_sent_nothing = evidence.requests.is_empty() && case.place == CasePlace::Lab;
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
