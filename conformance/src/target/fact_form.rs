//! The forms in which facts are supplied, and how each is read.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use super::{GatewayPool, KnownInstance, KnownOrder, RejectedToken, Secret};

/// Where a fact is read from: a variable of the environment, or an entry of the configuration.
pub(crate) trait Source {
    /// Says what was expected.
    type Error;

    /// One text.
    fn text(&self) -> Result<String, Self::Error>;

    /// A whole number from 1.
    fn integer(&self) -> Result<i64, Self::Error>;

    /// An IPv4 address.
    fn ip(&self) -> Result<Ipv4Addr, Self::Error>;

    /// Texts, such as addresses.
    fn texts(&self) -> Result<Vec<String>, Self::Error>;

    /// Orders with their addresses.
    fn orders(&self) -> Result<Vec<KnownOrder>, Self::Error>;

    /// Whole numbers from 1.
    fn integers(&self) -> Result<Vec<i64>, Self::Error>;

    /// The instances of a file.
    fn instances(&self) -> Result<Vec<KnownInstance>, Self::Error>;

    /// Credentials with the reasons for which they are rejected; `variable` names them in reports.
    fn rejected_tokens(&self, variable: &'static str) -> Result<Vec<RejectedToken>, Self::Error>;

    /// Gateways by region and protocol.
    fn gateway_pools(&self) -> Result<Vec<GatewayPool>, Self::Error>;

    /// A text that reports must not show.
    fn secret(&self) -> Result<String, Self::Error>;

    /// Texts that reports must not show.
    fn secrets(&self) -> Result<Vec<String>, Self::Error>;
}

/// The type of a fact's value.
pub(crate) trait Form: Sized {
    /// Reads it; `variable` names secrets in reports.
    fn read<S: Source>(source: &S, variable: &'static str) -> Result<Self, S::Error>;

    /// Whether there is a value.
    fn is_supplied(&self) -> bool;

    /// What of it reports must not show.
    fn secrets(&self) -> Vec<&Secret> {
        Vec::new()
    }

    /// The value as the configuration writes it; none for one that has no place there.
    fn toml(&self) -> Option<String> {
        None
    }
}

/// A value that the configuration can hold.
trait Toml {
    fn toml(&self) -> String;
}

impl Toml for String {
    fn toml(&self) -> String {
        quoted(self)
    }
}

impl Toml for i64 {
    fn toml(&self) -> String {
        self.to_string()
    }
}

impl Toml for Ipv4Addr {
    fn toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl<T: Toml> Toml for [T] {
    fn toml(&self) -> String {
        format!("[{}]", self.iter().map(Toml::toml).collect::<Vec<_>>().join(", "))
    }
}

impl Toml for KnownOrder {
    fn toml(&self) -> String {
        format!("{{ number = {}, addresses = {} }}", quoted(&self.number), self.addresses.as_slice().toml())
    }
}

impl Toml for GatewayPool {
    fn toml(&self) -> String {
        let gateways: Vec<_> = self.gateways.iter().map(ToString::to_string).collect();
        format!(
            "{{ region = {}, protocol = {}, gateways = {} }}",
            quoted(&self.region),
            quoted(&self.protocol),
            gateways.as_slice().toml()
        )
    }
}

/// A TOML string.
#[must_use]
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

/// A value that may be missing.
macro_rules! optional {
    ($($type:ty: $read:ident;)+) => {$(
        impl Form for Option<$type> {
            fn read<S: Source>(source: &S, _: &'static str) -> Result<Self, S::Error> {
                source.$read().map(Some)
            }

            fn is_supplied(&self) -> bool {
                self.is_some()
            }

            fn toml(&self) -> Option<String> {
                self.as_ref().map(Toml::toml)
            }
        }
    )+};
}

/// Values, of which there may be none.
macro_rules! list {
    ($($type:ty: $read:ident;)+) => {$(
        impl Form for Vec<$type> {
            fn read<S: Source>(source: &S, _: &'static str) -> Result<Self, S::Error> {
                source.$read()
            }

            fn is_supplied(&self) -> bool {
                !self.is_empty()
            }

            fn toml(&self) -> Option<String> {
                (!self.is_empty()).then(|| self.as_slice().toml())
            }
        }
    )+};
}

optional! {
    String: text;
    i64: integer;
    Ipv4Addr: ip;
}

list! {
    String: texts;
    i64: integers;
    KnownOrder: orders;
    GatewayPool: gateway_pools;
}

impl Form for Vec<KnownInstance> {
    fn read<S: Source>(source: &S, _: &'static str) -> Result<Self, S::Error> {
        source.instances()
    }

    fn is_supplied(&self) -> bool {
        !self.is_empty()
    }
}

impl Form for Vec<RejectedToken> {
    fn read<S: Source>(source: &S, variable: &'static str) -> Result<Self, S::Error> {
        source.rejected_tokens(variable)
    }

    fn is_supplied(&self) -> bool {
        !self.is_empty()
    }

    fn secrets(&self) -> Vec<&Secret> {
        self.iter().map(|rejected| &rejected.token).collect()
    }
}

impl Form for Option<Secret> {
    fn read<S: Source>(source: &S, variable: &'static str) -> Result<Self, S::Error> {
        Ok(Some(Secret::new(variable, source.secret()?)))
    }

    fn is_supplied(&self) -> bool {
        self.is_some()
    }

    fn secrets(&self) -> Vec<&Secret> {
        self.iter().collect()
    }
}

impl Form for Vec<Secret> {
    fn read<S: Source>(source: &S, variable: &'static str) -> Result<Self, S::Error> {
        Ok(source.secrets()?.into_iter().map(|text| Secret::new(variable, text)).collect())
    }

    fn is_supplied(&self) -> bool {
        !self.is_empty()
    }

    fn secrets(&self) -> Vec<&Secret> {
        self.iter().collect()
    }
}
