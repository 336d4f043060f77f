//! Recordings of how an environment behaves in each case, unspecified behaviour included. A recording holds no secret and
//! no value that changes by itself, so that two of them can be compared.

mod behaviour;
mod cases;
mod recording;

use std::sync::Arc;

pub use recording::{Difference, Entry, Recording, RecordingError};

use behaviour::behaviour;
use cases::{Case, cases};

use crate::contract::Contract;
use crate::response::gateways;
use crate::run::{Preflight, SetupError, Verdict};
use crate::target::Target;
use crate::wire::{
    Budget, BudgetError, Exchange, Meter, Redactor, ThrottlingPolicy, Wire, WireError, WireOptions,
};

/// Why a target can't be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Our side can't be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// No server responds.
    #[error("{1}")]
    Unreachable(Verdict, String),
    /// A limit was reached; an incomplete recording is discarded.
    #[error(transparent)]
    Budget(#[from] BudgetError),
}

/// A recording, and the cases that were left out because they would take more gateways than are left.
#[derive(Debug)]
pub struct RecordingResult {
    /// What was seen.
    pub recording: Recording,
    /// Names of the cases that were left out.
    pub left_out: Vec<String>,
}

/// Records how a target behaves. Each case is sent twice, to tell what holds still.
///
/// # Errors
/// When the target can't be reached or a ceiling is.
pub async fn record(
    contract: &Contract,
    target: &Target,
    budget: Budget,
    wire: WireOptions,
) -> Result<RecordingResult, RecordError> {
    let redactor = Redactor::new(target.secrets().cloned().chain(wire.secrets()));
    let redactor = Arc::new(redactor.map_err(SetupError::from)?);
    let meter = Arc::new(Meter::new(budget.clone()));
    let wire = Wire::new(target.base().clone(), wire, Arc::clone(&meter), Arc::clone(&redactor))
        .map_err(SetupError::from)?;
    let preflight = Preflight { contract, target, wire: &wire, redactor: &redactor };
    if let Some(obstacle) = preflight.wait(|_, _| {}).await {
        return Err(RecordError::Unreachable(obstacle.verdict, redactor.redact(&obstacle.reason)));
    }
    meter.begin();
    let recording = record_cases(contract, target, &budget, &wire, &redactor);
    let recorded = tokio::time::timeout(meter.time_left(), recording).await;
    recorded.unwrap_or(Err(RecordError::Budget(BudgetError::Wall(budget.wall.as_secs()))))
}

async fn record_cases(
    contract: &Contract,
    target: &Target,
    budget: &Budget,
    wire: &Wire,
    redactor: &Redactor,
) -> Result<RecordingResult, RecordError> {
    let mut gateways_left = budget.gateways;
    if let Some(obstacle) = (Preflight { contract, target, wire, redactor }).reach().await {
        return Err(RecordError::Unreachable(obstacle.verdict, redactor.redact(&obstacle.reason)));
    }
    let mut recorded = RecordingResult { recording: Recording::default(), left_out: Vec::new() };
    for case in cases(contract, target) {
        match gateways_left.checked_sub(case.gateways * 2) {
            Some(left) => gateways_left = left,
            None => {
                recorded.left_out.push(case.name);
                continue;
            }
        }
        let sent = async { Ok((send(contract, wire, &case).await?, send(contract, wire, &case).await?)) };
        let (first, second) = match sent.await {
            Ok(both) => both,
            // What takes no gateway can go on.
            Err(RecordError::Budget(BudgetError::Gateways(_))) => {
                recorded.left_out.push(case.name);
                continue;
            }
            Err(error) => return Err(error),
        };
        let text = behaviour(&first, &second, redactor);
        recorded.recording.add(Entry { case: case.name, subject: case.subject.to_owned(), text });
    }
    Ok(recorded)
}

/// A shortage is a behaviour, being throttled is none.
async fn send(contract: &Contract, wire: &Wire, case: &Case) -> Result<Exchange, RecordError> {
    let cost = gateways::cost(contract, &case.request);
    let count = |exchange: &mut Exchange| gateways::count(contract, &case.request, &exchange.result);
    let name = format!("record/{}", case.name);
    let send = async |policy| wire.send(&name, &case.request, cost, policy, count).await;
    let throttled =
        |exchange: &Exchange| exchange.result.as_ref().is_ok_and(|response| response.status == 429);
    let sent = match send(ThrottlingPolicy::FirstResponse).await {
        Ok(exchange) if throttled(&exchange) => send(ThrottlingPolicy::WaitOut).await,
        sent => sent,
    };
    sent.map_err(|error| match error {
        WireError::Budget(exhausted) => RecordError::Budget(exhausted),
        WireError::Setup(_) => RecordError::Setup(error.into()),
    })
}
