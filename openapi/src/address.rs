//! Addresses as a search names them: `IPv4`, `IPv6`, `IPv4:port` or `[IPv6]:port` (`search.ips-item`).
//!
//! The grammar is that of [`std::net`], parsed strictly. Unspecified behaviour is decided as follows:
//! - an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is the IPv4 address; an IPv4-compatible one (`::192.0.2.1`) is
//!   IPv6 like any other;
//! - `[IPv6]` without a port is rejected;
//! - leading zeros, signs and spaces are rejected, in addresses and in ports.

use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    ops::RangeInclusive,
};

use serde::{Deserialize, Deserializer, de::Error};

use crate::table::plain_integer;

/// An address with an optional port. Two spellings of one address are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The address, never IPv4-mapped IPv6.
    pub ip: IpAddr,
    /// The port; `None` stands for every port.
    pub port: Option<u16>,
}

/// Why a text is not an [`Address`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {}", self.expected())]
pub enum AddressError {
    /// The text is empty.
    Empty,
    /// The text is a network, not an address.
    Network,
    /// The address has a zone identifier.
    Zone,
    /// Brackets without a port.
    BracketsWithoutPort,
    /// The port is not a plain decimal number, or out of range.
    Port {
        /// Lowest port.
        min: u16,
        /// Highest port.
        max: u16,
    },
    /// None of the forms.
    Form,
}

impl AddressError {
    /// What was expected.
    #[must_use]
    pub fn expected(&self) -> Cow<'static, str> {
        match self {
            Self::Empty => "an IP address".into(),
            Self::Network => "a single address without `/`".into(),
            Self::Zone => "an address without zone identifier".into(),
            Self::BracketsWithoutPort => "`:port` after the brackets, or no brackets".into(),
            Self::Port { min, max } => {
                format!("a port from {min} to {max}, in digits without leading zeros").into()
            }
            Self::Form => "a complete IPv4 or IPv6 address, `IPv4:port` or `[IPv6]:port`".into(),
        }
    }
}

impl Address {
    /// Parses an address whose port, if any, must be in `ports`.
    ///
    /// # Errors
    /// Says what is wrong with the text, without quoting it.
    pub fn parse(text: &str, ports: &RangeInclusive<u16>) -> Result<Self, AddressError> {
        if text.is_empty() {
            return Err(AddressError::Empty);
        }
        if text.contains('/') {
            return Err(AddressError::Network);
        }
        if text.contains('%') {
            return Err(AddressError::Zone);
        }
        if let Some(rest) = text.strip_prefix('[') {
            let (ip, port) = rest.split_once(']').ok_or(AddressError::Form)?;
            let ip: Ipv6Addr = ip.parse().map_err(|_| AddressError::Form)?;
            if port.is_empty() {
                return Err(AddressError::BracketsWithoutPort);
            }
            let port = parse_port(port.strip_prefix(':').ok_or(AddressError::Form)?, ports)?;
            return Ok(Self { ip: ip.to_canonical(), port: Some(port) });
        }
        let (ip, port) = text.split_once(':').map_or((text, None), |(ip, port)| (ip, Some(port)));
        if port.is_some_and(|port| port.contains(':')) {
            let ip: Ipv6Addr = text.parse().map_err(|_| AddressError::Form)?;
            return Ok(Self { ip: ip.to_canonical(), port: None });
        }
        let ip: Ipv4Addr = ip.parse().map_err(|_| AddressError::Form)?;
        let port = port.map(|port| parse_port(port, ports)).transpose()?;
        Ok(Self { ip: ip.into(), port })
    }

    /// The ports that it stands for; an instance without one has port 0.
    #[must_use]
    pub fn ports(&self) -> RangeInclusive<u16> {
        self.port.map_or(0..=u16::MAX, |port| port..=port)
    }
}

/// Hashes address and port in a single write, because duplicates are removed from batches of thousands. An IPv4 address is hashed
/// in its mapped form, which no [`Address`] has.
impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ip = match self.ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        let port = self.port.map_or(u32::MAX, u32::from);
        let mut bytes = [0; 20];
        let (first, last) = bytes.split_at_mut(16);
        first.copy_from_slice(&ip.octets());
        last.copy_from_slice(&port.to_ne_bytes());
        state.write(&bytes);
    }
}

/// With any port, because the document's limits are checked before.
impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Cow::<str>::deserialize(deserializer)?, &(0..=u16::MAX)).map_err(D::Error::custom)
    }
}

/// Writes the canonical spelling, which [`Address::parse`] accepts.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ip, self.port) {
            (ip, None) => write!(f, "{ip}"),
            (IpAddr::V4(ip), Some(port)) => write!(f, "{ip}:{port}"),
            (IpAddr::V6(ip), Some(port)) => write!(f, "[{ip}]:{port}"),
        }
    }
}

fn parse_port(text: &str, ports: &RangeInclusive<u16>) -> Result<u16, AddressError> {
    let port = plain_integer(text).and_then(|port| port.try_into().ok());
    port.filter(|port| ports.contains(port))
        .ok_or(AddressError::Port { min: *ports.start(), max: *ports.end() })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    const PORTS: RangeInclusive<u16> = 1..=u16::MAX;

    fn parse(text: &str) -> Result<Address, AddressError> {
        Address::parse(text, &PORTS)
    }

    #[test]
    fn each_text_is_an_address_or_an_error() {
        for row in include_str!("addresses.txt").lines().skip(1) {
            let (text, expected) = row.split_once(" → ").unwrap();
            let text = [("\\n", "\n"), ("\\s", " "), ("\\e", "")]
                .iter()
                .fold(text.to_owned(), |text, (shown, sent)| text.replace(shown, sent));
            let found = match parse(&text) {
                Ok(address) => address.to_string(),
                Err(error) => format!("{error:?}").split(' ').next().unwrap().to_owned(),
            };
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!(parse("192.0.2.1:0"), Err(AddressError::Port { min: 1, max: u16::MAX }));
    }

    #[test]
    fn spellings_of_one_address_are_equal_and_hash_alike() {
        let mapped = ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201"].map(|text| parse(text).unwrap());
        assert_eq!(HashSet::from(mapped).len(), 1);
        assert_ne!(parse("::192.0.2.1"), parse("192.0.2.1"));
    }

    proptest! {
        #[test]
        fn printing_and_parsing_agree(ip: IpAddr, port in proptest::option::of(PORTS)) {
            let address = Address { ip: ip.to_canonical(), port };
            prop_assert_eq!(parse(&address.to_string()), Ok(address));
        }
    }
}
