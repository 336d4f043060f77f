//! Addresses of a search.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use sallyport_server::domain::address::Address;

use super::texts;

const PARTS: &str = "192.0.2.1¦255.255.255.255¦0.0.0.0¦01¦256¦2001:db8::1¦::¦::ffff:192.0.2.1¦::ffff:c000:201¦\
    ::192.0.2.1¦64:ff9b::192.0.2.33¦1:2:3:4:5:6:7:8¦:¦[¦]¦:80¦:0¦:65535¦:65536¦%eth0¦/24¦.¦f¦F¦0¦ ¦１";

/// An address by RFC 4291, section 2.2, and RFC 3986; an IPv4-mapped one is the IPv4 address.
fn slow(text: &str) -> Option<(IpAddr, Option<u16>)> {
    let (ip, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (ip, port) = rest.split_once("]:")?;
            (IpAddr::V6(v6(ip)?), Some(number(port, 65_535)?))
        }
        None if text.matches(':').count() == 1 => {
            let (ip, port) = text.split_once(':')?;
            (IpAddr::V4(v4(ip)?), Some(number(port, 65_535)?))
        }
        None => (v4(text).map(IpAddr::V4).or_else(|| v6(text).map(IpAddr::V6))?, None),
    };
    let ip = match ip {
        // The remainder has 32 bits.
        IpAddr::V6(ip) if ip.to_bits() >> 32 == 0xffff => Ipv4Addr::from_bits(ip.to_bits() as u32).into(),
        ip => ip,
    };
    let port = port.map(u16::try_from).transpose().ok()?;
    (port != Some(0)).then_some((ip, port))
}

/// Decimal digits without leading zeros.
fn number(text: &str, most: u32) -> Option<u32> {
    let plain = !text.is_empty() && text.len() <= 5 && text.chars().all(|digit| digit.is_ascii_digit());
    let number = if plain { text.parse().ok()? } else { return None };
    (number <= most && (text == "0" || !text.starts_with('0'))).then_some(number)
}

fn v4(text: &str) -> Option<Ipv4Addr> {
    let bytes: Vec<u32> = text.split('.').map(|byte| number(byte, 255)).collect::<Option<_>>()?;
    let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | byte);
    (bytes.len() == 4).then(|| Ipv4Addr::from_bits(bits))
}

fn v6(text: &str) -> Option<Ipv6Addr> {
    let groups = match text.find("::") {
        None => groups(text, true)?,
        Some(gap) => {
            let before = groups(&text[..gap], false)?;
            let after = groups(&text[gap + 2..], true)?;
            let missing = 8_usize.checked_sub(before.len() + after.len()).filter(|missing| *missing > 0)?;
            [before, vec![0; missing], after].concat()
        }
    };
    let bits = groups.iter().fold(0, |bits: u128, group| bits << 16 | u128::from(*group));
    (groups.len() == 8).then(|| Ipv6Addr::from_bits(bits))
}

/// Groups of hexadecimal digits between colons; the last two may be an IPv4 address.
fn groups(text: &str, last: bool) -> Option<Vec<u32>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let parts: Vec<&str> = text.split(':').collect();
    let mut groups = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        if last && place + 1 == parts.len() && part.contains('.') {
            let bits = v4(part)?.to_bits();
            groups.extend([bits >> 16, bits & 0xffff]);
        } else {
            let digits = (1..=4).contains(&part.len()) && part.chars().all(|digit| digit.is_ascii_hexdigit());
            groups.push(if digits { u32::from_str_radix(part, 16).ok()? } else { return None });
        }
    }
    Some(groups)
}

proptest! {
    #[test]
    fn addresses_are_what_a_slow_reader_finds(text in texts(PARTS)) {
        let read = Address::parse(&text, &(1..=u16::MAX)).ok().map(|Address { ip, port }| (ip, port));
        prop_assert_eq!(read, slow(&text));
    }

    #[test]
    fn every_address_is_read(ip: IpAddr, port in prop::option::of(1..=u16::MAX), damage in "[0-9a-f:.]?", at: prop::sample::Index) {
        let text = match (ip, port) {
            (ip, None) => ip.to_string(),
            (IpAddr::V4(ip), Some(port)) => format!("{ip}:{port}"),
            (IpAddr::V6(ip), Some(port)) => format!("[{ip}]:{port}"),
        };
        let (before, after) = text.split_at(at.index(text.len()));
        let text = format!("{before}{damage}{after}");
        let read = Address::parse(&text, &(1..=u16::MAX)).ok().map(|Address { ip, port }| (ip, port));
        prop_assert_eq!(read, slow(&text));
    }
}
