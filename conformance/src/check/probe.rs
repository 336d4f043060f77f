use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::Url;

use super::sending::{RecurringErrors, is_server_error, undecided};
use super::{
    Case, CaseResult, Check, CheckResult, Evidence, ExchangeLog, Finding, Form, InferredClauses, Observation,
    ObservedExchange, Outcome, PassiveChecks, ResponseClass, Severity, SharedControl, Stop,
};
use crate::contract::{Clause, Contract, OperationId, Unspecified};
use crate::lock;
use crate::response::{self, RegionSupply, gateways};
use crate::target::{Canaries, Fact, Facts, Secret, Target};
use crate::wire::{Exchange, RecordedExchange, Redactor, Request, Response, ThrottlingPolicy, Wire};

/// What the checks of a run share, apart from the target.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) passive: PassiveChecks,
    /// See [`Probe::state`].
    pub(crate) state: Box<dyn Any + Send + Sync>,
    /// Whether the supplied region has gateways.
    pub(crate) region: RegionSupply,
    pub(crate) errors: RecurringErrors,
    /// Keeps the exchanges, if requested.
    pub(crate) log: Option<ExchangeLog>,
}

/// Everything that the checks of a run share.
#[derive(Debug)]
pub(crate) struct ProbeContext<'a> {
    pub(crate) contract: &'a Contract,
    pub(crate) target: &'a Target,
    pub(crate) wire: &'a Wire,
    pub(crate) redactor: &'a Redactor,
    pub(crate) canaries: &'a Canaries,
    pub(crate) inferred: InferredClauses,
    pub(crate) shared: &'a SharedState,
}

/// What one check runs with: it sends requests and collects findings.
#[derive(Debug)]
pub struct Probe<'a> {
    check: &'static Check,
    pub(super) context: &'a ProbeContext<'a>,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
pub(super) struct Notes {
    recording: Vec<Exchange>,
    findings: Vec<Finding>,
    observations: Vec<Observation>,
    pub(super) accepted: Vec<Exchange>,
    misuse: Option<String>,
    stale: bool,
    case: CaseStart,
}

/// The running case, and the number of findings and requests when it began.
#[derive(Debug, Default)]
struct CaseStart {
    label: String,
    clause: Option<Clause>,
    /// The labels of the control requests that it shares in the run.
    shared: Vec<String>,
    /// The shared control request that it is sending.
    control: Option<String>,
    /// The latest control request that was accepted for it.
    accepted: Option<Exchange>,
    facts: Vec<&'static str>,
    /// Whether a request for the supplied region got no gateway.
    is_without_gateways: bool,
    /// Whether a request got a server error that did not recur.
    has_momentary_error: bool,
    findings: usize,
    requests: usize,
}

/// Maximum length of a text of a finding, in characters.
pub(super) const MAX_TEXT: usize = 1_000;

impl<'a> Probe<'a> {
    pub(crate) fn new(check: &'static Check, context: &'a ProbeContext<'a>) -> Self {
        Self { check, context, notes: Mutex::default() }
    }

    /// The state that the checks of the run share.
    pub(crate) fn state<T: 'static>(&self) -> Result<&'a T, Stop> {
        let state = self.context.shared.state.downcast_ref();
        state.ok_or_else(|| Stop::Error("the run has no such state; this is a bug of the suite".to_owned()))
    }

    /// Records that data on which the check depends has changed, so that the check runs again.
    pub(crate) fn mark_stale(&self) {
        self.notes().stale = true;
    }

    /// The contract.
    pub fn contract(&self) -> &'a Contract {
        self.context.contract
    }

    /// What the tester knows.
    pub fn facts(&self) -> &'a Facts {
        &self.context.target.facts
    }

    /// Whether a fact was not supplied but discovered in this run.
    pub(crate) fn has_discovered(&self, fact: Fact) -> bool {
        self.context.target.discovered.contains(&fact)
    }

    /// The account's token.
    pub fn token(&self) -> &'a Secret {
        &self.context.target.token
    }

    /// The target.
    pub fn base(&self) -> &'a Url {
        self.context.target.base()
    }

    /// Reports that a clause is violated.
    pub fn finding(&self, clause: Clause, expected: &str, actual: &str, exchanges: &[&Exchange]) {
        self.finding_beside(clause, expected, actual, exchanges, &[]);
    }

    /// Reports that a clause is violated by `exchanges`, where what is expected was taken from `references`.
    pub(crate) fn finding_beside(
        &self,
        clause: Clause,
        expected: &str,
        actual: &str,
        exchanges: &[&Exchange],
        references: &[&Exchange],
    ) {
        self.report(Severity::Fail, clause, expected, actual, (exchanges, references));
    }

    /// Whether the check declares a clause.
    pub(crate) fn cites(&self, clause: Clause) -> bool {
        self.check.clauses.contains(&clause)
    }

    /// Reports something doubtful that no clause forbids.
    pub fn warning(&self, clause: Clause, expected: &str, actual: &str, exchanges: &[&Exchange]) {
        self.report(Severity::Warn, clause, expected, actual, (exchanges, &[]));
    }

    /// Records how the target decides unspecified behaviour.
    pub fn observe(&self, unspecified: Unspecified, text: &str) {
        let text = self.context.redactor.excerpt(text, MAX_TEXT);
        self.notes().observations.push(Observation { unspecified, text });
    }

    /// Ends the case as inconclusive, because what it needs changed meanwhile or cannot be determined.
    pub fn inconclusive(&self, reason: &str) -> Stop {
        Stop::Inconclusive(reason.to_owned())
    }

    /// Ends the case as skipped, because the available data does not allow it.
    pub fn skip(&self, reason: &str) -> Stop {
        Stop::Skip(reason.to_owned())
    }

    /// The value of a fact. A check that declares the fact in its `needs` always has it; others are skipped without it.
    pub(crate) fn required<T>(
        &self,
        fact: Fact,
        value: impl FnOnce(&'a Facts) -> Option<T>,
    ) -> Result<T, Stop> {
        value(self.facts()).ok_or_else(|| self.skip(&format!("supply {fact} to run this")))
    }

    /// The secret of a fact, or that one of its list.
    pub(crate) fn secret(&self, fact: Fact, index: usize) -> Result<&'a Secret, Stop> {
        self.required(fact, |facts| facts.secrets_of(fact).nth(index))
    }

    /// Ends the case as skipped, because the supplied data does not contain what it needs: `lacks` says what that is, and
    /// `add` what to add to the fact, such as "addresses of such instances".
    pub(crate) fn skip_lacking(&self, lacks: &str, add: &str, fact: Fact) -> Stop {
        self.skip(&format!("{lacks}; add {add} to {}", fact.variable()))
    }

    /// Begins a case, to which the following findings belong.
    pub(crate) fn begin(&self, case: &Case) {
        let mut notes = self.notes();
        let (findings, requests) = (notes.findings.len(), notes.recording.len());
        let facts: BTreeSet<Fact> = self.check.needs.iter().chain(&case.needs).copied().collect();
        let facts = facts.into_iter().map(Fact::variable).collect();
        notes.case = CaseStart {
            label: case.label().to_owned(),
            clause: case.clause,
            shared: case.controls_in_run().map(|control| control.label.to_string()).collect(),
            facts,
            findings,
            requests,
            ..CaseStart::default()
        };
    }

    /// Awaits work that sends a control request. If the case shares it in the run, what passive checks find in its exchanges is
    /// attributed to the control and not to the case, since any other case could have sent it. One that the case does not share
    /// is only sent when a request is not accepted, and belongs to the case.
    pub(crate) async fn as_control<T>(&self, control: &str, work: impl Future<Output = T>) -> T {
        {
            let case = &mut self.notes().case;
            case.control = case.shared.iter().find(|shared| *shared == control).cloned();
        }
        let result = work.await;
        self.notes().case.control = None;
        result
    }

    /// Ends the case. The reason may quote a response, so it is redacted.
    pub(crate) fn end(&self, result: Result<(), Stop>) -> CaseResult {
        let shown = |reason: &str| self.context.redactor.excerpt(reason, MAX_TEXT);
        let mut notes = self.notes();
        let misuse = notes.misuse.take();
        let case = std::mem::take(&mut notes.case);
        let findings = &notes.findings[case.findings..];
        let broken = findings.iter().any(|finding| finding.severity == Severity::Fail);
        let outcome = match (misuse, result) {
            (Some(misuse), _) => Outcome::Error(misuse),
            (None, _) if broken => Outcome::Failed,
            (None, Err(Stop::Skip(reason))) => Outcome::Skipped(shown(&reason)),
            (None, Err(Stop::Inconclusive(reason))) => {
                let doubt =
                    self.context.shared.region.doubt(self.facts()).filter(|_| case.is_without_gateways);
                Outcome::Inconclusive(shown(&match doubt {
                    Some(doubt) => format!("{doubt}; {reason}"),
                    None => reason,
                }))
            }
            (None, Err(Stop::Budget(exhausted))) => Outcome::Inconclusive(exhausted.to_string()),
            (None, Err(Stop::Error(reason))) => Outcome::Error(shown(&reason)),
            (None, Ok(())) if !findings.is_empty() => Outcome::Warning,
            (None, Ok(())) => Outcome::Passed,
        };
        let requests = notes.recording.len() - case.requests;
        CaseResult { label: case.label, outcome, requests, clause: case.clause }
    }

    /// The result of the check with these cases, and whether the data that it depends on has changed.
    pub(crate) fn conclude(self, cases: Vec<CaseResult>) -> (CheckResult, bool) {
        const MAX_EVIDENCE: usize = 24;
        let Notes { recording, findings, observations, stale, .. } =
            self.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Only what reports show is redacted, because bodies are long and most of them are never shown.
        let redactor = self.context.redactor;
        let evidence = recording.iter().take(MAX_EVIDENCE).map(|exchange| Evidence::new(exchange, redactor));
        let is_cited =
            |exchange: &&Exchange| findings.iter().any(|finding| finding.exchanges.contains(&exchange.index));
        let cited = recording.iter().filter(is_cited);
        let exchanges = cited.map(|exchange| RecordedExchange::new(exchange, redactor)).collect();
        let (evidence, requests) = (evidence.collect(), recording.len());
        let result = CheckResult::not_run(self.check, Outcome::of_cases(&cases));
        (CheckResult { cases, findings, observations, exchanges, evidence, requests, ..result }, stale)
    }

    /// Sends a request, and again after a server error, which may be momentary: the case gets a warning if it does not recur.
    pub(super) async fn send_with(
        &self,
        request: &Request,
        policy: ThrottlingPolicy,
    ) -> Result<(Exchange, ResponseClass), Stop> {
        const PAUSES: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(100)];
        let errors = &self.context.shared.errors;
        let sent = self.send_to_the_end(request, policy).await?;
        if !errors.may_pass(&sent.0) {
            return Ok(sent);
        }
        for pause in PAUSES {
            tokio::time::sleep(pause).await;
            let again = self.send_to_the_end(request, policy).await?;
            if !is_server_error(&again.0) {
                self.warn_of_momentary_error(&sent);
                return Ok(again);
            }
        }
        errors.add(&sent.0);
        Ok(sent)
    }

    /// One warning for each case is enough.
    fn warn_of_momentary_error(&self, (exchange, class): &(Exchange, ResponseClass)) {
        let is_known = std::mem::replace(&mut self.notes().case.has_momentary_error, true);
        if let Some(clause) = self.check.clauses.first().filter(|_| !is_known) {
            let actual = format!("{}; it did not recur", class.description());
            self.warning(*clause, "a response without a server error", &actual, &[exchange]);
        }
    }

    /// Sends a request and shows every exchange to the passive checks.
    async fn send_to_the_end(
        &self,
        request: &Request,
        policy: ThrottlingPolicy,
    ) -> Result<(Exchange, ResponseClass), Stop> {
        let contract = self.contract();
        let operation = response::operation_of(contract, request).or(self.check.operation);
        let operation = operation.unwrap_or(OperationId::Groups);
        let form = Form::from_request(contract, operation, request);
        let Probe { context, .. } = self;
        let mut class = None;
        let record = |exchange: &mut Exchange| {
            self.record(exchange);
            if let Ok(response) = &exchange.result {
                // Before the response is judged, so that findings do not show them.
                response.reveal_passwords(context.redactor);
            }
            let case = self.notes().case.label.clone();
            if let Some(log) = &context.shared.log {
                log.keep((self.check.id, &case), exchange, context.redactor);
            }
            let judged =
                ResponseClass::classify(contract, operation, form, &exchange.result, context.redactor);
            if let Ok(response) = &exchange.result {
                let observed = ObservedExchange {
                    contract,
                    facts: self.facts(),
                    canaries: context.canaries,
                    operation,
                    form,
                    class: &judged,
                    request,
                    response,
                };
                let control = self.notes().case.control.clone();
                let source = match &control {
                    Some(control) => (SharedControl::SOURCE, control.as_str()),
                    None => (self.check.id, case.as_str()),
                };
                let exchange: &Exchange = exchange;
                let before = || {
                    let notes = self.notes();
                    let shown = self.reproduction(&notes, &[exchange]);
                    let earlier = notes.recording.iter().filter(|earlier| earlier.index < exchange.index);
                    earlier.filter(|earlier| shown.contains(&earlier.index)).cloned().collect()
                };
                context.shared.passive.show(&observed, exchange, before, source, context.redactor);
            }
            let count = gateways::count(contract, request, &exchange.result);
            let known = (contract, self.facts());
            if context.shared.region.note(known, (request, exchange), &judged, &count) {
                self.notes().case.is_without_gateways = true;
            }
            class = Some(judged);
            count
        };
        let cost = gateways::cost(contract, request);
        let case = self.case();
        let exchange = context.wire.send(&case, request, cost, policy, record).await?;
        match class {
            Some(ResponseClass::Unreachable(what)) => Err(Stop::Error(what)),
            // The content is unknown, so no check may treat this as a rejection or as a missing response.
            Some(class @ ResponseClass::TooLarge(_)) => Err(undecided(&class)),
            Some(class) => Ok((exchange, class)),
            None => Err(Stop::Error("an exchange was not recorded; this is a bug of the suite".to_owned())),
        }
    }

    /// The running case with its check, as `User-Agent` names it.
    fn case(&self) -> String {
        let (check, label) = (self.check.id, &self.notes().case.label);
        if label.is_empty() { check.to_owned() } else { format!("{check}/{label}") }
    }

    /// Numbers an exchange and keeps it until the check ends.
    fn record(&self, exchange: &mut Exchange) {
        let mut notes = self.notes();
        exchange.index = notes.recording.len();
        notes.recording.push(exchange.brief());
    }

    fn report(
        &self,
        severity: Severity,
        clause: Clause,
        expected: &str,
        actual: &str,
        (exchanges, references): (&[&Exchange], &[&Exchange]),
    ) {
        let mut notes = self.notes();
        if !self.cites(clause) {
            notes.misuse = Some(format!("the check cites {clause}, which it does not declare"));
            return;
        }
        let entry = self.contract().catalogue.clause(clause);
        let inferred_from = entry.inferred_from(false);
        let severity = self.context.inferred.severity(severity, inferred_from);
        let mut facts: Vec<String> = notes.case.facts.iter().copied().map(str::to_owned).collect();
        let region = Fact::PlentifulRegion.variable();
        if !facts.iter().any(|fact| fact == region)
            && self.context.shared.region.is_in_doubt(self.contract(), self.facts(), exchanges)
        {
            facts.push(region.to_owned());
        }
        let case = Some(notes.case.label.clone()).filter(|label| !label.is_empty());
        let indexes = |exchanges: &[&Exchange]| exchanges.iter().map(|exchange| exchange.index).collect();
        let shown = [exchanges, references].concat();
        let (judged, references) = (indexes(exchanges), indexes(references));
        let control = notes.case.accepted.as_ref();
        let control = control.filter(|control| shown.iter().all(|shown| shown.request != control.request));
        let control = control.map(|control| RecordedExchange::new(control, self.context.redactor).into());
        let exchanges = self.reproduction(&notes, &shown);
        let shown = |text: &str| self.context.redactor.excerpt(text, MAX_TEXT);
        let texts = (shown(expected), shown(actual));
        let finding = Finding::new(entry, inferred_from, severity, texts);
        notes.findings.push(Finding { case, facts, exchanges, judged, references, control, ..finding });
    }

    /// The exchanges that show a finding, in their order: those that its check names and, since an extraction depends on earlier ones
    /// with its request id, every extraction of the case from the first with such an id to the last of them.
    fn reproduction(&self, notes: &Notes, named: &[&Exchange]) -> Vec<usize> {
        let mut shown: BTreeSet<usize> = named.iter().map(|exchange| exchange.index).collect();
        let case = notes.recording.get(notes.case.requests..).unwrap_or_default();
        let contract = self.contract();
        let extractions = case.iter().filter(|exchange| {
            let is_served = !matches!(&exchange.result, Ok(Response { status: 429 | 503, .. }));
            is_served && response::operation_of(contract, &exchange.request) == Some(OperationId::Extract)
        });
        let ids = |exchange: &Exchange| response::request_ids(contract, &exchange.request);
        let known: BTreeSet<String> = named.iter().flat_map(|exchange| ids(exchange)).collect();
        let has_known_id = |exchange: &&Exchange| ids(exchange).iter().any(|id| known.contains(id));
        let first = extractions.clone().find(has_known_id).map(|exchange| exchange.index);
        if let (Some(first), Some(last)) = (first, shown.last().copied()) {
            let indexes = extractions.map(|exchange| exchange.index);
            shown.extend(indexes.filter(|index| (first..=last).contains(index)));
        }
        shown.into_iter().collect()
    }

    /// Notes that a control request was accepted, whichever check sent it: findings of the case show it.
    pub(crate) fn show_control(&self, accepted: Exchange) {
        let mut notes = self.notes();
        if notes.accepted.iter().all(|known| known.request != accepted.request) {
            notes.accepted.push(accepted.clone());
        }
        notes.case.accepted = Some(accepted);
    }

    pub(super) fn notes(&self) -> MutexGuard<'_, Notes> {
        lock(&self.notes)
    }
}
