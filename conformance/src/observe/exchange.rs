//! Judges one exchange from the field: by the passive checks, and by what the document allows in a request.

use std::collections::BTreeSet;

use sallyport_contract::request::Request as Parts;
use sallyport_contract::table::Location;
use serde_json::Value;

use super::judge::observe;
use super::traffic::Traffic;
use crate::check::{Decision, Form, InferredClauses, ResponseClass, Severity};
use crate::contract::{Clause, Contract};
use crate::wire::{RecordedExchange, Request};

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
    pub violations: Vec<Violation>,
    /// Whether the document allows the request and the service rejected it. Another reason than the request may be the cause.
    pub is_valid_and_rejected: bool,
}

/// A clause that an exchange violates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The clause.
    pub clause: Clause,
    /// What a conforming service does.
    pub expected: String,
    /// What the service did.
    pub actual: String,
}

impl Judgement {
    /// Judges the last exchange of some traffic. None if there is none that can be judged.
    #[must_use]
    pub fn new(contract: &Contract, traffic: &Traffic) -> Option<Self> {
        let report = observe(contract, traffic, InferredClauses::default());
        let judged = report.clauses.iter().filter(|clause| clause.checked > 0 || clause.failures > 0);
        let mut shown: BTreeSet<Clause> = judged.map(|clause| clause.id).collect();
        let findings = report.checks.iter().flat_map(|check| &check.findings);
        let failures = findings.filter(|finding| finding.severity == Severity::Fail);
        let mut violations: Vec<Violation> = failures
            .map(|finding| Violation {
                clause: finding.clause,
                expected: finding.expected.clone(),
                actual: finding.actual.clone(),
            })
            .collect();
        let recorded = traffic.exchange(contract, traffic.exchanges.last()?)?;
        let (request, redactor) = (&recorded.exchange.request, &traffic.redactor);
        let form = Form::from_request(contract, recorded.operation, request);
        let class =
            ResponseClass::classify(contract, recorded.operation, form, &recorded.exchange.result, redactor);
        let broken = broken(recorded.operation.document_id(), request);
        if let Some((clauses, what)) = &broken
            && class.decision() != Decision::Undecided
        {
            shown.extend(clauses);
            if class.decision() == Decision::Accepted {
                let expected = redactor.redact(&format!("rejected: {what}"));
                let violation = |clause: &Clause| Violation {
                    clause: *clause,
                    expected: expected.clone(),
                    actual: "a success".to_owned(),
                };
                violations.extend(clauses.iter().map(violation));
            }
        }
        Some(Self {
            exchange: RecordedExchange::new(&recorded.exchange, redactor),
            response: class.description().to_owned(),
            is_valid_and_rejected: broken.is_none() && class.decision() == Decision::Rejected,
            shown,
            violations,
        })
    }
}

/// The clauses of the first constraint of the document that a request breaks, and what is wrong with it. What the contract leaves
/// open, such as another spelling of a value, breaks none.
fn broken(operation: &str, request: &Request) -> Option<(Vec<Clause>, String)> {
    let operation = sallyport_contract::operation(operation)?;
    let mut parts = Parts::new(operation);
    let is_empty = |value: &Value| value.is_null() || value == "";
    let mut set = |location, name: &str, text: &str| {
        let Some((part, place)) = parts.sent(location, name) else { return Some(()) };
        let value = part.schema.value_of(number(text.trim()).unwrap_or_else(|| text.to_owned()));
        let is_repeated = place.is_some();
        *place = Some(value).filter(|value| part.required.is_some() || !is_empty(value));
        // Which of several values counts is open.
        (!is_repeated).then_some(())
    };
    for (name, value) in request.query_pairs() {
        match name {
            Some(name) => set(Location::Query, name, value)?,
            // A credential, which is hidden.
            None if value.contains("=$") => {}
            // What raw text means is open.
            None => return None,
        }
    }
    for (name, value) in request.headers() {
        set(Location::Header, name, &String::from_utf8_lossy(value))?;
    }
    if let Some((body, place)) =
        operation.body.as_ref().and_then(|body| parts.sent(Location::Body, &body.name))
    {
        let mut members = request.body_members()?.into_owned();
        let is_known = |name: &str| body.schema.members().iter().any(|known| known.name == name);
        members.retain(|name, value| is_known(name) && !is_empty(value));
        members.values_mut().for_each(in_usual_spelling);
        *place = Some(members.into());
    }
    let violation = parts.check().err()?;
    let clauses: Vec<Clause> = violation.clauses.split(", ").filter_map(Clause::from_id).collect();
    (!clauses.is_empty()).then(|| (clauses, format!("{}: {}", violation.place(), violation.message())))
}

/// A whole number in its usual spelling, such as `2` for `2.0`.
fn number(text: &str) -> Option<String> {
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && number.abs() < 1e15).then(|| format!("{number:.0}"))
}

/// A value in a spelling that the contract does not leave open: without spaces, leading zeros of an address, or brackets that nothing
/// needs.
fn in_usual_spelling(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(in_usual_spelling),
        Value::String(text) => {
            let mut usual = text.trim();
            if let Some(inner) = usual.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
                usual = inner;
            }
            let parts = usual.split('.').map(|part| {
                if part.starts_with('0') {
                    number(part).unwrap_or_else(|| part.to_owned())
                } else {
                    part.to_owned()
                }
            });
            *value = parts.collect::<Vec<_>>().join(".").into();
        }
        Value::Number(given) if !given.is_i64() => {
            if let Some(usual) = number(&given.to_string()).and_then(|usual| usual.parse::<i64>().ok()) {
                *value = usual.into();
            }
        }
        _ => {}
    }
}
