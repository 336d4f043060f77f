//! The caller of a request: the peer of its connection, or the address that declared proxies name in `X-Forwarded-For`.
//!
//! The header is read from right to left. Each proxy appends the address of its own caller, so everything to the left of the
//! first address that is not a declared proxy may be forged.

use std::net::{IpAddr, SocketAddr};

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
    if !proxies.contains(caller) {
        return Ok(caller);
    }
    if !headers.contains_key(X_FORWARDED_FOR) && headers.contains_key(FORWARDED) {
        return Err(malformed());
    }
    for field in headers.get_all(X_FORWARDED_FOR).iter().rev() {
        for hop in field.to_str().map_err(|_| malformed())?.rsplit(',') {
            caller = address(hop.trim_matches([' ', '\t'])).ok_or_else(malformed)?.to_canonical();
            if !proxies.contains(caller) {
                return Ok(caller);
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
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let with_port = || match text.parse().ok()? {
        SocketAddr::V6(address) if address.scope_id() != 0 => None,
        address => Some(address.ip()),
    };
    text.parse().ok().or_else(with_port).or_else(bracketed)
}
