//! How facts are read, and how the configuration writes them.

use std::fmt::Write as _;
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

/// The value of a fact: optional, or a list.
pub(crate) trait FactValue {
    fn is_supplied(&self) -> bool;

    fn secrets(&self) -> Vec<&Secret>;

    /// The value in the configuration; none if it is missing, secret or in a file of its own.
    fn toml(&self) -> Option<String>;
}

/// A single value, or an item of a list.
pub(crate) trait FactItem {
    fn secret(&self) -> Option<&Secret> {
        None
    }

    fn toml(&self) -> Option<String> {
        None
    }
}

impl<T: FactItem> FactValue for Option<T> {
    fn is_supplied(&self) -> bool {
        self.is_some()
    }

    fn secrets(&self) -> Vec<&Secret> {
        self.iter().filter_map(FactItem::secret).collect()
    }

    fn toml(&self) -> Option<String> {
        self.as_ref()?.toml()
    }
}

impl<T: FactItem> FactValue for Vec<T> {
    fn is_supplied(&self) -> bool {
        !self.is_empty()
    }

    fn secrets(&self) -> Vec<&Secret> {
        self.iter().filter_map(FactItem::secret).collect()
    }

    fn toml(&self) -> Option<String> {
        let items: Option<Vec<String>> = self.iter().map(FactItem::toml).collect();
        items.filter(|items| !items.is_empty()).map(|items| format!("[{}]", items.join(", ")))
    }
}

impl FactItem for String {
    fn toml(&self) -> Option<String> {
        Some(quoted(self))
    }
}

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

/// A TOML string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
