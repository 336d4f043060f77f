//! Extraction: commands, the data that the storage returns for them, and results.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    access::Account,
    protocol::Protocol,
    rejection::Rejection,
    token::{Token, TokenDigest},
};

/// Time to wait after a shortage before the next attempt (`extract.shortage-retry-after`).
pub const SHORTAGE_RETRY_AFTER: Duration = Duration::from_secs(2);

/// Where gateways are taken from. Codes are compared letter by letter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Region {
    /// Every region together.
    Everywhere,
    /// One region, by its code.
    Only(String),
}

/// One extraction as a caller asks for it.
#[derive(Clone, Debug)]
pub struct ExtractCommand {
    /// The caller's token.
    pub token: Token,
    /// The real source address of the request; `None` when it is not IPv4.
    pub caller_ip: Option<Ipv4Addr>,
    /// What is asked for.
    pub parameters: Parameters,
    /// The idempotency number, if the caller sent one. Numbers belong to the account, not to the token.
    pub request_id: Option<String>,
}

/// What an extraction is about. Two requests with one id are the same extraction when these are equal; the form of the
/// response is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// How many gateways are asked for.
    pub count: u32,
    /// Where they are taken from.
    pub region: Region,
    /// What they speak.
    pub protocol: Protocol,
}

/// A gateway as its user sees it (contract 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Endpoint {
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// The result of an extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extraction {
    /// The gateways, at least one and at most [`requested`](Self::requested).
    pub endpoints: Vec<Endpoint>,
    /// How many were asked for.
    pub requested: u32,
    /// The caller's address, which was found in the whitelist.
    pub caller_ip: Ipv4Addr,
}

impl Extraction {
    /// How many gateways there are.
    #[must_use]
    pub fn returned(&self) -> u32 {
        u32::try_from(self.endpoints.len()).unwrap_or(u32::MAX)
    }

    /// Whether there are fewer gateways than were asked for (`extract.partial`).
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.returned() < self.requested
    }
}

/// What the storage is asked for an extraction.
#[derive(Clone, Debug)]
pub struct ExtractionQuery {
    /// The token's digest.
    pub digest: TokenDigest,
    /// The caller's address; `None` when it is not IPv4. Whitelist entries that cover it are always returned.
    pub caller_ip: Option<Ipv4Addr>,
    /// What is asked for.
    pub parameters: Parameters,
    /// Request id to look up among the account's stored extractions.
    pub request_id: Option<String>,
    /// Where in the order of gateways the choice begins; a new random number for each call spreads the load.
    pub pivot: i64,
    /// The time of the call.
    pub now: Timestamp,
}

/// What the storage returns for an extraction. It is not decided yet whether the account may have it.
#[derive(Clone, Debug)]
pub struct ExtractionData {
    /// The account.
    pub account: Arc<Account>,
    /// The extraction that is already stored under the request id.
    pub stored: Option<StoredExtraction>,
    /// Gateways that match, at most as many as asked for.
    pub candidates: Vec<Endpoint>,
}

/// An extraction that was made under a request id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredExtraction {
    /// What was asked for.
    pub parameters: Parameters,
    /// What was given.
    pub endpoints: Vec<Endpoint>,
}

impl StoredExtraction {
    /// The gateways, if they were given for the same `parameters` (`extract.idempotent`).
    ///
    /// # Errors
    /// Other parameters are rejected, since the result would not be what the caller asks for.
    pub fn repeat(self, parameters: &Parameters) -> Result<Vec<Endpoint>, Rejection> {
        if self.parameters == *parameters { Ok(self.endpoints) } else { Err(Rejection::RequestIdReused) }
    }
}
