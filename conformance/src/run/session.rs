//! Requests to a target, within one budget: those of a run, and those outside of one.

use std::sync::Arc;

use super::{Options, SetupError, Verdict};
use crate::contract::Contract;
use crate::response::gateways;
use crate::target::Target;
use crate::wire::{
    Budget, BudgetError, Exchange, Meter, Redactor, Request, ThrottlingPolicy, Wire, WireError, WireOptions,
};

/// A target, and what the requests to it share.
#[derive(Debug)]
pub struct Session<'a> {
    pub(crate) contract: &'a Contract,
    pub(crate) target: &'a Target,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) meter: Arc<Meter>,
    pub(super) wire: Wire,
}

/// Why no request can be sent, or no further one.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Our side can't be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The target can't be tested.
    #[error("{1}")]
    Unreachable(Verdict, String),
    /// A limit was reached.
    #[error(transparent)]
    Budget(#[from] BudgetError),
}

impl<'a> Session<'a> {
    /// Nothing is sent yet.
    pub(super) fn new(
        contract: &'a Contract,
        target: &'a Target,
        budget: Budget,
        wire: WireOptions,
    ) -> Result<Self, SetupError> {
        let (redactor, meter) = (Arc::new(target.redactor(&wire)?), Arc::new(Meter::new(budget)));
        let wire = Wire::new(target.base().clone(), wire, Arc::clone(&meter), Arc::clone(&redactor))?;
        Ok(Self { contract, target, redactor, meter, wire })
    }

    /// Waits for the target as long as the options say, and finds out whether it responds, and `with_token` whether it accepts any request
    /// of the account. The time of the budget begins after the waiting. Of the options it uses `budget` and `wire`.
    ///
    /// # Errors
    /// When our side can't be set up, or the target can't be tested.
    pub async fn begin(
        contract: &'a Contract,
        target: &'a Target,
        Options { budget, wire, .. }: &Options,
        with_token: bool,
    ) -> Result<Self, SessionError> {
        let session = Self::new(contract, target, budget.clone(), wire.clone())?;
        let mut obstacle = session.wait(|_, _| {}).await;
        session.meter.begin();
        if obstacle.is_none() {
            let reached =
                async { if with_token { session.reach_with_token().await } else { session.reach().await } };
            let reached = tokio::time::timeout(budget.wall, reached).await;
            obstacle = reached.map_err(|_| BudgetError::Wall(budget.wall.as_secs()))?;
        }
        match obstacle {
            None => Ok(session),
            Some((verdict, reason)) => {
                Err(SessionError::Unreachable(verdict, session.redactor.redact(&reason)))
            }
        }
    }

    /// Sends a request, which `case` names in its `User-Agent`.
    ///
    /// # Errors
    /// When the budget does not allow it.
    pub async fn send(
        &self,
        case: &str,
        request: &Request,
        policy: ThrottlingPolicy,
    ) -> Result<Exchange, SessionError> {
        let count = |exchange: &mut Exchange| gateways::count(self.contract, request, &exchange.result);
        let cost = gateways::cost(self.contract, request);
        self.wire.send(case, request, cost, policy, count).await.map_err(|error| match error {
            WireError::Budget(reached) => reached.into(),
            WireError::Setup(_) => SessionError::Setup(error.into()),
        })
    }
}
