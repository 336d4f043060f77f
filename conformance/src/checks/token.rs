//! Requests without a token that the service knows.

use crate::check::{Probe, Stop};
use crate::contract::Clause;
use crate::target::Secret;
use crate::wire::Request;

/// A token that no account has.
pub(super) const UNKNOWN: &str = "sallyport-unknown-token-0000000000000000";

/// Shows that a request is refused without its token, and with each of [`wrong`].
pub(super) async fn required(
    probe: &Probe<'_>,
    clause: Clause,
    good: &Request,
    name: &str,
) -> Result<(), Stop> {
    let without = good.clone().without_query(name);
    probe.rejects_after_control(clause, "the token is absent", good, &without).await?;
    for (why, token) in wrong(probe) {
        probe.rejects_after_control(clause, why, good, &good.clone().query(name, token)).await?;
    }
    Ok(())
}

/// What no service may take for the token, and what is wrong with it: an empty one, an unknown one and near misses.
pub(super) fn wrong(probe: &Probe<'_>) -> Vec<(&'static str, String)> {
    let near = [
        ("the last character of the token is missing", shortened(probe.token())),
        ("there is one more character behind the token", lengthened(probe.token())),
        ("the last character of the token is another", altered(probe.token())),
    ];
    let is_a_token = |token: &str| probe.facts().secrets().any(|secret| secret.expose() == token);
    let near = near.into_iter().filter(|(_, token)| !token.is_empty() && !is_a_token(token));
    let plain = [("the token is empty", String::new()), ("the token is unknown", UNKNOWN.to_owned())];
    plain.into_iter().chain(near).collect()
}

/// Keeps the first reason for which an operation could not be judged, so that the others are judged all the same.
pub(super) fn set_aside(result: Result<(), Stop>, aside: &mut Option<Stop>) -> Result<(), Stop> {
    match result {
        Err(stop @ Stop::Inconclusive(_)) => {
            aside.get_or_insert(stop);
            Ok(())
        }
        other => other,
    }
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
