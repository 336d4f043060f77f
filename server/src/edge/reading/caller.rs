//! The caller of a request: the peer of its connection, or the address that declared proxies name in their forwarding
//! headers.
//!
//! `X-Forwarded-For` and `Forwarded` are read from right to left. Each proxy appends the address of its own caller, so everything
//! to the left of the first address that is not a declared proxy may be forged.

use std::net::IpAddr;

use http::{HeaderMap, header::FORWARDED};

use super::forwarded::{self, MalformedField};
use crate::{
    edge::{
        responding::error_code::ErrorCode,
        types::request_error::{Input, Part, RequestError, Result},
    },
    proxies::TrustedProxies,
};

const X_FORWARDED_FOR: &str = "x-forwarded-for";

/// The caller of a request whose connection comes from `peer`; an IPv4-mapped address is IPv4. Without forwarding headers a proxy
/// is the caller itself.
///
/// # Errors
/// A declared proxy sent headers that cannot be parsed, or both headers with different callers.
pub fn caller(proxies: &TrustedProxies, peer: IpAddr, headers: &HeaderMap) -> Result<IpAddr> {
    let peer = peer.to_canonical();
    if !proxies.contains(peer) {
        return Ok(peer);
    }
    let by_list =
        last_untrusted(proxies, headers, X_FORWARDED_FOR, |field| Ok(forwarded::x_forwarded_for(field)))?;
    let by_standard = last_untrusted(proxies, headers, FORWARDED.as_str(), forwarded::forwarded)?;
    match (by_list, by_standard) {
        (Some(one), Some(other)) if one != other => Err(error(
            FORWARDED.as_str(),
            "the same caller as in `X-Forwarded-For`; let the proxy write one of the two headers and remove the other",
        )),
        (one, other) => Ok(one.or(other).unwrap_or(peer)),
    }
}

/// The rightmost address of all fields of one header that is not a declared proxy, or the leftmost if all are.
fn last_untrusted<F>(
    proxies: &TrustedProxies,
    headers: &HeaderMap,
    name: &str,
    hops: F,
) -> Result<Option<IpAddr>>
where
    F: Fn(&str) -> Result<Vec<Option<IpAddr>>, MalformedField>,
{
    let malformed =
        || error(name, "a list of addresses whose last one is the address that connected to the proxy");
    let mut seen = None;
    for value in headers.get_all(name).iter().rev() {
        let text = value.to_str().map_err(|_| malformed())?;
        for hop in hops(text).map_err(|MalformedField| malformed())?.into_iter().rev() {
            let ip = hop.ok_or_else(malformed)?.to_canonical();
            seen = Some(ip);
            if !proxies.contains(ip) {
                return Ok(seen);
            }
        }
    }
    Ok(seen)
}

fn error(name: &str, expected: &str) -> RequestError {
    Input::new(Part::Header(name), &[]).unexpected(ErrorCode::CallerUnknown, "type", expected, None)
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
            ("198.51.100.1, rubbish", "rejected"),
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
        let standard = |value| ("forwarded", value);
        assert_eq!(
            caller("10.0.0.2", &[standard("for=1.1.1.1"), standard("for=198.51.100.1")]),
            "198.51.100.1"
        );
    }

    #[test]
    fn the_standard_header_is_parsed() {
        for (value, who) in [
            ("for=198.51.100.1", "198.51.100.1"),
            ("For=1.1.1.1, FOR=198.51.100.1;proto=https;by=10.0.0.2", "198.51.100.1"),
            ("for=\"198.51.100.1:4711\";host=\"a, for=1.1.1.1\"", "198.51.100.1"),
            ("for=\"[2001:db8:2::5]:4711\"", "2001:db8:2::5"),
            ("for=198.51.100.1, for=10.3.3.3", "198.51.100.1"),
            ("for=unknown", "rejected"),
            ("for=_hidden, for=10.1.1.1", "rejected"),
            ("for=unknown, for=198.51.100.1", "198.51.100.1"),
            ("proto=https", "rejected"),
            ("for=1.1.1.1;for=198.51.100.1", "rejected"),
            ("for=\"198.51.100.1", "rejected"),
            // A forged open quote must not hide what the proxy appends.
            ("for=1.1.1.1;x=\", for=198.51.100.1", "rejected"),
            ("for=1.1.1.1;x=\", for=\"[2001:db8:2::5]\"", "rejected"),
        ] {
            assert_eq!(caller("10.0.0.2", &[("forwarded", value)]), who, "{value}");
        }
    }

    #[test]
    fn two_headers_must_agree() {
        let both = |list, standard| caller("10.0.0.2", &[("x-forwarded-for", list), ("forwarded", standard)]);
        assert_eq!(both("198.51.100.1", "for=198.51.100.1"), "198.51.100.1");
        assert_eq!(both("1.1.1.1, 198.51.100.1", "for=\"198.51.100.1:1\""), "198.51.100.1");
        assert_eq!(both("198.51.100.1", "for=1.1.1.1"), "rejected");
    }

    #[test]
    fn a_proxy_without_headers_is_the_caller() {
        assert_eq!(caller("10.0.0.2", &[]), "10.0.0.2");
        assert_eq!(caller("::ffff:10.0.0.2", &[("x-forwarded-for", "198.51.100.1")]), "198.51.100.1");
    }
}
