//! Valid requests succeed, on which every other check depends.

use crate::check::{Probe, ResponseClass, Stop};
use crate::contract::Clause;
use crate::wire::Request;

/// Sends a valid request, and reports a response that is only half a success. A rejection may have reasons that the
/// suite can't know, such as a token that is no longer valid.
pub(super) async fn judge(probe: &Probe<'_>, clause: Clause, request: &Request) -> Result<(), Stop> {
    let (exchange, class) = probe.send(request).await?;
    match &class {
        ResponseClass::Accepted => Ok(()),
        ResponseClass::Ambiguous(what) => {
            probe.finding(clause, "the HTTP status and the code of a success together", what, &[&exchange]);
            Ok(())
        }
        rejected => {
            Err(probe.inconclusive(&format!("a valid request was rejected: {}", rejected.description())))
        }
    }
}
