use std::{
    borrow::Cow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use sallyport_contract::{
    address::{Address as Plain, AddressError},
    check::quoted,
};

use crate::{
    InvalidArgument,
    contract::{ADDRESS_CLAUSE, ADDRESS_PORT_CLAUSE, ADDRESS_PORTS},
    integer::to_i64,
};

/// An address to search for: `IP`, `IPv4:port` or `[IPv6]:port`. Without a port it matches every port.
///
/// Two spellings of one address are equal. An address is sent as it was written, because the contract lets services match
/// by the first text of an address (`open.addresses.spelling-match`), and displayed in its canonical spelling. Networks, zone
/// identifiers and fragments are rejected (`search.ips-item`).
///
/// Two forms that the contract leaves open are sent in one that every service accepts: `[IPv6]` without a port is sent
/// without the brackets (`open.addresses.brackets-without-port`), and an IPv4-mapped IPv6 address is the IPv4 address
/// (`open.addresses.ipv4-mapped`): `[::ffff:203.0.113.7]:80` is sent as `203.0.113.7:80`. An IPv4-compatible address
/// (`::203.0.113.7`) stays IPv6.
///
/// ```
/// use sallyport_client::Address;
///
/// let address: Address = "[2001:DB8::1]:8080".parse()?;
/// assert_eq!(address.to_string(), "[2001:db8::1]:8080");
/// assert_eq!(address.as_written(), "[2001:DB8::1]:8080");
/// assert_eq!(address.port(), Some(8080));
/// let mapped: Address = "::ffff:203.0.113.7".parse()?;
/// assert_eq!(mapped.as_written(), "203.0.113.7");
/// assert!("203.0.113.0/24".parse::<Address>().is_err());
/// # Ok::<(), sallyport_client::InvalidArgument>(())
/// ```
#[derive(Clone, Debug)]
pub struct Address {
    plain: Plain,
    /// The text as it is sent; `None` when it is the canonical spelling, which IPv4 addresses always have.
    written: Option<Box<str>>,
}

impl Address {
    /// The IP address, never an IPv4-mapped one.
    pub fn ip(&self) -> IpAddr {
        self.plain.ip
    }

    /// The port; `None` matches every port.
    pub fn port(&self) -> Option<u16> {
        self.plain.port
    }

    /// The text that is sent: as it was written, or the canonical spelling of an address that was not parsed from text or
    /// was IPv4-mapped.
    pub fn as_written(&self) -> Cow<'_, str> {
        match &self.written {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.to_string()),
        }
    }

    /// The address with a port from [`ADDRESS_PORTS`](crate::contract::ADDRESS_PORTS).
    ///
    /// # Errors
    /// [`InvalidArgument`] when the port is outside that range.
    pub fn with_port(ip: impl Into<IpAddr>, port: impl TryInto<i64>) -> Result<Self, InvalidArgument> {
        let (ip, number) = (ip.into().to_canonical(), to_i64(port));
        match u16::try_from(number) {
            Ok(port) if ADDRESS_PORTS.contains(&port) => {
                Ok(Self { plain: Plain { ip, port: Some(port) }, written: None })
            }
            _ => {
                let (min, max) = ADDRESS_PORTS.into_inner();
                Err(invalid(&AddressError::Port { min, max }, &number.to_string()))
            }
        }
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.plain == other.plain
    }
}

impl Eq for Address {}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.plain.hash(state);
    }
}

impl PartialOrd for Address {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Address {
    fn cmp(&self, other: &Self) -> Ordering {
        self.plain.cmp(&other.plain)
    }
}

impl FromStr for Address {
    type Err = InvalidArgument;

    fn from_str(text: &str) -> Result<Self, InvalidArgument> {
        let without_port = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let text = without_port.filter(|ip| ip.parse::<Ipv6Addr>().is_ok()).unwrap_or(text);
        let plain = Plain::parse(text, &ADDRESS_PORTS).map_err(|error| invalid(&error, text))?;
        let is_canonical = plain.ip.is_ipv4() || plain.to_string() == text;
        Ok(Self { plain, written: (!is_canonical).then(|| text.into()) })
    }
}

/// Writes the canonical spelling, which [`FromStr`] parses back.
impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plain.fmt(out)
    }
}

impl serde::Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.written {
            Some(text) => serializer.serialize_str(text),
            // Allocates no text.
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Address {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl TryFrom<&str> for Address {
    type Error = InvalidArgument;

    fn try_from(text: &str) -> Result<Self, InvalidArgument> {
        text.parse()
    }
}

impl TryFrom<String> for Address {
    type Error = InvalidArgument;

    fn try_from(text: String) -> Result<Self, InvalidArgument> {
        text.parse()
    }
}

impl TryFrom<&String> for Address {
    type Error = InvalidArgument;

    fn try_from(text: &String) -> Result<Self, InvalidArgument> {
        text.parse()
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Self { plain: Plain { ip: ip.to_canonical(), port: None }, written: None }
    }
}

impl From<Ipv6Addr> for Address {
    fn from(ip: Ipv6Addr) -> Self {
        Self::from(IpAddr::from(ip))
    }
}

impl From<&Address> for Address {
    fn from(address: &Address) -> Self {
        address.clone()
    }
}

impl From<Ipv4Addr> for Address {
    fn from(ip: Ipv4Addr) -> Self {
        Self::from(IpAddr::from(ip))
    }
}

impl TryFrom<SocketAddr> for Address {
    type Error = InvalidArgument;

    fn try_from(address: SocketAddr) -> Result<Self, InvalidArgument> {
        Self::with_port(address.ip(), address.port())
    }
}

fn invalid(error: &AddressError, value: &str) -> InvalidArgument {
    let is_port = matches!(error, AddressError::Port { .. });
    let clause = if is_port { ADDRESS_PORT_CLAUSE } else { ADDRESS_CLAUSE };
    InvalidArgument::new("address", clause, error.expected(), quoted(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_mapped_address_is_the_one_that_it_stands_for() {
        let mapped = Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped();
        assert_eq!(Address::from(mapped).as_written(), "192.0.2.1");
        assert_eq!(Address::with_port(mapped, 80).unwrap().as_written(), "192.0.2.1:80");
    }

    proptest! {
        #[test]
        fn what_is_displayed_is_parsed_back(ip in any::<IpAddr>(), port in proptest::option::of(any::<u16>())) {
            let made = match port {
                Some(port) => Address::with_port(ip, port),
                None => Ok(Address::from(ip)),
            };
            if let Ok(address) = made {
                prop_assert_eq!(address.to_string().parse::<Address>(), Ok(address));
            }
        }
    }
}
