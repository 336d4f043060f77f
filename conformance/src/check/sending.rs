//! Sends requests for a check and judges whether they were accepted or rejected.

use std::time::Duration;

use super::{Decision, Probe, ResponseClass, Stop};
use crate::contract::{Clause, Unspecified};
use crate::wire::{Exchange, Request, Response, ThrottlingPolicy};

/// A request that was accepted.
#[derive(Debug, Clone)]
pub struct AcceptedResponse {
    /// Request and response.
    pub exchange: Exchange,
    /// The response.
    pub response: Response,
}

impl Probe<'_> {
    /// Sends a request, waiting out 429 and 503.
    ///
    /// # Errors
    /// Inconclusive when the service stays busy; when the budget is used up or no connection can be made.
    pub async fn send(&self, request: &Request) -> Result<(Exchange, ResponseClass), Stop> {
        not_busy(self.send_with(request, ThrottlingPolicy::WaitOut).await?)
    }

    /// Sends a request a few times without waiting as long as `Retry-After` says, because a shortage may come as 503 with a
    /// long wait.
    ///
    /// # Errors
    /// As for [`Probe::send`].
    pub async fn send_briefly(&self, request: &Request) -> Result<(Exchange, ResponseClass), Stop> {
        not_busy(self.send_until_served(|| request.clone()).await?)
    }

    /// Sends a request and returns the first response, whatever it is, also [`ResponseClass::Throttled`], from which no check
    /// may conclude anything.
    ///
    /// # Errors
    /// When the budget is used up or no connection can be made.
    pub async fn send_once(&self, request: &Request) -> Result<(Exchange, ResponseClass), Stop> {
        self.send_with(request, ThrottlingPolicy::FirstResponse).await
    }

    /// Sends requests of one kind until the response is not 429 or 503, a few times at most and without waiting as long as
    /// `Retry-After` says, and returns the last response. [`ResponseClass::Throttled`] does not show yet that a shortage
    /// lasts; see [`Probe::confirm_unavailable`].
    ///
    /// # Errors
    /// As for [`Probe::send_once`].
    pub async fn send_until_served(
        &self,
        request: impl Fn() -> Request,
    ) -> Result<(Exchange, ResponseClass), Stop> {
        const IN_A_ROW: u32 = 6;
        const PAUSE: Duration = Duration::from_millis(7);
        let mut tries = 1;
        loop {
            let (exchange, class) = self.send_once(&request()).await?;
            if tries == IN_A_ROW || !matches!(class, ResponseClass::Throttled(_)) {
                return Ok((exchange, class));
            }
            tokio::time::sleep(PAUSE * tries).await;
            tries += 1;
        }
    }

    /// Finds out whether this very request gets 503, and not every request: it and a control request are sent in turns,
    /// without waiting. Returns the last response to the request.
    ///
    /// # Errors
    /// Inconclusive when the request is served after all, when it is throttled, or when a control request is not served.
    pub async fn confirm_unavailable(
        &self,
        request: impl Fn() -> Request,
        control: impl Fn() -> Request,
    ) -> Result<Exchange, Stop> {
        // An order that no regular throttling would follow, with few controls: they take gateways.
        const IS_CONTROL: [bool; 12] =
            [true, false, false, true, false, false, false, false, true, false, false, false];
        let mut last = None;
        for is_control in IS_CONTROL {
            let sent = if is_control { control() } else { request() };
            let (exchange, class) = self.send_once(&sent).await?;
            let throttled = exchange.result.as_ref().is_ok_and(|response| response.status == 429);
            let as_supposed = match class {
                ResponseClass::Accepted => is_control,
                ResponseClass::Throttled(_) => !is_control && !throttled,
                _ => false,
            };
            if !as_supposed {
                return Err(
                    self.inconclusive("the service is busy at times; run it again later, or with --rate")
                );
            }
            if !is_control {
                last = Some(exchange);
            }
        }
        last.ok_or_else(|| Stop::Error("a request was not sent; this is a bug of the suite".to_owned()))
    }

    /// Sends a request that may be accepted or rejected, and returns whether it was accepted.
    ///
    /// # Errors
    /// Inconclusive when it was neither: the service is busy, short of gateways or broken.
    pub async fn is_accepted(&self, request: &Request) -> Result<(Exchange, bool), Stop> {
        let (exchange, class) = self.send(request).await?;
        match class.decision() {
            Decision::Accepted => Ok((exchange, true)),
            Decision::Rejected => Ok((exchange, false)),
            // A 5xx with a business code is doubtful, but still a rejection.
            Decision::Failed if has_business_code(&exchange) => Ok((exchange, false)),
            Decision::Failed | Decision::Undecided => Err(undecided(&class)),
        }
    }

    /// Sends a control request: one that a conforming service accepts, for comparison with the request under test.
    ///
    /// # Errors
    /// Inconclusive when it is not accepted.
    pub async fn control(&self, request: &Request) -> Result<AcceptedResponse, Stop> {
        let (exchange, class) = self.send(request).await?;
        let Some(accepted) = accepted(&exchange, &class) else {
            return Err(match class {
                ResponseClass::Shortage(_) | ResponseClass::Timeout(_) | ResponseClass::TooLarge(_) => {
                    undecided(&class)
                }
                _ => self.inconclusive(&format!(
                    "the control request was not accepted, so the case shows nothing: {}",
                    class.description()
                )),
            });
        };
        self.notes().accepted.push(request.clone());
        Ok(accepted)
    }

    /// Like [`Probe::control`], but sends nothing when this check has already seen the request accepted.
    ///
    /// # Errors
    /// As for [`Probe::control`].
    pub async fn control_once(&self, request: &Request) -> Result<(), Stop> {
        let shown = self.notes().accepted.contains(request);
        if !shown {
            self.control(request).await?;
        }
        Ok(())
    }

    /// Sends a request that must be accepted by the clause, and reports a finding when it is not. `why` says what is special
    /// about the request.
    ///
    /// # Errors
    /// Inconclusive when the service is busy all the time, short of gateways, or too slow for the suite.
    pub async fn accepts(
        &self,
        clause: Clause,
        why: &str,
        request: &Request,
    ) -> Result<Option<AcceptedResponse>, Stop> {
        self.accepts_or_control(clause, why, request, async { Ok(()) }).await
    }

    /// The same for a request that has a control: `control`, which sends it, is awaited only when the request is not accepted,
    /// and there is a finding only when it succeeds. A run in which all is well takes one gateway for it in place of two.
    ///
    /// # Errors
    /// As for [`Probe::accepts`], and those of the control.
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

    /// Sends the control request unless this check has seen it accepted, then the invalid one, and reports a finding when that
    /// is accepted too or breaks the service. `why` says what is wrong with the invalid one.
    ///
    /// # Errors
    /// Inconclusive when the control request is not accepted, or as for [`Probe::rejects`].
    pub async fn rejects_after_control(
        &self,
        clause: Clause,
        why: &str,
        control: &Request,
        invalid: &Request,
    ) -> Result<(), Stop> {
        self.control_once(control).await?;
        self.rejects(clause, why, invalid).await
    }

    /// Sends a request that must be rejected, without a control request: only for checks that sent one in another way.
    ///
    /// # Errors
    /// Inconclusive when the service is busy all the time or short of gateways, which is no rejection.
    pub async fn rejects(&self, clause: Clause, why: &str, invalid: &Request) -> Result<(), Stop> {
        let (exchange, class) = self.send(&invalid.clone().giving_nothing()).await?;
        self.judge_rejection(clause, why, &exchange, &class)
    }

    /// Judges the response to a request that must be rejected. A rejection by a 5xx with a business code is a warning: clients
    /// may retry 500 and 503, so a final rejection should not look like a temporary failure. Without a code it is a failure.
    ///
    /// # Errors
    /// As for [`Probe::rejects`].
    pub(crate) fn judge_rejection(
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
            Decision::Failed if has_business_code(exchange) => {
                self.warning(clause, &without_server_error, class.description(), &[exchange]);
            }
            Decision::Failed => {
                self.finding(clause, &without_server_error, class.description(), &[exchange]);
            }
            Decision::Undecided => return Err(undecided(class)),
        }
        Ok(())
    }

    /// Sends a request whose outcome the contract leaves open, and records the outcome. A server error is a warning.
    ///
    /// # Errors
    /// When nothing can be sent.
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

/// Whether a response carries a code as rejections have it, a number or a string.
fn has_business_code(exchange: &Exchange) -> bool {
    let code = exchange.result.as_ref().ok().and_then(|response| response.at("/code"));
    code.is_some_and(|code| code.is_number() || code.as_str().is_some_and(|code| !code.is_empty()))
}

fn accepted(exchange: &Exchange, class: &ResponseClass) -> Option<AcceptedResponse> {
    match (&exchange.result, class) {
        (Ok(response), ResponseClass::Accepted) => {
            Some(AcceptedResponse { response: response.clone(), exchange: exchange.clone() })
        }
        _ => None,
    }
}

fn not_busy((exchange, class): (Exchange, ResponseClass)) -> Result<(Exchange, ResponseClass), Stop> {
    match class {
        ResponseClass::Throttled(_) => Err(undecided(&class)),
        class => Ok((exchange, class)),
    }
}

/// Why a response decides nothing, and what the tester can do about it.
pub(super) fn undecided(class: &ResponseClass) -> Stop {
    let what = class.description();
    Stop::Inconclusive(match class {
        ResponseClass::Throttled(_) => {
            format!("the service was busy all the time: {what}; run it again later, or with --rate")
        }
        ResponseClass::Shortage(_) => {
            format!(
                "the service is short of gateways: {what}; supply a plentiful region or run it again later"
            )
        }
        ResponseClass::Timeout(_) => format!("{what}; pass a longer --timeout"),
        ResponseClass::TooLarge(_) => format!("the response shows nothing: {what}"),
        _ => format!("the service neither accepted nor rejected the request: {what}"),
    })
}
