//! Extraction: what is asked, what the store knows about it, and the decision.

use std::{fmt, net::Ipv4Addr, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    refusal::Refusal,
    token::{Token, TokenDigest},
};

/// How long a caller waits after a shortage.
pub const SHORTAGE_RETRY_AFTER: Duration = Duration::from_secs(2);

/// Protocol that a gateway speaks (`extract.protocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP, with CONNECT for HTTPS targets.
    Http,
    /// SOCKS version 5.
    Socks5,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: [Self; 2] = [Self::Http, Self::Socks5];

    /// The protocol's name in storage and imports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Socks5 => "socks5",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
    /// The real source address of the call; `None` when it is not IPv4.
    pub caller_ip: Option<Ipv4Addr>,
    /// What is asked for.
    pub parameters: Parameters,
    /// The idempotency number, if the caller sent one. Numbers belong to the account, not to the token.
    pub request_id: Option<String>,
}

/// What an extraction is about. Two requests with one id are the same extraction when these are equal; the form of the
/// answer is not part of it.
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

/// The answer to an extraction.
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

/// What the store is asked to decide an extraction.
#[derive(Clone, Debug)]
pub struct ExtractionQuery {
    /// The token's digest.
    pub digest: TokenDigest,
    /// Address to look up in the account's whitelist, which cannot hold any other than IPv4.
    pub caller_ip: Option<Ipv4Addr>,
    /// What is asked for.
    pub parameters: Parameters,
    /// Request id to look up among the account's extractions.
    pub request_id: Option<String>,
    /// Where on the ring of gateways the choice begins; a new random number for each call spreads the load.
    pub pivot: i64,
    /// The time at which whitelist entries and entitlements must be valid.
    pub now: Timestamp,
}

/// What the store knows that bears on an extraction.
#[derive(Clone, Debug)]
pub struct ExtractionFacts {
    /// An enabled, unexpired whitelist entry holds the caller's address.
    pub whitelisted: bool,
    /// The account has passed real-name verification.
    pub verified: bool,
    /// The account has an unexpired entitlement for the protocol.
    pub entitled: bool,
    /// The extraction that the request id already stands for.
    pub earlier: Option<StoredExtraction>,
    /// Gateways that would serve, at most as many as asked for.
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

impl ExtractionFacts {
    /// Whether the account may extract with `protocol` from here (`extract.whitelist`, `extract.real-name`,
    /// `extract.entitlement`).
    ///
    /// # Errors
    /// Names the first condition that does not hold.
    pub fn admit(&self, protocol: Protocol) -> Result<(), Refusal> {
        if !self.whitelisted {
            return Err(Refusal::CallerNotWhitelisted);
        }
        if !self.verified {
            return Err(Refusal::AccountNotVerified);
        }
        if !self.entitled {
            return Err(Refusal::NotEntitled(protocol));
        }
        Ok(())
    }
}

impl StoredExtraction {
    /// The gateways, if they were given for the same `parameters` (`extract.idempotent`).
    ///
    /// # Errors
    /// Other parameters are refused, since the answer would not be what the caller asks for.
    pub fn repeat(self, parameters: &Parameters) -> Result<Vec<Endpoint>, Refusal> {
        if self.parameters == *parameters { Ok(self.endpoints) } else { Err(Refusal::RequestIdReused) }
    }
}
