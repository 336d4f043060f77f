//! How an environment behaves, case by case: what the contract says and what it leaves open. A recording holds no secret
//! and no value that changes by itself, so that two of them can be compared.

mod behaviour;
mod cases;
mod recording;

use std::sync::Arc;

pub use recording::{Difference, Entry, Recording, RecordingError};

use behaviour::behaviour;
use cases::{Case, cases};

use crate::contract::Contract;
use crate::run::{SetupError, preflight};
use crate::target::Target;
use crate::wire::{
    Budget, Exchange, Exhausted, Meter, Patience, Redactor, Took, Wire, WireError, WireOptions,
};

/// Why a target can't be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Our side can't be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Nobody answers.
    #[error("{0}")]
    Unreachable(String),
    /// A ceiling was reached; nothing is kept of half a recording.
    #[error(transparent)]
    Budget(#[from] Exhausted),
}

/// A recording, and the cases that were left out because they would take more gateways than are left.
#[derive(Debug)]
pub struct Recorded {
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
) -> Result<Recorded, RecordError> {
    let redactor = Redactor::new(target.secrets().cloned().chain(wire.secrets()));
    let mut gateways_left = budget.gateways;
    let meter = Arc::new(Meter::new(budget));
    let wire = Wire::new(target.base().clone(), wire, meter).map_err(SetupError::from)?;
    if let Some(reason) = preflight(contract, target, &wire).await {
        return Err(RecordError::Unreachable(redactor.redact(&reason)));
    }
    let mut recorded = Recorded { recording: Recording::default(), left_out: Vec::new() };
    for case in cases(contract, target) {
        match gateways_left.checked_sub(case.gateways * 2) {
            Some(left) => gateways_left = left,
            None => {
                recorded.left_out.push(case.name);
                continue;
            }
        }
        let first = send(&wire, &case).await?;
        let second = send(&wire, &case).await?;
        let text = behaviour(&first, &second, &redactor);
        recorded.recording.add(Entry { case: case.name, subject: case.subject, text });
    }
    Ok(recorded)
}

/// Gateways come with a success only, and that has its status.
fn took(exchange: &mut Exchange) -> Took {
    match &exchange.result {
        Ok(answer) if !(200..300).contains(&answer.status) => Took::Nothing,
        _ => Took::Gateways,
    }
}

/// A shortage is a behaviour, being throttled is none.
async fn send(wire: &Wire, case: &Case) -> Result<Exchange, RecordError> {
    let send = async |patience| wire.send(&case.request, case.gateways, patience, took).await;
    let throttled = |exchange: &Exchange| exchange.result.as_ref().is_ok_and(|answer| answer.status == 429);
    let sent = match send(Patience::FirstAnswer).await {
        Ok(exchange) if throttled(&exchange) => send(Patience::WaitOut).await,
        sent => sent,
    };
    sent.map_err(|error| match error {
        WireError::Budget(exhausted) => RecordError::Budget(exhausted),
        WireError::Setup(_) => RecordError::Setup(error.into()),
    })
}
