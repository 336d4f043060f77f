//! Where a call comes from: the peer of its connection, or what declared proxies say in front of it.
//!
//! `X-Forwarded-For` and `Forwarded` are read from right to left: each proxy adds the address that it was asked from
//! at the right, so what stands left of the first address that is no declared proxy was written by a stranger.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use http::{HeaderMap, header::FORWARDED};
use ipnet::IpNet;

use super::{
    catalogue::Reason,
    fault::{At, Fault, Spot},
    forwarded::{self, Malformed},
};

const X_FORWARDED_FOR: &str = "x-forwarded-for";

/// The address that counts as one caller: who has one IPv6 address has the other 2⁶⁴ of its network as well.
pub(crate) fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64)).into(),
    }
}

/// The proxies that may say for whom they ask. Nobody else is believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<ProxyNet>);

/// A network of declared proxies, or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyNet(IpNet);

/// Not a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected an address or a network such as 10.0.0.0/8 or 2001:db8::/32, a network of IPv4 in IPv4 form"
)]
pub struct ProxyNetFault;

impl FromStr for ProxyNet {
    type Err = ProxyNetFault;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let net = text.parse().or_else(|_| text.parse().map(|ip: IpAddr| IpNet::from(ip.to_canonical())));
        match net {
            // Callers are compared in their canonical family, so a network of mapped addresses would hold nobody.
            Ok(IpNet::V6(net)) if net.addr().to_ipv4_mapped().is_some() => Err(ProxyNetFault),
            Ok(net) => Ok(Self(net)),
            Err(_) => Err(ProxyNetFault),
        }
    }
}

impl FromIterator<ProxyNet> for TrustedProxies {
    fn from_iter<I: IntoIterator<Item = ProxyNet>>(nets: I) -> Self {
        Self(nets.into_iter().collect())
    }
}

impl TrustedProxies {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `ip` is one of them.
    #[must_use]
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.0.iter().any(|ProxyNet(net)| net.contains(&ip))
    }

    /// Where the call comes from whose connection comes from `peer`: an IPv4-mapped address is IPv4. A proxy that
    /// names nobody asks for itself.
    ///
    /// # Errors
    /// A declared proxy passed on headers that cannot be read, or both headers, and they name two callers. Then the
    /// caller is not known, and whoever is not known is not let in.
    pub fn caller(&self, peer: IpAddr, headers: &HeaderMap) -> Result<IpAddr, Fault> {
        let peer = peer.to_canonical();
        if !self.contains(peer) {
            return Ok(peer);
        }
        let by_list =
            self.last_stranger(headers, X_FORWARDED_FOR, |field| Ok(forwarded::x_forwarded_for(field)))?;
        let by_standard = self.last_stranger(headers, FORWARDED.as_str(), forwarded::forwarded)?;
        match (by_list, by_standard) {
            (Some(one), Some(other)) if one != other => Err(fault(
                FORWARDED.as_str(),
                "name the same caller as X-Forwarded-For; the proxy should write one of them and remove the other",
            )),
            (one, other) => Ok(one.or(other).unwrap_or(peer)),
        }
    }

    /// The rightmost address of all fields of one header that is no declared proxy, or the leftmost if all are.
    fn last_stranger<F>(&self, headers: &HeaderMap, name: &str, hops: F) -> Result<Option<IpAddr>, Fault>
    where
        F: Fn(&str) -> Result<Vec<Option<IpAddr>>, Malformed>,
    {
        let unreadable =
            || fault(name, "be a list of addresses, the last of them the one that the proxy was asked from");
        let mut seen = None;
        for value in headers.get_all(name).iter().rev() {
            let text = value.to_str().map_err(|_| unreadable())?;
            for hop in hops(text).map_err(|Malformed| unreadable())?.into_iter().rev() {
                let ip = hop.ok_or_else(unreadable)?.to_canonical();
                seen = Some(ip);
                if !self.contains(ip) {
                    return Ok(seen);
                }
            }
        }
        Ok(seen)
    }
}

/// The address as the whitelist wants it.
#[must_use]
pub fn ipv4(ip: IpAddr) -> Option<Ipv4Addr> {
    match ip.to_canonical() {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(_) => None,
    }
}

fn fault(name: &str, expected: &'static str) -> Fault {
    Spot::new(At::Header(name), &[]).fault(Reason::CallerUnknown, "type", expected, None)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    const PROXIES: [&str; 4] = ["10.0.0.0/8", "192.0.2.7", "2001:db8:1::/48", "127.0.0.1"];

    /// The caller, or "refused".
    fn caller(peer: &str, headers: &[(&str, &str)]) -> String {
        let trusted: TrustedProxies = PROXIES.iter().map(|net| net.parse::<ProxyNet>().unwrap()).collect();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value);
        }
        match trusted.caller(peer.parse().unwrap(), &map) {
            Ok(ip) => ip.to_string(),
            Err(fault) => {
                assert_eq!(fault.reason, Reason::CallerUnknown);
                "refused".to_owned()
            }
        }
    }

    #[test]
    fn strangers_are_not_believed() {
        for headers in [
            &[("x-forwarded-for", "198.51.100.1")][..],
            &[("forwarded", "for=198.51.100.1")],
            &[("x-forwarded-for", "rubbish"), ("forwarded", "for=\"")],
        ] {
            assert_eq!(caller("203.0.113.9", headers), "203.0.113.9");
            assert_eq!(caller("::ffff:203.0.113.9", headers), "203.0.113.9");
            assert_eq!(caller("2001:db8:2::1", headers), "2001:db8:2::1");
        }
    }

    #[test]
    fn the_last_stranger_is_the_caller() {
        for (value, who) in [
            ("198.51.100.1", "198.51.100.1"),
            ("1.1.1.1, 198.51.100.1", "198.51.100.1"),
            ("1.1.1.1,198.51.100.1 ,\t10.1.1.1, 192.0.2.7", "198.51.100.1"),
            ("rubbish, 198.51.100.1, 10.1.1.1", "198.51.100.1"),
            ("10.9.9.9, 10.1.1.1", "10.9.9.9"),
            ("::ffff:198.51.100.1", "198.51.100.1"),
            ("198.51.100.1, ::ffff:10.0.0.3", "198.51.100.1"),
            ("198.51.100.1:4711", "198.51.100.1"),
            ("2001:db8:2::5", "2001:db8:2::5"),
            ("[2001:db8:2::5]:4711, 2001:db8:1::9", "2001:db8:2::5"),
            ("198.51.100.1, rubbish", "refused"),
            ("198.51.100.1,", "refused"),
            ("", "refused"),
            ("198.51.100.01", "refused"),
            ("unknown", "refused"),
            ("fe80::1%eth0", "refused"),
            ("198.51.100.1 10.1.1.1", "refused"),
        ] {
            assert_eq!(caller("10.0.0.2", &[("x-forwarded-for", value)]), who, "{value}");
        }
    }

    #[test]
    fn repeated_headers_are_one_list() {
        let field = |value| ("x-forwarded-for", value);
        assert_eq!(caller("10.0.0.2", &[field("1.1.1.1"), field("198.51.100.1")]), "198.51.100.1");
        assert_eq!(caller("10.0.0.2", &[field("198.51.100.1"), field("10.1.1.1")]), "198.51.100.1");
        assert_eq!(caller("10.0.0.2", &[field("198.51.100.1"), field("x, 10.1.1.1")]), "refused");
        let standard = |value| ("forwarded", value);
        assert_eq!(
            caller("10.0.0.2", &[standard("for=1.1.1.1"), standard("for=198.51.100.1")]),
            "198.51.100.1"
        );
    }

    #[test]
    fn the_standard_header_is_read_as_well() {
        for (value, who) in [
            ("for=198.51.100.1", "198.51.100.1"),
            ("For=1.1.1.1, FOR=198.51.100.1;proto=https;by=10.0.0.2", "198.51.100.1"),
            ("for=\"198.51.100.1:4711\";host=\"a, for=1.1.1.1\"", "198.51.100.1"),
            ("for=\"[2001:db8:2::5]:4711\"", "2001:db8:2::5"),
            ("for=198.51.100.1, for=10.3.3.3", "198.51.100.1"),
            ("for=unknown", "refused"),
            ("for=_hidden, for=10.1.1.1", "refused"),
            ("for=unknown, for=198.51.100.1", "198.51.100.1"),
            ("proto=https", "refused"),
            ("for=1.1.1.1;for=198.51.100.1", "refused"),
            ("for=\"198.51.100.1", "refused"),
            // A stranger's open quote must not swallow what the proxy writes behind it.
            ("for=1.1.1.1;x=\", for=198.51.100.1", "refused"),
            ("for=1.1.1.1;x=\", for=\"[2001:db8:2::5]\"", "refused"),
        ] {
            assert_eq!(caller("10.0.0.2", &[("forwarded", value)]), who, "{value}");
        }
    }

    #[test]
    fn two_headers_must_agree() {
        let both = |list, standard| caller("10.0.0.2", &[("x-forwarded-for", list), ("forwarded", standard)]);
        assert_eq!(both("198.51.100.1", "for=198.51.100.1"), "198.51.100.1");
        assert_eq!(both("1.1.1.1, 198.51.100.1", "for=\"198.51.100.1:1\""), "198.51.100.1");
        assert_eq!(both("198.51.100.1", "for=1.1.1.1"), "refused");
    }

    #[test]
    fn a_proxy_that_names_nobody_asks_for_itself() {
        assert_eq!(caller("10.0.0.2", &[]), "10.0.0.2");
        assert_eq!(caller("::ffff:10.0.0.2", &[("x-forwarded-for", "198.51.100.1")]), "198.51.100.1");
    }

    #[test]
    fn networks_that_hold_nobody_are_refused() {
        for text in ["", "10.0.0.0/33", "10.0.0.256", "::ffff:10.0.0.0/104", "a.example"] {
            assert_eq!(text.parse::<ProxyNet>(), Err(ProxyNetFault), "{text}");
        }
    }

    #[test]
    fn a_mapped_proxy_is_its_ipv4_address() {
        assert_eq!("::ffff:10.0.0.1".parse::<ProxyNet>(), "10.0.0.1".parse());
    }

    #[test]
    fn only_ipv4_can_be_whitelisted() {
        assert_eq!(ipv4("::ffff:198.51.100.4".parse().unwrap()), Some(Ipv4Addr::new(198, 51, 100, 4)));
        assert_eq!(ipv4("::1".parse().unwrap()), None);
    }
}
