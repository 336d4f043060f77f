//! Identifiers of groups, instances and tokens.

use serde::Serialize;

/// A positive identifier that SQL can hold: 1 to `i64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
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
