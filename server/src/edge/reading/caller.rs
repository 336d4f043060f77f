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
