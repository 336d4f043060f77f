//! Sends requests of a check and judges whether they are accepted or rejected. Server errors may be momentary: HTTP 500, and those
//! of a gateway in front of the service (502, 504).

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

use super::{Decision, Probe, ResponseClass, Stop};
use crate::contract::{Clause, Unspecified};
use crate::lock;
use crate::wire::{Exchange, Request, Response, ThrottlingPolicy, TransientFailure};

/// A request that was accepted.
#[derive(Debug, Clone)]
pub struct AcceptedResponse {
    /// Request and response.
    pub exchange: Exchange,
    /// The response.
    pub response: Response,
}

impl Probe<'_> {
    /// Sends a request, waiting out 429 and 503. As each of these functions does, it sends the request again when the response is a
    /// server error that may be momentary. Inconclusive when the service stays busy; it also ends the case when the budget is used up or no
    /// connection can be made.
    pub async fn send(&self, request: &Request) -> Result<(Exchange, ResponseClass), Stop> {
        let (exchange, class) = self.send_with(request, ThrottlingPolicy::WaitOut).await?;
        if let ResponseClass::Throttled(_) = class { Err(undecided(&class)) } else { Ok((exchange, class)) }
    }

    /// Sends a request and returns the first response, even [`ResponseClass::Throttled`], from which no check may conclude anything.
    pub async fn send_once(&self, request: &Request) -> Result<(Exchange, ResponseClass), Stop> {
        self.send_with(request, ThrottlingPolicy::FirstResponse).await
    }

    /// Sends requests of one kind until the response is neither 429 nor 503, at most a few times and without waiting as long as
    /// `Retry-After` says, and returns the last response. [`ResponseClass::Throttled`] does not prove a shortage; see
    /// [`Probe::confirm_unavailable`].
    pub async fn send_until_served(
        &self,
        request: impl Fn() -> Request,
    ) -> Result<(Exchange, ResponseClass), Stop> {
        const MAX_ATTEMPTS: u32 = 6;
        const PAUSE: Duration = Duration::from_millis(7);
        let mut attempts = 1;
        loop {
            let (exchange, class) = self.send_once(&request()).await?;
            if attempts == MAX_ATTEMPTS || !matches!(class, ResponseClass::Throttled(_)) {
                return Ok((exchange, class));
            }
            tokio::time::sleep(PAUSE * attempts).await;
            attempts += 1;
        }
    }

    /// Finds out whether only this request gets 503, by alternating it with a control request without waiting. Returns the first
    /// response to the request that has `Retry-After`, or else the last one. Inconclusive when the request is served after all, when it is
    /// throttled, or when a control request is not served.
    pub async fn confirm_unavailable(
        &self,
        request: impl Fn() -> Request,
        control: impl Fn() -> Request,
    ) -> Result<Exchange, Stop> {
        // An order that no regular throttling follows, with few controls, since they take gateways.
        const IS_CONTROL: [bool; 12] =
            [true, false, false, true, false, false, false, false, true, false, false, false];
        let mut last = None;
        for is_control in IS_CONTROL {
            let sent = if is_control { control() } else { request() };
            let (exchange, class) = self.send_once(&sent).await?;
            let is_unavailable = exchange.result.as_ref().is_ok_and(|response| response.status != 429);
            let is_as_expected = match class {
                ResponseClass::Accepted => is_control,
                ResponseClass::Throttled(_) => !is_control && is_unavailable,
                _ => false,
            };
            if !is_as_expected {
                return Err(self.inconclusive(
                    "the service is sometimes busy; run it again later, or with a lower --rate",
                ));
            }
            // One of them may be of a busy service that does not say how long to wait, where a shortage does.
            let waits = |exchange: &Exchange| {
                exchange.result.as_ref().is_ok_and(|response| response.header("Retry-After").is_some())
            };
            if !is_control && !last.as_ref().is_some_and(waits) {
                last = Some(exchange);
            }
        }
        last.ok_or_else(|| Stop::Error("a request was not sent; this is a bug of the suite".to_owned()))
    }

    /// Sends a request that may be accepted or rejected, and returns whether it was accepted. Inconclusive when it was neither.
    pub async fn is_accepted(&self, request: &Request) -> Result<(Exchange, bool), Stop> {
        let (exchange, class) = self.send(request).await?;
        match class.decision() {
            Decision::Accepted => Ok((exchange, true)),
            Decision::Rejected => Ok((exchange, false)),
            // A 5xx with a business code is doubtful, but a rejection.
            Decision::Failed if business_code(&exchange).is_some() => Ok((exchange, false)),
            Decision::Failed | Decision::Undecided => Err(undecided(&class)),
        }
    }

    /// Sends a control request; inconclusive when it is not accepted.
    pub async fn control(&self, request: &Request) -> Result<AcceptedResponse, Stop> {
        let (exchange, class) = self.send(request).await?;
        let Some(accepted) = accepted(&exchange, &class) else {
            return Err(match class {
                ResponseClass::Shortage(_) | ResponseClass::Timeout(_) | ResponseClass::TooLarge(_) => {
                    undecided(&class)
                }
                _ => self.inconclusive(&format!(
                    "the control request was not accepted, so the case cannot be judged: {}",
                    class.description()
                )),
            });
        };
        self.show_control(exchange.brief());
        Ok(accepted)
    }

    /// Like [`Probe::control`], but sends nothing when this check has already seen the request accepted.
    pub async fn control_once(&self, request: &Request) -> Result<(), Stop> {
        let sent = self.context.wire.with_extra_headers(request);
        let known = self.notes().accepted.iter().find(|known| known.request == sent).cloned();
        match known {
            Some(known) => self.show_control(known),
            None => drop(self.control(request).await?),
        }
        Ok(())
    }

    /// Sends a request that must be accepted by the clause, and reports a finding when it is not. `why` describes the request. Inconclusive
    /// when the service stays busy, is short of gateways, or times out.
    pub async fn accepts(
        &self,
        clause: Clause,
        why: &str,
        request: &Request,
    ) -> Result<Option<AcceptedResponse>, Stop> {
        self.accepts_or_control(clause, why, request, async { Ok(()) }).await
    }

    /// Like [`Probe::accepts`], but reports a finding only when `control` succeeds, which sends a control request. It is only
    /// awaited when the request is not accepted, so that a conforming service gives one gateway instead of two.
    pub(crate) async fn accepts_or_control(
        &self,
        clause: Clause,
        why: &str,
        request: &Request,
        control: impl Future<Output = Result<(), Stop>> + Send,
    ) -> Result<Option<AcceptedResponse>, Stop> {
        let (exchange, class) = self.send(request).await?;
        match (class.decision(), &class) {
            (Decision::Accepted, _) => {}
            (Decision::Undecided, _) | (_, ResponseClass::Timeout(_)) => return Err(undecided(&class)),
            (Decision::Rejected | Decision::Failed, _) => {
                control.await?;
                self.finding(clause, &format!("accepted: {why}"), class.description(), &[&exchange]);
            }
        }
        Ok(accepted(&exchange, &class))
    }

    /// Sends a request that must be rejected, without a control request: only for checks that send one in another way.
    pub async fn rejects(&self, clause: Clause, why: &str, invalid: &Request) -> Result<(), Stop> {
        let (exchange, class) = self.send(&invalid.clone().as_invalid()).await?;
        self.judge_rejection(clause, why, &exchange, &class).await
    }

    /// Judges the response to a request that must be rejected. A 5xx with a business code is a warning: clients may retry 500 and
    /// 503, so a final rejection should not look like a temporary failure. Any other 5xx is a failure.
    pub(crate) async fn judge_rejection(
        &self,
        clause: Clause,
        why: &str,
        exchange: &Exchange,
        class: &ResponseClass,
    ) -> Result<(), Stop> {
        let expected = format!("rejected: {why}");
        let without_server_error = format!("{expected}, without a server error");
        match class.decision() {
            Decision::Accepted => self.finding(clause, &expected, "a success", &[exchange]),
            Decision::Rejected => {
                self.observe(Unspecified::RejectionsForm, &format!("{why}: {}", class.outline(exchange)));
            }
            Decision::Failed if business_code(exchange).is_some() => {
                self.warning(clause, &without_server_error, class.description(), &[exchange]);
            }
            Decision::Failed => {
                self.finding(clause, &without_server_error, class.description(), &[exchange]);
            }
            Decision::Undecided => return Err(undecided(class)),
        }
        Ok(())
    }

    /// Sends a request with an unspecified outcome, and records the outcome. A server error is a warning.
    pub async fn tolerates(
        &self,
        clause: Clause,
        unspecified: Unspecified,
        why: &str,
        request: &Request,
    ) -> Result<(), Stop> {
        let (exchange, class) = self.send_once(request).await?;
        if class.decision() == Decision::Failed {
            let expected = format!("accepted or rejected, without a server error: {why}");
            self.warning(clause, &expected, class.description(), &[&exchange]);
        }
        self.observe(unspecified, &format!("{why}: {}", class.outline(&exchange)));
        Ok(())
    }
}

/// The response, if it is a success.
pub(crate) fn accepted(exchange: &Exchange, class: &ResponseClass) -> Option<AcceptedResponse> {
    match (&exchange.result, class) {
        (Ok(response), ResponseClass::Accepted) => {
            Some(AcceptedResponse { response: response.clone(), exchange: exchange.clone() })
        }
        _ => None,
    }
}

/// Why a response is inconclusive, and what the tester can do about it.
pub(crate) fn undecided(class: &ResponseClass) -> Stop {
    let what = class.description();
    Stop::Inconclusive(match class {
        ResponseClass::Throttled(_) => {
            format!("the service stayed busy: {what}; run it again later, or with a lower --rate")
        }
        ResponseClass::Shortage(_) => {
            format!(
                "the service is short of gateways: {what}; supply a plentiful region or run it again later"
            )
        }
        ResponseClass::Timeout(_) => format!("{what}; pass a longer --timeout"),
        ResponseClass::TooLarge(_) => format!("the response cannot be judged: {what}"),
        _ => format!("the service neither accepted nor rejected the request: {what}"),
    })
}

/// How often a server error with each code recurred when its request was sent again.
#[derive(Debug, Default)]
pub(crate) struct RecurringErrors(Mutex<BTreeMap<String, u32>>);

/// A code that recurred so often stands for a rejection, and is final.
const FINAL: u32 = 3;

impl RecurringErrors {
    /// Whether the response may be another one when the request is sent again. Without a code it always may.
    pub(super) fn may_pass(&self, exchange: &Exchange) -> bool {
        let is_final =
            |code: &Value| lock(&self.0).get(&code.to_string()).is_some_and(|times| *times >= FINAL);
        is_server_error(exchange) && !business_code(exchange).is_some_and(is_final)
    }

    /// Counts a server error that recurred.
    pub(super) fn add(&self, exchange: &Exchange) {
        if let Some(code) = business_code(exchange) {
            *lock(&self.0).entry(code.to_string()).or_default() += 1;
        }
    }
}

pub(super) fn is_server_error(exchange: &Exchange) -> bool {
    TransientFailure::new(&exchange.result) == Some(TransientFailure::ServerError)
}

/// The code of a rejection in a response, a number or a string.
fn business_code(exchange: &Exchange) -> Option<&Value> {
    let code = exchange.result.as_ref().ok().and_then(|response| response.at("/code"));
    code.filter(|code| code.is_number() || code.as_str().is_some_and(|code| !code.is_empty()))
}
