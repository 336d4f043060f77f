//! Requests without a token that the service knows.

use crate::check::{Probe, Stop};
use crate::target::Secret;
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
    probe.refuses(clause, "the token is unknown", good, &unknown).await?;
    let others = [
        ("the last character of the token is missing", shortened(probe.token())),
        ("there is one more character behind the token", lengthened(probe.token())),
        ("the last character of the token is another", altered(probe.token())),
    ];
    for (why, other) in others {
        let is_another_token = probe.facts().secrets().any(|secret| secret.expose() == other);
        if !other.is_empty() && !is_another_token {
            let bad = good.clone().query(name, other);
            probe.refuses(clause, why, good, &bad).await?;
        }
    }
    Ok(())
}

/// The token with another last character, one that tokens hardly have.
pub(super) fn altered(token: &Secret) -> String {
    shortened(token) + "~"
}

fn lengthened(token: &Secret) -> String {
    format!("{}~", token.expose())
}

/// The redactor knows this form as well.
fn shortened(token: &Secret) -> String {
    token.without_last_character().to_owned()
}
