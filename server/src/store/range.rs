//! Ranges of IPv4 addresses, as people write them. No error quotes the text, because it may be a token by mistake.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv4Net;

/// That a range has its ends in the wrong order.
pub(super) fn backwards(first: Ipv4Addr, last: Ipv4Addr) -> String {
    format!("the range ends at {last}, before it begins at {first}; write {last}-{first}")
}

/// Parses an address, a range or a network into its first and last address.
pub(super) fn parse(text: &str) -> Result<(Ipv4Addr, Ipv4Addr), String> {
    const EXPECTED: &str = "`range`: expected IPv4 addresses: one (192.0.2.1), a range (192.0.2.1-192.0.2.9) or a network \
                            (192.0.2.0/24)";
    let address = |text: &str| match text.parse().map(|ip: IpAddr| ip.to_canonical()) {
        Ok(IpAddr::V4(ip)) => Ok(ip),
        _ => Err(EXPECTED),
    };
    if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (address(first)?, address(last)?);
        return if last < first { Err(backwards(first, last)) } else { Ok((first, last)) };
    }
    if !text.contains('/') {
        return Ok(address(text).map(|address| (address, address))?);
    }
    let net: Ipv4Net = text.parse().map_err(|_| EXPECTED)?;
    if net.trunc() != net {
        return Err(format!(
            "`{net}` is not the first address of a network; write {} for the network or {} for the address",
            net.trunc(),
            net.addr()
        ));
    }
    Ok((net.network(), net.broadcast()))
}
