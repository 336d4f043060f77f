//! The one thing that every other check stands on.

use crate::check::{Probe, ResponseClass, Stop};
use crate::contract::Clause;
use crate::wire::Request;

/// Sends a request in order, and reports an answer that is a success in half only. A refusal may have reasons that the
/// suite can't know, such as a token that is no longer valid.
pub(super) async fn judge(probe: &Probe<'_>, clause: Clause, request: &Request) -> Result<(), Stop> {
    let (exchange, class) = probe.send(request).await?;
    match &class {
        ResponseClass::Accepted => Ok(()),
        ResponseClass::Ambiguous(what) => {
            probe.finding(clause, "the HTTP status and the code of a success together", what, &[&exchange]);
            Ok(())
        }
        refused => {
            Err(probe.inconclusive(&format!("a request in order was refused: {}", refused.description())))
        }
    }
}
