//! What differs from a valid request.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use serde_json::Value as Json;

use super::text::body;
use crate::check::{Probe, Stop};
use crate::checks::extract::access::claiming;
use crate::checks::extraction::{Place, Transport};
use crate::checks::requests::padded;
use crate::checks::search::addresses::items;
use crate::checks::token::{WrongToken, is_valid};
use crate::contract::part::{IPS, PAGE, PAGE_SIZE};
use crate::contract::{Contract, OperationId};
use crate::response::operation_of;
use crate::target::{Fact, Facts, RejectionReason};
use crate::wire::Request;

/// A difference from a valid request.
#[derive(Clone)]
pub(crate) enum Edit {
    /// A query parameter, or a member of the body of a search.
    Set(&'static str, Value),
    Drop(&'static str),
    /// A query parameter once more, beside the first.
    Add(&'static str, Value),
    /// Another credential in place of the token.
    By(Credential),
    /// A credential in one more place.
    Token(Transport, Credential),
    /// The token once more in the query.
    AddToken(Credential),
    NoToken,
    /// A request id. Those of one number are the same in a case, and new ones in each case.
    Id(Place, usize),
    /// An address that the caller claims, in this header.
    Claim(&'static str, &'static str),
    /// The media type and the text of the body, in the notation of rows as text, and how often it is repeated.
    Body(&'static str, &'static str, usize),
    /// `ips` as an expression of [`items`].
    Items(&'static str),
    /// What no other edit says.
    With(Arc<ChangeFn>),
}

type ChangeFn = dyn Fn(&Probe<'_>, Request) -> Result<Request, Stop> + Send + Sync;

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Json(Json),
    /// What follows from facts.
    Of(fn(&Facts) -> Json),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Credential {
    Own,
    Wrong(WrongToken),
    /// One that the tester supplied, by its place where these are a list.
    Supplied(Fact, usize),
}

/// The request ids of a case.
#[derive(Debug, Default)]
pub(crate) struct Ids([OnceLock<String>; 16]);

/// A change that no other edit says.
pub(crate) fn with(
    change: impl Fn(&Probe<'_>, Request) -> Result<Request, Stop> + Send + Sync + 'static,
) -> Edit {
    Edit::With(Arc::new(change))
}

/// Whether the fact is a token that is valid and may not extract.
pub(super) const fn is_of_valid_token(fact: Fact) -> bool {
    matches!(
        fact,
        Fact::TokenNotWhitelisted | Fact::TokenNotVerified | Fact::TokenNotEntitled | Fact::RejectedTokens
    )
}

impl Ids {
    fn id(&self, probe: &Probe<'_>, number: usize) -> &str {
        self.0[number].get_or_init(|| probe.fresh_request_id())
    }
}

/// The query parameter with the token of the operation that a request is for.
pub(crate) fn token_parameter<'a>(contract: &'a Contract, request: &Request) -> &'a str {
    let operation = operation_of(contract, request).unwrap_or(OperationId::Extract);
    &contract.operation(operation).api_key.name
}

impl Edit {
    /// The request with a difference that depends on contract and facts alone.
    pub(super) fn change(&self, contract: &Contract, facts: &Facts, request: Request) -> Request {
        let is_search = operation_of(contract, &request) == Some(OperationId::Search);
        match self {
            Self::Set(part, value) if is_search => match value.json(facts) {
                Json::Array(items) if *part == IPS => request.field(part, padded(&contract.search, items)),
                value => request.field(part, value),
            },
            Self::Set(part, value) => request.query(part, value.text(facts)),
            Self::Drop(part) if is_search => request.without_field(part),
            Self::Drop(part) => request.without_query(part),
            Self::Add(part, value) => request.add_query(part, value.text(facts)),
            Self::Body(media, text, times) => {
                let bytes = request.body_bytes().unwrap_or_default();
                let text = body(text, &String::from_utf8_lossy(&bytes), contract);
                request.body(media, text.repeat(*times))
            }
            Self::Items(expression) => {
                let members = request.body_members();
                let valid = members.as_ref().and_then(|members| members.get(IPS)?.as_array());
                let valid = valid.map_or(&[][..], Vec::as_slice);
                let items = items(&contract.search, facts, valid, expression).unwrap_or_default();
                request.field(IPS, padded(&contract.search, items))
            }
            Self::Claim(header, address) => claiming(request, header, address),
            Self::By(_)
            | Self::Token(..)
            | Self::AddToken(_)
            | Self::NoToken
            | Self::Id(..)
            | Self::With(_) => request,
        }
    }

    /// Whether the difference depends on more than that.
    pub(super) fn needs_probe(&self) -> bool {
        matches!(
            self,
            Self::By(_) | Self::Token(..) | Self::AddToken(_) | Self::NoToken | Self::Id(..) | Self::With(_)
        )
    }

    pub(super) fn apply(&self, probe: &Probe<'_>, ids: &Ids, request: Request) -> Result<Request, Stop> {
        let contract = probe.contract();
        let key = token_parameter(contract, &request);
        Ok(match self {
            Self::Set(..)
            | Self::Drop(_)
            | Self::Add(..)
            | Self::Claim(..)
            | Self::Body(..)
            | Self::Items(_) => self.change(contract, probe.facts(), request),
            Self::By(credential) => {
                let text = credential.text(probe)?;
                match transport_of(contract, &request) {
                    Transport::Query => request.query(key, text),
                    other => other.carry(probe, request, &text),
                }
            }
            Self::Token(transport, credential) => {
                let text = credential.text(probe)?;
                if text == probe.token().expose() && !matches!(credential, Credential::Own) {
                    return Err(probe.skip("the other value is the token itself"));
                }
                transport.carry(probe, request, &text)
            }
            Self::AddToken(credential) => request.add_query(key, credential.text(probe)?),
            Self::NoToken => {
                let request = request.without_query(key).without_header("Authorization");
                request.without_header(&contract.extract.api_key_header)
            }
            Self::Id(place, number) => place.carry(request, ids.id(probe, *number)),
            Self::With(change) => change(probe, request)?,
        })
    }
}

impl Credential {
    /// The credential as it is sent. Skips the case without one of that kind.
    pub(crate) fn text(self, probe: &Probe<'_>) -> Result<String, Stop> {
        Ok(match self {
            Self::Own => probe.token().expose().to_owned(),
            Self::Wrong(wrong) => wrong.text(probe)?,
            Self::Supplied(fact, index) => probe.secret(fact, index)?.expose().to_owned(),
        })
    }

    /// Shows that a token which must be rejected for its account is valid by itself. Skips when it is not.
    pub(super) async fn proves_valid(self, probe: &Probe<'_>) -> Result<(), Stop> {
        let Self::Supplied(fact, index) = self else { return Ok(()) };
        let rejected = probe.facts().rejected_tokens.get(index).filter(|_| fact == Fact::RejectedTokens);
        let is_revoked = rejected.is_some_and(|rejected| rejected.reason == RejectionReason::Revoked);
        if !is_of_valid_token(fact) || is_revoked {
            return Ok(());
        }
        is_valid(probe, probe.secret(fact, index)?, fact).await
    }
}

fn transport_of(contract: &Contract, request: &Request) -> Transport {
    let has = |wanted: &str| request.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    match () {
        () if has("Authorization") => Transport::Bearer,
        () if has(&contract.extract.api_key_header) => Transport::Header,
        () => Transport::Query,
    }
}

pub(super) fn range(contract: &Contract, part: &str) -> RangeInclusive<i64> {
    match part {
        PAGE => contract.search.pages.clone(),
        PAGE_SIZE => contract.search.page_sizes.clone(),
        _ => contract.extract.range(part),
    }
}

/// A text of this many bytes: one character repeated, and hyphens for the rest.
pub(crate) fn of_bytes(character: char, bytes: usize) -> String {
    let mut text = character.to_string().repeat(bytes / character.len_utf8());
    text.push_str(&"-".repeat(bytes % character.len_utf8()));
    text
}

impl Value {
    fn json(&self, facts: &Facts) -> Json {
        match self {
            Self::Json(value) => value.clone(),
            Self::Of(value) => value(facts),
        }
    }

    pub(crate) fn text(&self, facts: &Facts) -> String {
        match self.json(facts) {
            Json::String(text) => text,
            other => other.to_string(),
        }
    }
}

pub(super) const JSON: &str = "application/json";
