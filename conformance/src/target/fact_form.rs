//! How facts are read, and how the configuration writes them.

use std::net::Ipv4Addr;

use super::{GatewayPool, KnownInstance, KnownOrder, RejectedToken, Secret};

/// Where a fact is read from: an environment variable or an entry of the configuration. There is a method for each type in the
/// table of facts.
pub(crate) trait Source {
    /// Names the source and what was expected.
    type Error;

    fn text(&self) -> Result<String, Self::Error>;

    fn texts(&self) -> Result<Vec<String>, Self::Error>;

    /// From 1.
    fn integer(&self) -> Result<i64, Self::Error>;

    /// Each from 1.
    fn integers(&self) -> Result<Vec<i64>, Self::Error>;

    fn ip(&self) -> Result<Ipv4Addr, Self::Error>;

    fn orders(&self) -> Result<Vec<KnownOrder>, Self::Error>;

    fn gateway_pools(&self) -> Result<Vec<GatewayPool>, Self::Error>;

    /// The instances of a file.
    fn instances(&self) -> Result<Vec<KnownInstance>, Self::Error>;

    fn rejected_tokens(&self) -> Result<Vec<RejectedToken>, Self::Error>;

    fn secret(&self) -> Result<Secret, Self::Error>;

    fn secrets(&self) -> Result<Vec<Secret>, Self::Error>;
}

/// A single value of a fact, or an item of a list.
pub(crate) trait FactItem {
    fn secret(&self) -> Option<&Secret> {
        None
    }
}

impl FactItem for String {}

impl FactItem for i64 {}

impl FactItem for Ipv4Addr {}

impl FactItem for KnownOrder {}

impl FactItem for GatewayPool {}

impl FactItem for KnownInstance {}

impl FactItem for RejectedToken {
    fn secret(&self) -> Option<&Secret> {
        Some(&self.token)
    }
}

impl FactItem for Secret {
    fn secret(&self) -> Option<&Secret> {
        Some(self)
    }
}

/// A TOML string. It is that of JSON, but for one control character.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', r"\u007f")
}
