use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::judgement::excerpt;
use super::{
    Check, Decision, Evidence, Finding, Form, Judgement, Observation, Outcome, Severity, Sighting, Stop,
    Watchtower,
};
use crate::contract::{Contract, OperationId};
use crate::relation::{Survey, Surveys};
use crate::target::{Canaries, Facts, Secret, Target};
use crate::wire::{Answer, Exchange, Patience, Recorded, Redactor, Request, Took, Wire};

/// Everything that the checks of a run share.
#[derive(Debug)]
pub(crate) struct ProbeContext<'a> {
    pub(crate) contract: &'a Contract,
    pub(crate) target: &'a Target,
    pub(crate) wire: &'a Wire,
    pub(crate) redactor: &'a Redactor,
    pub(crate) canaries: &'a Canaries,
    pub(crate) watchtower: &'a Watchtower,
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
struct Notes {
    recording: Vec<Exchange>,
    findings: Vec<Finding>,
    observations: Vec<Observation>,
    accepted: Vec<Request>,
    misuse: Option<String>,
}

/// A success.
#[derive(Debug, Clone)]
pub struct Accepted {
    /// What was sent and what came.
    pub exchange: Exchange,
    /// The answer.
    pub answer: Answer,
}

/// What a check leaves behind.
#[derive(Debug)]
pub(crate) struct Concluded {
    pub(crate) outcome: Outcome,
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

    /// Sends a request, waiting out 429 and 503.
    ///
    /// # Errors
    /// Inconclusive when the service stays busy; when the budget is used up or there is no connection at all.
    pub async fn send(&self, request: &Request) -> Result<(Exchange, Judgement), Stop> {
        not_busy(self.send_with(request, Patience::WaitOut).await?)
    }

    /// Sends a request a few times without waiting as long as is asked for, since a shortage may come as 503 with a long
    /// wait.
    ///
    /// # Errors
    /// As for [`Probe::send`].
    pub async fn send_briefly(&self, request: &Request) -> Result<(Exchange, Judgement), Stop> {
        not_busy(self.lasting_answer(|| request.clone()).await?)
    }

    /// Sends a request and takes the first answer, whatever it is: also [`Judgement::Busy`], which no check may take for an
    /// answer to its question.
    ///
    /// # Errors
    /// When the budget is used up or there is no connection at all.
    pub async fn first_answer(&self, request: &Request) -> Result<(Exchange, Judgement), Stop> {
        self.send_with(request, Patience::FirstAnswer).await
    }

    /// Sends requests of one kind until one is not answered by 429 or 503, a few times at most and without waiting as long as
    /// is asked for, and takes the last answer. [`Judgement::Busy`] does not mean yet that a shortage lasts; see
    /// [`Probe::refused_alone`].
    ///
    /// # Errors
    /// As for [`Probe::first_answer`].
    pub async fn lasting_answer(&self, request: impl Fn() -> Request) -> Result<(Exchange, Judgement), Stop> {
        const IN_A_ROW: u32 = 6;
        const PAUSE: Duration = Duration::from_millis(7);
        let mut tries = 1;
        loop {
            let (exchange, judgement) = self.first_answer(&request()).await?;
            if tries == IN_A_ROW || !matches!(judgement, Judgement::Busy(_)) {
                return Ok((exchange, judgement));
            }
            tokio::time::sleep(PAUSE * tries).await;
            tries += 1;
        }
    }

    /// Finds out whether 503 is what this very request is answered with, and not any: it and a control are sent in turns, and
    /// nobody waits. Gives the last answer to the request.
    ///
    /// # Errors
    /// Inconclusive when the request is served after all, when it is throttled, or when the control is not served each time.
    pub async fn refused_alone(
        &self,
        request: impl Fn() -> Request,
        control: impl Fn() -> Request,
    ) -> Result<Exchange, Stop> {
        // No regular throttling lets just these through and not the others.
        const IS_CONTROL: [bool; 12] =
            [true, false, false, true, false, true, true, false, false, true, true, false];
        let mut last = None;
        for is_control in IS_CONTROL {
            let sent = if is_control { control() } else { request() };
            let (exchange, judgement) = self.first_answer(&sent).await?;
            let throttled = exchange.result.as_ref().is_ok_and(|answer| answer.status == 429);
            let as_supposed = match judgement {
                Judgement::Accepted => is_control,
                Judgement::Busy(_) => !is_control && !throttled,
                _ => false,
            };
            if !as_supposed {
                return Err(
                    self.inconclusive("the service is busy at times: run it again later, or with --rate")
                );
            }
            if !is_control {
                last = Some(exchange);
            }
        }
        last.ok_or_else(|| Stop::Error("a request was not sent: a fault of the suite".to_owned()))
    }

    /// Sends a request and says whether it was accepted, where either may be right.
    ///
    /// # Errors
    /// Inconclusive when neither was decided: the service is busy, short of gateways or broken.
    pub async fn decides(&self, request: &Request) -> Result<(Exchange, bool), Stop> {
        let (exchange, judgement) = self.send(request).await?;
        match judgement.verdict() {
            Decision::Accepted => Ok((exchange, true)),
            Decision::Refused => Ok((exchange, false)),
            Decision::Failed | Decision::Untold => Err(undecided(&judgement)),
        }
    }

    /// Sends a request that a conforming service accepts, as the ground that the check stands on.
    ///
    /// # Errors
    /// Inconclusive when it is not accepted: then nothing can be said of what the check is about.
    pub async fn control(&self, request: &Request) -> Result<Accepted, Stop> {
        let (exchange, judgement) = self.send(request).await?;
        let Some(accepted) = accepted(&exchange, &judgement) else {
            return Err(match judgement {
                Judgement::Short(_) | Judgement::Endless(_) => undecided(&judgement),
                _ => self.inconclusive(&format!(
                    "the control was not accepted, so nothing can be said: {}",
                    judgement.description()
                )),
            });
        };
        self.notes().accepted.push(request.clone());
        Ok(accepted)
    }

    /// Like [`Probe::control`], but sends nothing when this check has shown before that the request is accepted.
    ///
    /// # Errors
    /// As for [`Probe::control`].
    pub async fn ground(&self, request: &Request) -> Result<(), Stop> {
        let shown = self.notes().accepted.contains(request);
        if !shown {
            self.control(request).await?;
        }
        Ok(())
    }

    /// Sends a request that the clause wants accepted, and reports a finding when it is not. `why` says what is special
    /// about the request.
    ///
    /// # Errors
    /// Inconclusive when the service is busy all the time, short of gateways, or too slow for the suite.
    pub async fn accepts(
        &self,
        clause: &str,
        why: &str,
        request: &Request,
    ) -> Result<Option<Accepted>, Stop> {
        let (exchange, judgement) = self.send(request).await?;
        match (judgement.verdict(), &judgement) {
            (Decision::Accepted, _) => {}
            (Decision::Untold, _) | (_, Judgement::Endless(_)) => return Err(undecided(&judgement)),
            (Decision::Refused | Decision::Failed, _) => {
                self.finding(clause, &format!("accepted: {why}"), judgement.description(), &[&exchange]);
            }
        }
        Ok(accepted(&exchange, &judgement))
    }

    /// Shows that the good twin is accepted, then sends the bad one, and reports a finding when that is accepted too or
    /// breaks the service. `why` says what is wrong with the bad one.
    ///
    /// # Errors
    /// Inconclusive when the good twin is not accepted, or as for [`Probe::rejects`].
    pub async fn refuses(&self, clause: &str, why: &str, good: &Request, bad: &Request) -> Result<(), Stop> {
        self.ground(good).await?;
        self.rejects(clause, why, bad).await
    }

    /// Sends a request that is to be rejected, without a control: only for checks that showed one in another way.
    ///
    /// # Errors
    /// Inconclusive when the service is busy all the time or short of gateways: that is not the refusal that is wanted.
    pub async fn rejects(&self, clause: &str, why: &str, bad: &Request) -> Result<(), Stop> {
        let (exchange, judgement) = self.send(bad).await?;
        let expected = format!("rejected: {why}");
        let fault_free = format!("{expected}, by an answer that is no server fault");
        match judgement.verdict() {
            Decision::Accepted => self.finding(clause, &expected, "a success", &[&exchange]),
            Decision::Refused => {
                self.observe("open.rejections.form", &format!("{why}: {}", judgement.outline(&exchange)));
            }
            Decision::Failed => self.finding(clause, &fault_free, judgement.description(), &[&exchange]),
            Decision::Untold => return Err(undecided(&judgement)),
        }
        Ok(())
    }

    /// Sends a request that the contract leaves open, and notes how it is answered. Whatever the decision, a service that
    /// breaks over it is doubtful.
    ///
    /// # Errors
    /// When nothing can be sent.
    pub async fn tolerates(
        &self,
        clause: &str,
        silence: &str,
        why: &str,
        request: &Request,
    ) -> Result<(), Stop> {
        let (exchange, judgement) = self.first_answer(request).await?;
        if judgement.verdict() == Decision::Failed {
            let expected = format!("accepted or rejected, and no server fault: {why}");
            self.warning(clause, &expected, judgement.description(), &[&exchange]);
        }
        self.observe(silence, &format!("{why}: {}", judgement.outline(&exchange)));
        Ok(())
    }

    /// Reports that a clause is broken.
    pub fn finding(&self, clause: &str, expected: &str, actual: &str, exchanges: &[&Exchange]) {
        self.report(Severity::Fail, clause, expected, actual, exchanges);
    }

    /// Reports something doubtful that no clause forbids.
    pub fn warning(&self, clause: &str, expected: &str, actual: &str, exchanges: &[&Exchange]) {
        self.report(Severity::Warn, clause, expected, actual, exchanges);
    }

    /// Notes how the target decided something that the contract leaves open.
    pub fn observe(&self, silence: &str, text: &str) {
        let text = self.redact(text);
        let known = self.contract().catalogue.silence(silence).is_some();
        let mut notes = self.notes();
        if known {
            notes.observations.push(Observation { silence: silence.to_owned(), text });
        } else {
            notes.misuse = Some(format!("the check observes the unknown silence {silence}"));
        }
    }

    /// Ends the check: what it needs did not hold still or can't be told.
    #[must_use]
    pub fn inconclusive(&self, reason: &str) -> Stop {
        Stop::Inconclusive(reason.to_owned())
    }

    /// Ends the check: the data at hand does not allow it.
    #[must_use]
    pub fn skip(&self, reason: &str) -> Stop {
        Stop::Skip(reason.to_owned())
    }

    /// The reason why a check ended may hold what came, so it is redacted here, whoever wrote it.
    pub(crate) fn conclude(self, result: Result<(), Stop>) -> Concluded {
        let redactor = self.context.redactor;
        let stale = self.stale.load(Ordering::Relaxed);
        let notes = self.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let broken = notes.findings.iter().any(|finding| finding.severity == Severity::Fail);
        let outcome = match (notes.misuse, result) {
            (Some(misuse), _) => Outcome::Error(misuse),
            (None, _) if broken => Outcome::Fail,
            (None, Err(Stop::Skip(reason))) => Outcome::Skipped(redactor.redact(&reason)),
            (None, Err(Stop::Inconclusive(reason))) => Outcome::Inconclusive(redactor.redact(&reason)),
            (None, Err(Stop::Budget(exhausted))) => Outcome::Inconclusive(exhausted.to_string()),
            (None, Err(Stop::Error(reason))) => Outcome::Error(redactor.redact(&reason)),
            (None, Ok(())) if !notes.findings.is_empty() => Outcome::Warn,
            (None, Ok(())) => Outcome::Pass,
        };
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
            outcome,
            findings: notes.findings,
            observations: notes.observations,
            exchanges,
            evidence,
            requests,
            stale,
        }
    }

    async fn send_with(&self, request: &Request, patience: Patience) -> Result<(Exchange, Judgement), Stop> {
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
                let sighting =
                    Sighting { contract, canaries, operation, form, judgement: &judged, request, answer };
                context.watchtower.show(&sighting, exchange, context.redactor);
            }
            let judged = judgement.insert(judged);
            match judged.verdict() {
                // A connection that broke later may have broken after the gateways were taken.
                Decision::Accepted | Decision::Failed => Took::Gateways,
                Decision::Refused | Decision::Untold => Took::Nothing,
            }
        };
        let exchange =
            context.wire.send(request, self.gateways(operation, request), patience, record).await?;
        match judgement {
            Some(Judgement::Unreachable(what)) => Err(Stop::Error(what)),
            Some(judgement) => Ok((exchange, judgement)),
            None => Err(Stop::Error("an exchange was not recorded: a fault of the suite".to_owned())),
        }
    }

    fn operation_of(&self, request: &Request) -> OperationId {
        let path = request.path();
        let by_path = OperationId::ALL.into_iter().find(|id| self.contract().operation(*id).path == path);
        by_path.or(self.check.operation).unwrap_or(OperationId::Groups)
    }

    /// What a request may cost: `num`, when it is one. Who is to be rejected gets it back.
    fn gateways(&self, operation: OperationId, request: &Request) -> u64 {
        let extract = &self.contract().extract;
        let num = request.query_value(&extract.num.name).and_then(|num| num.parse::<i64>().ok());
        let num = num.filter(|num| operation == OperationId::Extract && extract.num_range.contains(num));
        num.and_then(|num| u64::try_from(num).ok()).unwrap_or(0)
    }

    /// Numbers an exchange and keeps it until the check ends.
    fn record(&self, exchange: &mut Exchange) {
        let mut notes = self.notes();
        exchange.index = notes.recording.len();
        notes.recording.push(exchange.clone());
    }

    fn report(
        &self,
        severity: Severity,
        clause: &str,
        expected: &str,
        actual: &str,
        exchanges: &[&Exchange],
    ) {
        const LONGEST: usize = 1_000;
        let requirement = self.contract().catalogue.clause(clause).map(|clause| clause.text.clone());
        let mut notes = self.notes();
        let Some(requirement) = requirement.filter(|_| self.check.clauses.contains(&clause)) else {
            notes.misuse = Some(format!("the check cites {clause}, which it does not declare"));
            return;
        };
        notes.findings.push(Finding {
            clause: clause.to_owned(),
            requirement,
            expected: excerpt(&self.redact(expected), LONGEST),
            actual: excerpt(&self.redact(actual), LONGEST),
            severity,
            exchanges: exchanges.iter().map(|exchange| exchange.index).collect(),
        });
    }

    fn redact(&self, text: &str) -> String {
        self.context.redactor.redact(text)
    }

    /// A check that panicked leaves its notes whole: each of them is pushed in one step.
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accepted(exchange: &Exchange, judgement: &Judgement) -> Option<Accepted> {
    match (&exchange.result, judgement) {
        (Ok(answer), Judgement::Accepted) => {
            Some(Accepted { answer: answer.clone(), exchange: exchange.clone() })
        }
        _ => None,
    }
}

fn not_busy((exchange, judgement): (Exchange, Judgement)) -> Result<(Exchange, Judgement), Stop> {
    match judgement {
        Judgement::Busy(_) => Err(undecided(&judgement)),
        judgement => Ok((exchange, judgement)),
    }
}

/// Why an answer decides nothing, and what the tester can do about it.
fn undecided(judgement: &Judgement) -> Stop {
    let what = judgement.description();
    Stop::Inconclusive(match judgement {
        Judgement::Busy(_) => {
            format!("the service was busy throughout: {what}; run it again later, or with --rate")
        }
        Judgement::Short(_) => {
            format!(
                "the service is short of gateways: {what}; supply a plentiful region or run it again later"
            )
        }
        Judgement::Endless(_) => format!("{what}; give it more time with --timeout"),
        _ => format!("the service came to no decision: {what}"),
    })
}
