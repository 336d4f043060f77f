//! Recordings of how an environment behaves in each case, unspecified behaviour included. A recording holds no secret and
//! no value that changes by itself, so that two of them can be compared.

mod behaviour;
mod cases;
mod recording;

pub use recording::{Entry, Recording};

use behaviour::behaviour;
use cases::{Case, cases};

use crate::contract::Contract;
use crate::run::{Options, Session, SessionError};
use crate::target::Target;
use crate::wire::{Budget, BudgetError, Exchange, ThrottlingPolicy};

/// Records how a target behaves. Each case is sent twice, to tell what holds still. With the recording come the names of the cases that
/// were left out because they would take more gateways than are left. Of the options it uses `budget` and `wire`.
///
/// # Errors
/// When the target can't be reached or a ceiling is.
pub async fn record(
    contract: &Contract,
    target: &Target,
    options: &Options,
) -> Result<(Recording, Vec<String>), SessionError> {
    let (session, budget) = (Session::begin(contract, target, options, false).await?, &options.budget);
    let recorded = tokio::time::timeout(session.meter.time_left(), record_cases(&session, budget)).await;
    // An incomplete recording is discarded.
    recorded.unwrap_or(Err(SessionError::Budget(BudgetError::Wall(budget.wall.as_secs()))))
}

async fn record_cases(
    session: &Session<'_>,
    budget: &Budget,
) -> Result<(Recording, Vec<String>), SessionError> {
    let mut gateways_left = budget.gateways;
    let (mut recording, mut left_out) = (Recording::default(), Vec::new());
    for case in cases(session.contract, session.target) {
        let Some(left) = gateways_left.checked_sub(case.gateways * 2) else {
            left_out.push(case.name);
            continue;
        };
        gateways_left = left;
        let sent = async { Ok((send(session, &case).await?, send(session, &case).await?)) };
        let sent = sent.await;
        if let Err(SessionError::Budget(BudgetError::Gateways(_))) = sent {
            // What takes no gateway can go on.
            left_out.push(case.name);
            continue;
        }
        let (first, second) = sent?;
        let text = behaviour(&first, &second, &session.redactor);
        let entry = Entry { subject: case.subject.to_owned(), text };
        recording.entries.insert(case.name, entry);
    }
    Ok((recording, left_out))
}

/// A shortage is a behaviour, being throttled is none.
async fn send(session: &Session<'_>, case: &Case) -> Result<Exchange, SessionError> {
    let name = format!("record/{}", case.name);
    let sent = session.send(&name, &case.request, ThrottlingPolicy::FirstResponse).await?;
    let is_throttled = sent.result.as_ref().is_ok_and(|response| response.status == 429);
    Ok(if is_throttled { session.send(&name, &case.request, ThrottlingPolicy::WaitOut).await? } else { sent })
}
