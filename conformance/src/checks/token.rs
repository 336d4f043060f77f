//! Tokens that no service may take for the account's.

use serde::Serialize;
use serde_json::Value;

use super::near::{Near, near};
use super::row::{Edit, token_parameter, with};
use crate::check::{Case, Cost, Probe, Stop};
use crate::contract::{Operation, OperationId};
use crate::target::{Fact, Secret};
use crate::wire::{Exchange, QuerySpelling, Request, percent_encoded};

/// A token that no service has issued.
pub(crate) const UNKNOWN: &str =
    "sallyport-unknown-token-0000000000000000-which-is-longer-than-tokens-usually-are";

/// A wrong token of `near.txt`, which is made from the account's.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct WrongToken {
    pub(super) label: &'static str,
    pub(super) reason: &'static str,
    #[serde(skip)]
    near: Near,
}

impl WrongToken {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        near("wrong token").filter_map(|near| {
            let (label, reason) = near.label.split_once(" | ")?;
            Some(Self { label, reason, near })
        })
    }

    /// The token to send, of which the redactor knows. Skips when none exists: some account has it, or the account's token has no letters.
    pub(super) fn text(self, probe: &Probe<'_>) -> Result<String, Stop> {
        let text = self.near.of(probe.token().expose());
        let mut known = std::iter::once(probe.token()).chain(probe.facts().secrets());
        let is_missing = text.is_empty() && self.label != "empty";
        if is_missing || known.any(|secret| secret.expose() == text) {
            return Err(probe.skip("no wrong token of this kind can be made from the account's token"));
        }
        Ok(text)
    }
}

/// The token under another name than its own, which is left out except where it is to be sent twice. None for other words.
pub(super) fn renamed(words: &str) -> Option<Edit> {
    Some(match words {
        "under its encoded name, too" => with(|probe, request| {
            let name = percent_encoded(token_parameter(probe.contract(), &request));
            Ok(request.raw_query(format!("{name}={}", percent_encoded(probe.token().expose()))))
        }),
        // The case of a query counts (RFC 3986, 6.2.2.1): this is another parameter.
        "under its name in capitals" => under(str::to_uppercase),
        "under its name as a list" => under(|name| format!("{name}[]")),
        "in the body" => with(|probe, request| {
            let name = token_parameter(probe.contract(), &request);
            Ok(request.without_query(name).field(name, probe.token().expose()))
        }),
        _ => return None,
    })
}

fn under(other: fn(&str) -> String) -> Edit {
    with(move |probe, request| {
        let name = token_parameter(probe.contract(), &request);
        Ok(request.without_query(name).add_query(&other(name), probe.token().expose()))
    })
}

/// A query parameter that no operation has.
const OTHER_PARAMETER: &str = "sallyport-other";

/// Percent-encoding every byte of a query (RFC 3986, 2.1) and parameters before the token do not change what the query means.
pub(super) fn other_spellings(operation: &Operation) -> Vec<Case> {
    vec![Case::for_data("written otherwise", Cost::requests(5), operation.id, accepts_other_spellings)]
}

async fn accepts_other_spellings(probe: &Probe<'_>, operation: OperationId) -> Result<(), Stop> {
    let clause = probe.contract().operation(operation).token_clause;
    let good = probe.valid(operation);
    let name = token_parameter(probe.contract(), &good);
    probe.control_once(&good).await?;
    let encoded = good.clone().spelling(QuerySpelling::Encoded);
    probe.accepts(clause, "each byte of the query is percent-encoded", &encoded).await?;
    // The service may reject unknown parameters.
    let between = good.clone().add_query(OTHER_PARAMETER, 1);
    if !probe.is_accepted(&between).await?.1 {
        return Ok(());
    }
    let token = good.query_value(name).unwrap_or_default().to_owned();
    let why = "the token is sent twice, with another parameter between";
    probe.rejects(clause, why, &between.add_query(name, &token)).await?;
    let after = good.clone().without_query(name).add_query(OTHER_PARAMETER, 1).add_query(name, token);
    probe.accepts(clause, "the token follows another parameter", &after).await?;
    Ok(())
}

/// A request with the token of another account in the query.
pub(super) fn by(probe: &Probe<'_>, account: Fact, request: &Request) -> Result<Request, Stop> {
    let name = token_parameter(probe.contract(), request);
    Ok(request.clone().query(name, probe.secret(account, 0)?.expose()))
}

/// The status and the code of a response.
pub(super) fn outline(exchange: &Exchange) -> Option<(u16, Option<Value>)> {
    let response = exchange.result.as_ref().ok()?;
    Some((response.status, response.at("/code").cloned()))
}

/// Whether two rejections have the same status and the same code.
pub(super) fn rejected_alike(one: &Exchange, other: &Exchange) -> bool {
    outline(one).is_some() && outline(one) == outline(other)
}

/// Shows what the rejection of a token is worth: that the token is valid. A success would be a violation in any case. List groups
/// accepts a valid token, or rejects it in another way than an unknown one. Passes when list groups accepts no token at all, since
/// nothing can be shown then.
pub(crate) async fn is_valid(probe: &Probe<'_>, token: &Secret, fact: Fact) -> Result<(), Stop> {
    let groups = |token: &str| probe.groups().query(&probe.contract().groups().api_key.name, token);
    let reason = match probe.control_once(&groups(token.expose())).await {
        Err(Stop::Inconclusive(reason)) => reason,
        other => return other,
    };
    if probe.control_once(&probe.groups()).await.is_err() {
        return Ok(());
    }
    let (supplied, _) = probe.send_once(&groups(token.expose())).await?;
    let (unknown, _) = probe.send_once(&groups(UNKNOWN)).await?;
    if !rejected_alike(&supplied, &unknown) {
        return Ok(());
    }
    // Which conditions static operations apply to a valid token is unspecified.
    Err(probe.skip(&format!(
        "list groups rejects the token like an unknown one, so a rejection shows nothing: either the token is \
         invalid (expected {fact}), or static operations apply the same condition: {reason}"
    )))
}
