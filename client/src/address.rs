use std::{
    borrow::Cow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use crate::{
    check::{Refused, quoted},
    contract::{ADDRESS_CLAUSE, ADDRESS_PORT_CLAUSE, ADDRESS_PORTS},
};

/// The contract leaves this form open; a refusal names the clause that says so.
const BRACKETS_CLAUSE: &str = "open.addresses.brackets-without-port";

/// An address to search for: `IP`, `IPv4:port` or `[IPv6]:port`. Without a port it stands for every port.
///
/// Two spellings of one address are equal. It is sent as it was written, because the contract lets services match by the
/// first text of an address, and printed in its canonical spelling. Networks, zone identifiers and fragments are refused,
/// as the contract asks; so is `[IPv6]` without a port, which it leaves open (leave out the brackets).
///
/// The contract also leaves IPv4-mapped IPv6 addresses open, and services differ in what they find. Such an address is the
/// IPv4 address here, and it is sent in IPv4 form, which every service understands: `[::ffff:203.0.113.7]:80` goes as
/// `203.0.113.7:80`. An IPv4-compatible address (`::203.0.113.7`) is IPv6 like any other.
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
/// # Ok::<(), sallyport_client::Refused>(())
/// ```
#[derive(Clone, Debug)]
pub struct Address {
    ip: IpAddr,
    port: Option<u16>,
    /// As it was written, unless that is the canonical spelling; never of an IPv4 address, which has only one.
    written: Option<Box<str>>,
}

impl Address {
    /// The IP address, never an IPv4-mapped one.
    pub fn ip(&self) -> IpAddr {
        self.ip
    }

    /// The port; `None` stands for every port.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The text that is sent: as it was written, or the canonical spelling of an address that was never text or was
    /// IPv4-mapped.
    pub fn as_written(&self) -> Cow<'_, str> {
        match &self.written {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.to_string()),
        }
    }

    /// The address with a port.
    ///
    /// # Errors
    /// Refuses a port that the contract does not allow.
    pub fn with_port(ip: impl Into<IpAddr>, port: u16) -> Result<Self, Refused> {
        let ip = ip.into().to_canonical();
        if !ADDRESS_PORTS.contains(&port) {
            return Err(bad_port(&port.to_string()));
        }
        Ok(Self { ip, port: Some(port), written: None })
    }

    fn read(text: &str) -> Result<Self, Refused> {
        if let Some(rest) = text.strip_prefix('[') {
            if rest.strip_suffix(']').is_some_and(|ip| ip.parse::<Ipv6Addr>().is_ok()) {
                return Err(refused(
                    BRACKETS_CLAUSE,
                    "an IPv6 address without brackets, or with a port",
                    text,
                ));
            }
            let (ip, port) = rest.split_once("]:").ok_or_else(|| malformed(text))?;
            let ip: Ipv6Addr = ip.parse().map_err(|_| malformed(text))?;
            return Self::with_port(ip, parse_port(port)?);
        }
        if let Some((ip, port)) = text.split_once(':')
            && !port.contains(':')
        {
            let ip: Ipv4Addr = ip.parse().map_err(|_| malformed(text))?;
            return Self::with_port(ip, parse_port(port)?);
        }
        let ip: IpAddr = text.parse().map_err(|_| malformed(text))?;
        Ok(Self::from(ip))
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        (self.ip, self.port) == (other.ip, other.port)
    }
}

impl Eq for Address {}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.ip, self.port).hash(state);
    }
}

impl PartialOrd for Address {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Address {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.ip, self.port).cmp(&(other.ip, other.port))
    }
}

impl FromStr for Address {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        let mut address = Self::read(text)?;
        address.written = (address.ip.is_ipv6() && address.to_string() != text).then(|| text.into());
        Ok(address)
    }
}

/// Writes the canonical spelling, which [`FromStr`] reads back.
impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            None => self.ip.fmt(out),
            Some(port) => SocketAddr::new(self.ip, port).fmt(out),
        }
    }
}

impl serde::Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.as_written())
    }
}

impl<'de> serde::Deserialize<'de> for Address {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl TryFrom<&str> for Address {
    type Error = Refused;

    fn try_from(text: &str) -> Result<Self, Refused> {
        text.parse()
    }
}

impl TryFrom<String> for Address {
    type Error = Refused;

    fn try_from(text: String) -> Result<Self, Refused> {
        text.parse()
    }
}

impl TryFrom<&String> for Address {
    type Error = Refused;

    fn try_from(text: &String) -> Result<Self, Refused> {
        text.parse()
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Self { ip: ip.to_canonical(), port: None, written: None }
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
    type Error = Refused;

    fn try_from(address: SocketAddr) -> Result<Self, Refused> {
        Self::with_port(address.ip(), address.port())
    }
}

fn parse_port(text: &str) -> Result<u16, Refused> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten().ok_or_else(|| bad_port(text))
}

fn bad_port(value: &str) -> Refused {
    let (lowest, highest) = (ADDRESS_PORTS.start(), ADDRESS_PORTS.end());
    refused(ADDRESS_PORT_CLAUSE, &format!("a port from {lowest} to {highest}, in plain digits"), value)
}

fn malformed(text: &str) -> Refused {
    refused(ADDRESS_CLAUSE, "a complete IPv4 or IPv6 address, `IPv4:port` or `[IPv6]:port`", text)
}

fn refused(clause: &'static str, limit: &str, value: &str) -> Refused {
    Refused::new("address", clause, limit, quoted(value))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_four_forms() {
        for (text, canonical) in [
            ("192.0.2.1", "192.0.2.1"),
            ("192.0.2.1:1", "192.0.2.1:1"),
            ("2001:DB8::0001", "2001:db8::1"),
            ("[2001:db8:0:0:0:0:0:1]:65535", "[2001:db8::1]:65535"),
            ("::", "::"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), canonical);
            assert_eq!(serde_json::to_value(&address).unwrap(), text, "it is sent as it was written");
            assert_eq!(address, canonical.parse().unwrap(), "spelling makes no difference");
        }
    }

    #[test]
    fn an_ipv4_mapped_address_is_the_ipv4_address_and_sent_as_that() {
        for (text, sent) in [
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("::FFFF:C000:0201", "192.0.2.1"),
            ("[::ffff:192.0.2.1]:80", "192.0.2.1:80"),
            ("[0:0:0:0:0:ffff:c000:201]:80", "192.0.2.1:80"),
            ("::192.0.2.1", "::192.0.2.1"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(serde_json::to_value(&address).unwrap(), sent);
            assert_eq!(address, sent.parse().unwrap());
        }
        let mapped = Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped();
        assert_eq!(Address::from(mapped).as_written(), "192.0.2.1");
        assert_eq!(Address::with_port(mapped, 80).unwrap().as_written(), "192.0.2.1:80");
        let spellings = ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201"];
        let distinct: HashSet<Address> = spellings.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(distinct.len(), 1);
    }

    #[test]
    fn everything_else_is_refused_with_its_clause() {
        for (text, clause) in [
            ("", "search.ips-item"),
            ("192.0.2.0/24", "search.ips-item"),
            ("192.0.2", "search.ips-item"),
            ("192.0.2.01", "search.ips-item"),
            (" 192.0.2.1", "search.ips-item"),
            ("fe80::1%eth0", "search.ips-item"),
            ("[fe80::1%1]:80", "search.ips-item"),
            ("[2001:db8::1]", BRACKETS_CLAUSE),
            ("[192.0.2.1]:80", "search.ips-item"),
            ("[::ffff:192.0.2.1]", BRACKETS_CLAUSE),
            ("::ffff:192.0.2.0/120", "search.ips-item"),
            ("[::ffff:192.0.2.1]:0", "search.ips-port"),
            ("192.0.2.1:0", "search.ips-port"),
            ("192.0.2.1:65536", "search.ips-port"),
            ("192.0.2.1:080", "search.ips-port"),
            ("192.0.2.1:+80", "search.ips-port"),
            ("192.0.2.1:", "search.ips-port"),
            ("[2001:db8::1]:0", "search.ips-port"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap_err().clause, clause, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(ip in any::<IpAddr>(), port in proptest::option::of(any::<u16>())) {
            let made = match port {
                Some(port) => Address::with_port(ip, port),
                None => Ok(Address::from(ip)),
            };
            if let Ok(address) = made {
                prop_assert_eq!(address.to_string().parse::<Address>(), Ok(address));
            }
        }

        #[test]
        fn arbitrary_text_never_panics_and_what_is_read_is_printed_alike(text in "[0-9a-f:.\\[\\]%/ ]{0,24}") {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse::<Address>(), Ok(address));
            }
        }
    }
}
