//! Judges one exchange from the field: by the passive checks, and by what the document allows in a request.

use std::collections::BTreeSet;

use sallyport_contract::date_time;
use sallyport_contract::request::Request as Parts;
use sallyport_contract::table::{Location, Operation, Token};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::judge::observe;
use super::traffic::Traffic;
use crate::check::{Decision, Finding, Form, InferredClauses, ResponseClass, Severity};
use crate::contract::{Clause, Contract, OperationId};
use crate::run::{Session, SessionError};
use crate::wire::{RecordedExchange, Request, ThrottlingPolicy, password};

/// What one exchange shows.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The exchange, without its credentials.
    pub exchange: RecordedExchange,
    /// What the response means, in words.
    pub response: String,
    /// The clauses that it can show, kept or violated.
    pub shown: BTreeSet<Clause>,
    /// The violations.
    pub violations: Vec<Finding>,
    /// Whether the document allows the request and the service rejected it. Another reason than the request may be the cause.
    pub is_valid_and_rejected: bool,
}

impl Judgement {
    /// Sends a request, and judges its exchange. None if there is no response that can be judged.
    ///
    /// # Errors
    /// When the budget does not allow it.
    pub async fn of_request(session: &Session<'_>, request: &Request) -> Result<Option<Self>, SessionError> {
        let exchange = session.send("judge", request, ThrottlingPolicy::WaitOut).await?;
        let traffic = Traffic::of_exchanges(session, &[exchange]);
        Ok(traffic.and_then(|traffic| Self::new(session.contract, &traffic)))
    }

    /// Judges the last exchange of some traffic. None if there is none that can be judged.
    #[must_use]
    pub fn new(contract: &Contract, traffic: &Traffic) -> Option<Self> {
        let report = observe(contract, traffic, InferredClauses::default());
        let judged = report.clauses.iter().filter(|clause| clause.checked > 0 || clause.failures > 0);
        let mut shown: BTreeSet<Clause> = judged.map(|clause| clause.id).collect();
        let findings = report.checks.into_iter().flat_map(|check| check.findings);
        let mut violations: Vec<Finding> =
            findings.filter(|finding| finding.severity == Severity::Fail).collect();
        for Finding { actual, .. } in &mut violations {
            // There is one exchange, so its place says nothing.
            actual.truncate(actual.find(", at log.entries[").unwrap_or(actual.len()));
        }
        let recorded = traffic.exchanges.last()?;
        let (operation, exchange, redactor) = (recorded.operation, recorded.exchange(), &traffic.redactor);
        let form = Form::from_request(contract, operation, &exchange.request);
        let class = ResponseClass::classify(contract, operation, form, &exchange.result, redactor);
        let validity = validity(contract, operation, &exchange.request);
        if let Some(Err((clauses, what))) = &validity
            && class.decision() != Decision::Undecided
        {
            shown.extend(clauses);
            if class.decision() == Decision::Accepted {
                let expected = redactor.redact(&format!("rejected: {what}"));
                let texts = (expected, "a success".to_owned());
                let finding = |clause: &Clause| {
                    Finding::new(contract.catalogue.clause(*clause), None, Severity::Fail, texts.clone())
                };
                violations.extend(clauses.iter().map(finding));
            }
        }
        Some(Self {
            exchange: RecordedExchange::new(&exchange, redactor),
            response: class.description().to_owned(),
            is_valid_and_rejected: validity == Some(Ok(())) && class.decision() == Decision::Rejected,
            shown,
            violations,
        })
    }
}

/// A constraint of the document that a request breaks: the clauses behind it, and what is wrong.
type Broken = (Vec<Clause>, String);

/// What the document says of a request. None where that depends on what is open or hidden, or where it cites no clause.
fn validity(contract: &Contract, id: OperationId, request: &Request) -> Option<Result<(), Broken>> {
    let operation = sallyport_contract::operation(&contract.operation(id).name)?;
    let mut parts = parts(operation, request)?;
    let extract = &contract.extract;
    // A separator is read or ignored where it does not apply (open.extract.unused-separator).
    for (name, condition, equals) in [
        (&extract.lb.name, &extract.return_type.name, &extract.text),
        (&extract.sb.name, &extract.lb.name, &extract.custom_separator),
    ] {
        let applies = parts.get(condition).is_some_and(|value| value == equals);
        if let Some((_, place)) = parts.sent(Location::Query, name).filter(|_| !applies) {
            *place = None;
        }
    }
    let broken = |clauses: &str, what: String| {
        let clauses: Vec<Clause> = clauses.split(", ").filter_map(Clause::from_id).collect();
        (!clauses.is_empty()).then_some(Err((clauses, what)))
    };
    if let Err(violation) = parts.check() {
        return broken(violation.clauses, format!("{}: {}", violation.place(), violation.message()));
    }
    let Token { name, location, transports, required, not_empty, .. } = &operation.token;
    let (place, in_query_alone) = (location.place(name), transports.len() == 1);
    let in_query = request.query_pairs().filter_map(|(sent, value)| match sent {
        Some(sent) => (sent == name).then_some(value),
        None => value.strip_prefix(name)?.strip_prefix('='),
    });
    let headers = request.headers().iter().map(|(_, value)| std::str::from_utf8(value).unwrap_or("$"));
    let hidden: Vec<&str> = headers.filter(|value| value.contains('$')).collect();
    let in_headers = hidden.iter().copied().filter(|value| !in_query_alone && value.ends_with("$API_KEY"));
    match in_query.chain(in_headers).collect::<Vec<_>>().as_slice() {
        ["$API_KEY" | "Bearer $API_KEY"] => Some(Ok(())),
        [""] if hidden.is_empty() => broken(not_empty, format!("{place}: must not be empty")),
        // Programs that export an archive may leave out the header that has it.
        [] if hidden.is_empty() && in_query_alone => broken(required, format!("{place}: missing")),
        _ => None,
    }
}

/// The values of a request in their usual spelling. None if the contract leaves open what they are.
fn parts<'o>(operation: &'o Operation, request: &Request) -> Option<Parts<'o>> {
    let (mut parts, mut names) = (Parts::new(operation), BTreeSet::new());
    let is_empty = |value: &Value| value.is_null() || value == "";
    let mut set = |location, name: &str, text: &str| {
        let Some((part, place)) = parts.sent(location, name) else { return Some(()) };
        let value = part.schema.value_of(number(text.trim()).unwrap_or_else(|| text.to_owned()));
        *place = Some(value).filter(|value| part.required.is_some() || !is_empty(value));
        // Which of several values counts is open.
        names.insert(&part.name).then_some(())
    };
    for (name, value) in request.query_pairs() {
        match name {
            Some(name) => set(Location::Query, name, value)?,
            // A credential, which is hidden. What other raw text means is open.
            None => drop(value.split_once("=$").filter(|(name, _)| !name.starts_with('$'))?),
        }
    }
    for (name, value) in request.headers() {
        set(Location::Header, name, &String::from_utf8_lossy(value))?;
    }
    let sent = request.body_bytes().filter(|body| !body.is_empty());
    let (Some(body), Some(sent)) = (&operation.body, &sent) else {
        return (operation.body.is_some() || sent.is_none()).then_some(parts);
    };
    let is_encoded = |(name, _): &(String, _)| name.eq_ignore_ascii_case("content-encoding");
    let mut value = match serde_json::from_slice(sent) {
        // Which of several members counts is open.
        Ok(value) if password::has_replaced_members(sent, &value) => return None,
        Ok(value) => value,
        // JSON that is too deep for this program, or compressed.
        Err(_) if serde_json::from_slice::<IgnoredAny>(sent).is_ok() => return None,
        Err(_) if request.headers().iter().any(is_encoded) => return None,
        Err(_) => Value::from("text that is not JSON"),
    };
    if let Value::Object(members) = &mut value {
        let is_known = |name: &str| body.schema.members().iter().any(|known| known.name == name);
        members.retain(|name, value| is_known(name) && !is_empty(value));
        members.values_mut().for_each(in_usual_spelling);
    }
    *parts.sent(Location::Body, &body.name)?.1 = Some(value);
    Some(parts)
}

/// A whole number in its usual spelling, such as `2` for `2.0`.
fn number(text: &str) -> Option<String> {
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && number.abs() < 1e15).then(|| format!("{number:.0}"))
}

/// A value in a spelling that is not open: without spaces, leading zeros and needless brackets, and with the `T` of a time.
fn in_usual_spelling(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(in_usual_spelling),
        Value::String(text) => {
            let is_digit = |c: char| c.is_ascii_hexdigit();
            let usual = text.trim();
            let with_t = usual.replacen(' ', "T", 1);
            let inner = usual.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
            *text = match inner.unwrap_or(usual) {
                _ if date_time::parse(&with_t).is_some() => with_t,
                usual if usual.chars().all(|c| is_digit(c) || ".:[]".contains(c)) => {
                    let part = |part: &str| {
                        let rest = part.trim_start_matches('0');
                        let is_zero = rest.len() < part.len() && !rest.starts_with(is_digit);
                        part[part.len() - rest.len() - usize::from(is_zero)..].to_owned()
                    };
                    usual.split_inclusive(|c| !is_digit(c)).map(part).collect()
                }
                usual => usual.to_owned(),
            };
        }
        Value::Number(given) if !given.is_i64() => {
            if let Some(usual) = number(&given.to_string()).and_then(|usual| usual.parse::<i64>().ok()) {
                *value = usual.into();
            }
        }
        _ => {}
    }
}
