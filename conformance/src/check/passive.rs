use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::probe::MAX_TEXT;
use super::{Check, Form, InferredClauses, ResponseClass, Run, Severity};
use crate::contract::{Clause, Contract, OperationId, Violation};
use crate::lock;
use crate::target::{Canaries, Facts};
use crate::wire::{Exchange, RecordedExchange, Redactor, Request, Response};

/// One exchange of any check, for passive checks to judge.
#[derive(Debug)]
pub struct ObservedExchange<'a> {
    /// The contract.
    pub contract: &'a Contract,
    /// What the tester knows.
    pub facts: &'a Facts,
    /// Texts that must never appear in a response.
    pub canaries: &'a Canaries,
    /// The operation that was called.
    pub operation: OperationId,
    /// The requested form.
    pub form: Form,
    /// What the response means.
    pub class: &'a ResponseClass,
    /// The request.
    pub request: &'a Request,
    /// The response.
    pub response: &'a Response,
}

impl<'a> ObservedExchange<'a> {
    /// The response, if it is a success that shows something. The result of an invalid request shows nothing but that it was accepted.
    pub(crate) fn success(&self) -> Option<&'a Response> {
        (*self.class == ResponseClass::Accepted && !self.request.is_invalid()).then_some(self.response)
    }

    /// Operation, form and class: only another response of the same kind can show that a finding is fixed.
    fn kind(&self) -> String {
        let form = if self.form == Form::Text { "text" } else { "JSON" };
        format!("{}, {form}, {}", self.operation, self.class.name())
    }
}

/// What a passive check finds in an exchange. Findings with the same clause and key are reported once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassiveFinding {
    /// The clause.
    pub clause: Clause,
    /// Findings with the same key are one; see [`Violation::key`](crate::contract::Violation::key) for findings about null.
    pub key: String,
    /// Whether it fails the check.
    pub severity: Severity,
    /// What a conforming service does.
    pub expected: String,
    /// What the target did.
    pub actual: String,
}

/// Passes every exchange of a run to the passive checks, and collects their findings.
#[derive(Debug)]
pub(crate) struct PassiveChecks {
    checks: Vec<Mutex<PassiveCheck>>,
    inferred: InferredClauses,
    /// Maximum number of [places](Occurrence::seen_in) that are kept of a finding: traffic of others may show it a hundred thousand times.
    pub(crate) places: usize,
}

/// A passive check, and what it has judged.
#[derive(Debug)]
pub(crate) struct PassiveCheck {
    pub(crate) check: &'static Check,
    pub(crate) seen: u64,
    /// The [kinds](ObservedExchange::kind) of responses that it has judged.
    pub(crate) kinds: BTreeSet<String>,
    pub(crate) findings: BTreeMap<FindingKey, Occurrence>,
    /// Whether there were more findings than are kept.
    pub(crate) has_more: bool,
}

/// Clause and [key](PassiveFinding::key).
pub(crate) type FindingKey = (Clause, String);

/// A finding, with the first exchange that shows it and those before it on which its response depends.
#[derive(Debug)]
pub(crate) struct Occurrence {
    pub(crate) finding: PassiveFinding,
    /// The responses that show it.
    pub(crate) times: u64,
    pub(crate) exchanges: Vec<RecordedExchange>,
    /// The [kind](ObservedExchange::kind) of the response that shows it.
    pub(crate) kind: String,
    request: Request,
    /// The checks and cases whose exchanges show it.
    pub(crate) seen_in: BTreeSet<(&'static str, String)>,
    /// Whether it did not occur again when the request was repeated.
    pub(crate) is_flaky: bool,
}

impl PassiveChecks {
    /// Ignores active checks.
    pub(crate) fn new(checks: &[&'static Check], inferred: InferredClauses) -> Self {
        let checks = checks.iter().filter(|check| check.is_passive());
        let passive = |check: &&'static Check| PassiveCheck {
            check,
            seen: 0,
            kinds: BTreeSet::new(),
            findings: BTreeMap::new(),
            has_more: false,
        };
        let checks = checks.map(passive).map(Mutex::new).collect();
        Self { checks, inferred, places: usize::MAX }
    }

    /// Passes one exchange of a check's case to the passive checks. What is kept of it, and of those `before` it, is redacted.
    pub(crate) fn show(
        &self,
        observed: &ObservedExchange<'_>,
        exchange: &Exchange,
        before: impl Fn() -> Vec<Exchange>,
        (check, label): (&'static str, &str),
        redactor: &Redactor,
    ) {
        /// Maximum number of findings of a check. A response may have any number of members with names of their own.
        const MAX_FINDINGS: usize = 100;
        let kind = observed.kind();
        for passive in &self.checks {
            let mut passive = lock(passive);
            if passive.check.operation.is_some_and(|operation| operation != observed.operation) {
                continue;
            }
            let Run::Passive(judge) = passive.check.run else { continue };
            let Some(findings) = judge(observed) else { continue };
            passive.seen += 1;
            if !passive.kinds.contains(&kind) {
                passive.kinds.insert(kind.clone());
            }
            let mut counted = BTreeSet::new();
            for finding in findings {
                let inferred_from = finding.inferred_from(observed.contract);
                let severity = self.inferred.severity(finding.severity, inferred_from);
                let finding = PassiveFinding { severity, ..finding };
                let key = (finding.clause, finding.key.clone());
                if passive.findings.len() >= MAX_FINDINGS && !passive.findings.contains_key(&key) {
                    passive.has_more = true;
                    continue;
                }
                let noted = passive.findings.entry(key.clone()).or_insert_with(|| Occurrence {
                    finding: finding.redacted(redactor),
                    times: 0,
                    exchanges: before()
                        .iter()
                        .chain([exchange])
                        .map(|exchange| RecordedExchange::new(exchange, redactor))
                        .collect(),
                    kind: kind.clone(),
                    request: observed.request.clone(),
                    seen_in: BTreeSet::new(),
                    is_flaky: false,
                });
                // Each item of a response may show it.
                noted.times += u64::from(counted.insert(key));
                if noted.seen_in.len() < self.places {
                    noted.seen_in.insert((check, label.to_owned()));
                }
            }
        }
    }

    /// The failures that occurred once, each with its check and request.
    pub(crate) fn seen_once(&self) -> Vec<(&'static Check, FindingKey, Request)> {
        let of_passive = |passive: &Mutex<PassiveCheck>| {
            let passive = lock(passive);
            let once = passive.findings.iter().filter(|(_, noted)| noted.is_single_failure());
            once.map(|(key, noted)| (passive.check, key.clone(), noted.request.clone())).collect::<Vec<_>>()
        };
        self.checks.iter().flat_map(of_passive).collect()
    }

    /// Number of responses that a passive check has judged, and whether a failure occurred only once so far.
    pub(crate) fn status(&self, check: &Check, key: &FindingKey) -> Option<(u64, bool)> {
        let passive = self.checks.iter().map(lock).find(|passive| passive.check.id == check.id)?;
        Some((passive.seen, passive.findings.get(key).is_some_and(Occurrence::is_single_failure)))
    }

    /// Marks whether a failure is flaky, because it did not occur again.
    pub(crate) fn set_flaky(&self, check: &Check, key: &FindingKey, is_flaky: bool) {
        for mut passive in self.checks.iter().map(lock).filter(|passive| passive.check.id == check.id) {
            if let Some(noted) = passive.findings.get_mut(key) {
                noted.is_flaky = is_flaky;
            }
        }
    }

    pub(crate) fn into_checks(self) -> impl Iterator<Item = PassiveCheck> {
        self.checks.into_iter().map(|passive| passive.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Occurrence {
    fn is_single_failure(&self) -> bool {
        self.times == 1 && self.finding.severity == Severity::Fail
    }
}

impl PassiveFinding {
    pub(crate) fn fail(
        clause: Clause,
        key: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Self {
        let (key, expected, actual) = (key.into(), expected.into(), actual.into());
        Self { clause, key, severity: Severity::Fail, expected, actual }
    }

    /// The sentences that presuppose its clause, when the contract does not state it.
    pub(crate) fn inferred_from<'a>(&self, contract: &'a Contract) -> Option<&'a str> {
        contract.catalogue.clause(self.clause).inferred_from(self.key.ends_with(Violation::NULL))
    }

    fn redacted(self, redactor: &Redactor) -> Self {
        let shown = |text: &str| redactor.excerpt(text, MAX_TEXT);
        Self { expected: shown(&self.expected), actual: shown(&self.actual), ..self }
    }
}
