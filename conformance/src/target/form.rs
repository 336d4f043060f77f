//! The forms in which facts are supplied, and how each is read.

use std::net::Ipv4Addr;

use super::{GatewayPool, HeldOrder, Secret};

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
    fn orders(&self) -> Result<Vec<HeldOrder>, Self::Error>;

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
    fn secrets(&self) -> &[Secret] {
        &[]
    }
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
    HeldOrder: orders;
    GatewayPool: gateway_pools;
}

impl Form for Option<Secret> {
    fn read<S: Source>(source: &S, variable: &'static str) -> Result<Self, S::Error> {
        Ok(Some(Secret::new(variable, source.secret()?)))
    }

    fn is_supplied(&self) -> bool {
        self.is_some()
    }

    fn secrets(&self) -> &[Secret] {
        self.as_slice()
    }
}

impl Form for Vec<Secret> {
    fn read<S: Source>(source: &S, variable: &'static str) -> Result<Self, S::Error> {
        Ok(source.secrets()?.into_iter().map(|text| Secret::new(variable, text)).collect())
    }

    fn is_supplied(&self) -> bool {
        !self.is_empty()
    }

    fn secrets(&self) -> &[Secret] {
        self
    }
}
