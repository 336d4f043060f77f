//! Requests without a token that the service knows.

use crate::check::{Probe, Stop};
use crate::wire::Request;

/// A token that no account has.
pub(super) const UNKNOWN: &str = "sallyport-unknown-token-0000000000000000";

/// Shows that a request is refused without its token, with an empty one and with an unknown one.
pub(super) async fn required(
    probe: &Probe<'_>,
    clause: &str,
    good: &Request,
    name: &str,
) -> Result<(), Stop> {
    let without = good.clone().without_query(name);
    probe.refuses(clause, "the token is absent", good, &without).await?;
    let empty = good.clone().query(name, "");
    probe.refuses(clause, "the token is empty", good, &empty).await?;
    let unknown = good.clone().query(name, UNKNOWN);
    probe.refuses(clause, "the token is unknown", good, &unknown).await
}
