use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use reqwest::Url;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::asking::undecided;
use super::gateways;
use super::{
    CaseResult, Check, Evidence, Finding, Form, Judgement, Observation, Observed, Outcome, PassiveChecks,
    Severity, Stop,
};
use crate::contract::{Clause, Contract, OperationId, Unspecified};
use crate::relation::{Survey, Surveys};
use crate::target::{Canaries, Facts, Secret, Target};
use crate::wire::{Exchange, Patience, Recorded, Redactor, Request, Wire};

/// Everything that the checks of a run share.
#[derive(Debug)]
pub(crate) struct ProbeContext<'a> {
    pub(crate) contract: &'a Contract,
    pub(crate) target: &'a Target,
    pub(crate) wire: &'a Wire,
    pub(crate) redactor: &'a Redactor,
    pub(crate) canaries: &'a Canaries,
    pub(crate) passive: &'a PassiveChecks,
    pub(crate) surveys: &'a Surveys,
    pub(crate) known_forms: &'a KnownForms,
}

/// Forms of an extraction, by number, that some check of the run has seen accepted.
#[derive(Debug, Default)]
pub(crate) struct KnownForms(AtomicU64);

impl KnownForms {
    pub(crate) fn has(&self, number: usize) -> bool {
        self.0.load(Ordering::Relaxed) & Self::bit(number) != 0
    }

    pub(crate) fn add(&self, number: usize) {
        self.0.fetch_or(Self::bit(number), Ordering::Relaxed);
    }

    /// None for a number beyond those that fit, which is then never known.
    fn bit(number: usize) -> u64 {
        u32::try_from(number).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or(0)
    }
}

/// The context that one check runs in: it sends requests, judges what is the same for all checks, and collects findings.
#[derive(Debug)]
pub struct Probe<'a> {
    check: &'static Check,
    context: &'a ProbeContext<'a>,
    /// The survey that it stands on.
    generation: usize,
    stale: AtomicBool,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
pub(super) struct Notes {
    recording: Vec<Exchange>,
    findings: Vec<Finding>,
    observations: Vec<Observation>,
    pub(super) accepted: Vec<Request>,
    misuse: Option<String>,
    /// The case under way.
    case: Begun,
}

/// The case under way, and how far the notes were when it began.
#[derive(Debug, Default)]
struct Begun {
    label: String,
    findings: usize,
    requests: usize,
}

/// Most characters of a text that a check says.
const LONGEST: usize = 1_000;

/// What a check leaves behind.
#[derive(Debug)]
pub(crate) struct Concluded {
    pub(crate) findings: Vec<Finding>,
    pub(crate) observations: Vec<Observation>,
    pub(crate) exchanges: Vec<Recorded>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) requests: usize,
    /// The survey that it stood on no longer holds.
    pub(crate) stale: bool,
}

impl<'a> Probe<'a> {
    /// An address of a documentation range (RFC 5737): in form, and of no instance.
    pub const NOBODYS_ADDRESS: &'static str = "203.0.113.250";

    pub(crate) fn new(check: &'static Check, context: &'a ProbeContext<'a>) -> Self {
        let generation = context.surveys.current();
        let stale = AtomicBool::new(false);
        Self { check, context, generation, stale, notes: Mutex::new(Notes::default()) }
    }

    /// What the run has found out about the account's instances; see [`crate::relation`].
    pub(crate) fn survey(&self) -> &'a OnceCell<Survey> {
        self.context.surveys.of(self.generation)
    }

    /// What other checks have seen of the forms of an extraction.
    pub(crate) fn known_forms(&self) -> &'a KnownForms {
        self.context.known_forms
    }

    /// Says that the data behind the survey has changed: checks that begin from now on read a new one.
    pub(crate) fn drop_survey(&self) {
        self.stale.store(true, Ordering::Relaxed);
        self.context.surveys.drop_generation(self.generation);
    }

    /// The contract.
    #[must_use]
    pub fn contract(&self) -> &'a Contract {
        self.context.contract
    }

    /// What the tester knows.
    #[must_use]
    pub fn facts(&self) -> &'a Facts {
        &self.context.target.facts
    }

    /// The account's token.
    #[must_use]
    pub fn token(&self) -> &'a Secret {
        &self.context.target.token
    }

    /// Where the target is.
    #[must_use]
    pub fn base(&self) -> &'a Url {
        self.context.target.base()
    }

    /// A request id that no run has sent before: short and plain, as its form is open.
    #[must_use]
    pub fn fresh_request_id(&self) -> String {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        format!("{:x}-{number}", jiff::Timestamp::now().as_nanosecond())
    }

    /// An extraction that should be accepted: the fewest gateways, from the plentiful region when one is known.
    #[must_use]
    pub fn extract(&self) -> Request {
        let extract = &self.contract().extract;
        self.extract_without_token().query(&extract.api_key.name, self.token().expose())
    }

    /// The same without a token.
    #[must_use]
    pub fn extract_without_token(&self) -> Request {
        let extract = &self.contract().extract;
        let request = Request::to(&extract.operation).query(&extract.num.name, extract.num_range.start());
        match &self.facts().plentiful_region {
            Some(region) => request.query(&extract.regions.name, region),
            None => request,
        }
    }

    /// A listing of groups that should be accepted.
    #[must_use]
    pub fn groups(&self) -> Request {
        let groups = &self.contract().groups;
        Request::to(&groups.operation).query(&groups.api_key.name, self.token().expose())
    }

    /// A search for these addresses that should be accepted.
    #[must_use]
    pub fn search<I: Into<Value>>(&self, ips: impl IntoIterator<Item = I>) -> Request {
        let search = &self.contract().search;
        let ips: Vec<Value> = ips.into_iter().map(Into::into).collect();
        Request::to(&search.operation)
            .query(&search.api_key.name, self.token().expose())
            .field(&search.ips.name, ips)
    }

    /// A search for one address that may or may not be the account's, for checks that look at other things.
    #[must_use]
    pub fn any_search(&self) -> Request {
        let own = self.facts().own_addresses.first().map(String::as_str);
        self.search([own.unwrap_or(Self::NOBODYS_ADDRESS)])
    }

    /// At most `most` of the account's own addresses, spread evenly over those that the tester supplied.
    #[must_use]
    pub fn own_addresses(&self, most: usize) -> Vec<&'a str> {
        let own = &self.facts().own_addresses;
        let count = own.len().min(most);
        (0..count).map(|index| own[index * own.len() / count].as_str()).collect()
    }

    /// Reports that a clause is broken.
    pub fn finding(&self, clause: Clause, expected: &str, actual: &str, exchanges: &[&Exchange]) {
        self.report(Severity::Fail, clause, expected, actual, exchanges);
    }

    /// Reports something doubtful that no clause forbids.
    pub fn warning(&self, clause: Clause, expected: &str, actual: &str, exchanges: &[&Exchange]) {
        self.report(Severity::Warn, clause, expected, actual, exchanges);
    }

    /// Notes how the target decided something that the contract leaves open.
    pub fn observe(&self, unspecified: Unspecified, text: &str) {
        let text = self.context.redactor.excerpt(text, LONGEST);
        self.notes().observations.push(Observation { unspecified, text });
    }

    /// Ends the case: what it needs did not hold still or can't be told.
    #[must_use]
    pub fn inconclusive(&self, reason: &str) -> Stop {
        Stop::Inconclusive(reason.to_owned())
    }

    /// Ends the case: the data at hand does not allow it.
    #[must_use]
    pub fn skip(&self, reason: &str) -> Stop {
        Stop::Skip(reason.to_owned())
    }

    /// Begins a case: what is found from now on is of it.
    pub(crate) fn begin(&self, label: &str) {
        let mut notes = self.notes();
        let (findings, requests) = (notes.findings.len(), notes.recording.len());
        notes.case = Begun { label: label.to_owned(), findings, requests };
    }

    /// Ends the case that was begun. The reason why it ended may hold what came, so it is redacted here, whoever wrote it.
    pub(crate) fn end(&self, result: Result<(), Stop>) -> CaseResult {
        let shown = |reason: &str| self.context.redactor.excerpt(reason, LONGEST);
        let mut notes = self.notes();
        let misuse = notes.misuse.take();
        let case = std::mem::take(&mut notes.case);
        let findings = &notes.findings[case.findings..];
        let broken = findings.iter().any(|finding| finding.severity == Severity::Fail);
        let outcome = match (misuse, result) {
            (Some(misuse), _) => Outcome::Error(misuse),
            (None, _) if broken => Outcome::Fail,
            (None, Err(Stop::Skip(reason))) => Outcome::Skipped(shown(&reason)),
            (None, Err(Stop::Inconclusive(reason))) => Outcome::Inconclusive(shown(&reason)),
            (None, Err(Stop::Budget(exhausted))) => Outcome::Inconclusive(exhausted.to_string()),
            (None, Err(Stop::Error(reason))) => Outcome::Error(shown(&reason)),
            (None, Ok(())) if !findings.is_empty() => Outcome::Warn,
            (None, Ok(())) => Outcome::Pass,
        };
        CaseResult { label: case.label, outcome, requests: notes.recording.len() - case.requests }
    }

    /// What the check leaves behind.
    pub(crate) fn conclude(self) -> Concluded {
        let stale = self.stale.load(Ordering::Relaxed);
        let notes = self.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        const MOST_EVIDENCE: usize = 24;
        let requests = notes.recording.len();
        // Secrets are searched for in what leaves the suite only: bodies are long, and most of them are never shown.
        let redactor = self.context.redactor;
        let evidence = notes
            .recording
            .iter()
            .take(MOST_EVIDENCE)
            .map(|exchange| Evidence::of(exchange, redactor))
            .collect();
        let cited = |exchange: &&Exchange| {
            notes.findings.iter().any(|finding| finding.exchanges.contains(&exchange.index))
        };
        let exchanges =
            notes.recording.iter().filter(cited).map(|exchange| Recorded::new(exchange, redactor)).collect();
        Concluded {
            findings: notes.findings,
            observations: notes.observations,
            exchanges,
            evidence,
            requests,
            stale,
        }
    }

    pub(super) async fn send_with(
        &self,
        request: &Request,
        patience: Patience,
    ) -> Result<(Exchange, Judgement), Stop> {
        let contract = self.contract();
        let operation = self.operation_of(request);
        let form = Form::of(contract, operation, request);
        let Probe { context, .. } = self;
        let mut judgement = None;
        let record = |exchange: &mut Exchange| {
            self.record(exchange);
            if let Ok(answer) = &exchange.result {
                // Before anything is said of the answer.
                context.redactor.learn_from(answer);
            }
            let judged = Judgement::of(contract, operation, form, &exchange.result, context.redactor);
            if let Ok(answer) = &exchange.result {
                let canaries = context.canaries;
                let observed =
                    Observed { contract, canaries, operation, form, judgement: &judged, request, answer };
                context.passive.show(&observed, exchange, context.redactor);
            }
            judgement = Some(judged);
            gateways::took(contract, request, &exchange.result)
        };
        let hold = gateways::hold(contract, request);
        let exchange = context.wire.send(request, hold, patience, record).await?;
        match judgement {
            Some(Judgement::Unreachable(what)) => Err(Stop::Error(what)),
            // Nobody knows what the rest holds, so no check may go on as if this were a rejection or no answer.
            Some(judgement @ Judgement::TooLarge(_)) => Err(undecided(&judgement)),
            Some(judgement) => Ok((exchange, judgement)),
            None => Err(Stop::Error("an exchange was not recorded: a fault of the suite".to_owned())),
        }
    }

    fn operation_of(&self, request: &Request) -> OperationId {
        let path = request.path();
        let by_path = OperationId::ALL.into_iter().find(|id| self.contract().operation(*id).path == path);
        by_path.or(self.check.operation).unwrap_or(OperationId::Groups)
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
        exchanges: &[&Exchange],
    ) {
        let mut notes = self.notes();
        if !self.check.clauses.contains(&clause) {
            notes.misuse = Some(format!("the check cites {clause}, which it does not declare"));
            return;
        }
        let case = Some(notes.case.label.clone()).filter(|label| !label.is_empty());
        notes.findings.push(Finding {
            case,
            clause,
            requirement: self.contract().catalogue.clause(clause).text.clone(),
            expected: self.context.redactor.excerpt(expected, LONGEST),
            actual: self.context.redactor.excerpt(actual, LONGEST),
            severity,
            exchanges: exchanges.iter().map(|exchange| exchange.index).collect(),
        });
    }

    /// A check that panicked leaves its notes whole: each of them is pushed in one step.
    pub(super) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
