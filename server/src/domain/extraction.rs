//! Extraction: the command, the data that the storage returns for it, and the result.

use std::{net::Ipv4Addr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Protocol, SmolStr, access::Account, rejection::Rejection, token::TokenDigest};

/// The regions to choose gateways from. Codes are case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Region {
    /// All regions.
    Everywhere,
    /// One region, by its code.
    Only(String),
}

/// What to extract. Two requests with the same id are the same extraction if these are equal; the form of the response does not
/// matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// Number of gateways.
    pub count: u32,
    /// The region of the gateways.
    pub region: Region,
    /// The protocol of the gateways.
    pub protocol: Protocol,
}

/// A gateway as callers see it (contract 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Endpoint {
    /// Host name or address.
    pub host: SmolStr,
    /// Port.
    pub port: u16,
}

/// The result of an extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extraction {
    /// The gateways, at least one and at most [`requested`](Self::requested).
    pub endpoints: Vec<Endpoint>,
    /// Number of gateways in the request.
    pub requested: u32,
    /// The caller's address, which was found in the whitelist.
    pub caller_ip: Ipv4Addr,
}

impl Extraction {
    /// Number of gateways in the result.
    pub fn returned(&self) -> u32 {
        u32::try_from(self.endpoints.len()).unwrap_or(u32::MAX)
    }

    /// Whether there are fewer gateways than requested (`extract.partial`).
    pub fn is_partial(&self) -> bool {
        self.returned() < self.requested
    }
}

/// An extraction request.
#[derive(Clone, Debug)]
pub struct ExtractionQuery {
    /// The digest of the caller's token.
    pub digest: TokenDigest,
    /// The real source address of the request; `None` when it is not IPv4. Whitelist entries that cover it are always found.
    pub caller_ip: Option<Ipv4Addr>,
    /// What to extract.
    pub parameters: Parameters,
    /// The idempotency key, if the caller sent one. It belongs to the account, not to the token.
    pub request_id: Option<String>,
}

/// What the storage returns for an extraction, before it is decided whether the account may extract.
#[derive(Clone, Debug)]
pub struct ExtractionData {
    /// The account.
    pub account: Arc<Account>,
    /// The extraction that is already stored under the request id.
    pub stored: Option<StoredExtraction>,
    /// Matching gateways, at most as many as requested.
    pub candidates: Vec<Endpoint>,
}

/// An extraction that was made under a request id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredExtraction {
    /// What was requested.
    pub parameters: Parameters,
    /// The gateways that were returned.
    pub endpoints: Vec<Endpoint>,
}

impl StoredExtraction {
    /// The gateways, if they were extracted with the same `parameters` (`extract.idempotent`).
    pub fn repeat(self, parameters: &Parameters) -> Result<Vec<Endpoint>, Rejection> {
        if self.parameters == *parameters { Ok(self.endpoints) } else { Err(Rejection::RequestIdReused) }
    }
}
