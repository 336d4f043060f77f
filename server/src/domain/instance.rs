//! Identifiers of groups, instances and tokens.

use serde::{Deserialize, Serialize};

/// A positive identifier that SQL can hold: 1 to `i64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Id(i64);

impl Id {
    /// The identifier, if it is positive.
    pub const fn new(value: i64) -> Option<Self> {
        if value >= 1 { Some(Self(value)) } else { None }
    }

    /// The number.
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
