//! Static instances and groups as the contract shows them (2.2, 2.3).

use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::named::named;

/// A positive identifier that SQL can hold: 1 to `i64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Id(i64);

impl Id {
    /// The identifier, if it is positive.
    #[must_use]
    pub const fn new(value: i64) -> Option<Self> {
        if value >= 1 { Some(Self(value)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl TryFrom<i64> for Id {
    type Error = String;

    fn try_from(value: i64) -> Result<Self, Self::Error> {
        Self::new(value).ok_or_else(|| format!("expected an identifier of 1 or more, found {value}"))
    }
}

impl From<Id> for i64 {
    fn from(id: Id) -> Self {
        id.0
    }
}

/// A custom group of static instances (contract 2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Identifier, unique among all groups.
    pub id: Id,
    /// Name given by the account's owner.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// State of a static instance (`search.status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Being set up.
    Provisioning,
    /// In use.
    Active,
    /// Past its term.
    Expired,
    /// Given back.
    Cancelled,
    /// Could not be set up.
    Failed,
}

named!(Status {
    Provisioning = "provisioning",
    Active = "active",
    Expired = "expired",
    Cancelled = "cancelled",
    Failed = "failed"
});

/// A static instance of one account (contract 2.3).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is named and described in the contract, 2.3")]
pub struct Instance {
    pub id: Id,
    pub offer_id: Id,
    pub status: Status,
    pub ip: IpAddr,
    pub port: u16,
    pub protocols: Vec<String>,
    pub country_code: String,
    pub city_code: String,
    pub isp_type: u32,
    pub expires_at: Option<Timestamp>,
    pub activated_at: Option<Timestamp>,
    pub capabilities: Capabilities,
    pub group_id: Option<Id>,
}

/// What the source of an instance declares; perhaps nothing (`search.capabilities`). Declarations change no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is named and described in the contract, 2.3")]
pub struct Capabilities {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purchase: Option<TermRule>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew: Option<TermRule>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convert_trial: Option<TermRule>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_days: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_ip: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select_replacement: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_credentials: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_credentials: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_batch_size: Option<u32>,
}

/// Which terms, in days, may be bought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TermRule {
    /// Permitted terms. Takes precedence when it is not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_days: Option<Vec<u32>>,
    /// Shortest term.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_days: Option<u32>,
    /// Longest term; 0 means no upper limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_days: Option<u32>,
    /// Permitted step from the shortest term.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_days: Option<u32>,
}
