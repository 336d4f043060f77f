//! The caller of a request: the peer of its connection, or the address that declared proxies name in `X-Forwarded-For`.
//!
//! The header is read from right to left. Each proxy appends the address of its own caller, so everything to the left of the
//! first address that is not a declared proxy may be forged.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::HeaderMap;
use sallyport_contract::table::Location;

use super::request_error::{RequestError, Result};
use crate::{edge::responding::error_code::ErrorCode, proxies::TrustedProxies};

const X_FORWARDED_FOR: &str = "x-forwarded-for";

/// Not read, because a proxy may pass on one that its caller forged.
const FORWARDED: &str = "forwarded";

/// The caller of a request whose connection comes from `peer`; an IPv4-mapped address is IPv4. Without the header a proxy is the
/// caller itself.
///
/// # Errors
/// A declared proxy sent a header whose last address cannot be parsed, or named its caller only in `Forwarded`, which would otherwise make
/// the proxy everybody's address.
pub fn caller(proxies: &TrustedProxies, peer: IpAddr, headers: &HeaderMap) -> Result<IpAddr> {
    let mut caller = peer.to_canonical();
    if proxies.contains(caller) && !headers.contains_key(X_FORWARDED_FOR) && headers.contains_key(FORWARDED) {
        return Err(malformed());
    }
    for field in headers.get_all(X_FORWARDED_FOR).iter().rev() {
        if !proxies.contains(caller) {
            break;
        }
        for hop in field.to_str().map_err(|_| malformed())?.rsplit(',') {
            caller = address(hop.trim_matches([' ', '\t'])).ok_or_else(malformed)?.to_canonical();
            if !proxies.contains(caller) {
                break;
            }
        }
    }
    Ok(caller)
}

fn malformed() -> RequestError {
    let problem = "expected a list of addresses whose last one is the address that connected to the proxy";
    RequestError::new(ErrorCode::CallerUnknown, Location::Header.place(X_FORWARDED_FOR), problem)
}

/// An address, with or without a port; IPv6 with a port is in brackets.
fn address(text: &str) -> Option<IpAddr> {
    if let Ok(ip) = text.parse() {
        return Some(ip);
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (ip, port) = rest.split_once(']')?;
        let ip: Ipv6Addr = ip.parse().ok()?;
        return (port.is_empty() || is_port(port.strip_prefix(':')?)).then_some(ip.into());
    }
    let (ip, port) = text.split_once(':')?;
    let ip: Ipv4Addr = ip.parse().ok()?;
    is_port(port).then_some(ip.into())
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|digit| digit.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;
    use crate::proxies::ProxyNet;

    const PROXIES: [&str; 4] = ["10.0.0.0/8", "192.0.2.7", "2001:db8:1::/48", "127.0.0.1"];

    /// The caller, or "rejected".
    fn caller(peer: &str, headers: &[(&str, &str)]) -> String {
        let trusted: TrustedProxies = PROXIES.iter().map(|net| net.parse::<ProxyNet>().unwrap()).collect();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value);
        }
        match super::caller(&trusted, peer.parse().unwrap(), &map) {
            Ok(ip) => ip.to_string(),
            Err(error) => {
                assert_eq!(error.code, ErrorCode::CallerUnknown);
                "rejected".to_owned()
            }
        }
    }

    #[test]
    fn headers_of_undeclared_proxies_are_ignored() {
        for headers in [&[("x-forwarded-for", "198.51.100.1")][..], &[("x-forwarded-for", "rubbish")]] {
            assert_eq!(caller("203.0.113.9", headers), "203.0.113.9");
            assert_eq!(caller("::ffff:203.0.113.9", headers), "203.0.113.9");
            assert_eq!(caller("2001:db8:2::1", headers), "2001:db8:2::1");
        }
    }

    #[test]
    fn the_last_untrusted_address_is_the_caller() {
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
            ("[2001:db8:2::5]", "2001:db8:2::5"),
            ("198.51.100.1, rubbish", "rejected"),
            ("192.0.2.1:", "rejected"),
            ("192.0.2.1:65536", "rejected"),
            ("192.0.2.1:+1", "rejected"),
            ("[192.0.2.1]", "rejected"),
            ("[2001:db8::1]80", "rejected"),
            ("[2001:db8::1", "rejected"),
            ("198.51.100.1,", "rejected"),
            ("", "rejected"),
            ("198.51.100.01", "rejected"),
            ("unknown", "rejected"),
            ("fe80::1%eth0", "rejected"),
            ("198.51.100.1 10.1.1.1", "rejected"),
        ] {
            assert_eq!(caller("10.0.0.2", &[("x-forwarded-for", value)]), who, "{value}");
        }
    }

    #[test]
    fn repeated_headers_are_one_list() {
        let field = |value| ("x-forwarded-for", value);
        assert_eq!(caller("10.0.0.2", &[field("1.1.1.1"), field("198.51.100.1")]), "198.51.100.1");
        assert_eq!(caller("10.0.0.2", &[field("198.51.100.1"), field("10.1.1.1")]), "198.51.100.1");
        assert_eq!(caller("10.0.0.2", &[field("198.51.100.1"), field("x, 10.1.1.1")]), "rejected");
    }

    #[test]
    fn a_proxy_without_headers_is_the_caller() {
        assert_eq!(caller("10.0.0.2", &[]), "10.0.0.2");
        let forwarded = [("forwarded", "for=198.51.100.1"), ("x-forwarded-for", "198.51.100.2")];
        assert_eq!(caller("10.0.0.2", &forwarded[..1]), "rejected");
        assert_eq!(caller("10.0.0.2", &forwarded), "198.51.100.2");
        assert_eq!(caller("203.0.113.9", &forwarded[..1]), "203.0.113.9", "not a declared proxy");
        assert_eq!(caller("::ffff:10.0.0.2", &[("x-forwarded-for", "198.51.100.1")]), "198.51.100.1");
    }
}
