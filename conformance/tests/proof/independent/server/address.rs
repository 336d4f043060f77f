//! Items of `ips`: a whole address, perhaps with a port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Server;
use super::behaviour::Tags;

/// A valid item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub ip: IpAddr,
    pub port: Option<u16>,
    /// The address as it was sent, without the port.
    pub text: String,
}

fn strict_v4(text: &str) -> Option<IpAddr> {
    text.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}

fn strict_v6(text: &str) -> Option<IpAddr> {
    text.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
}

/// As the function of that name in C, which takes fewer parts and hexadecimal ones.
pub(super) fn inet_aton(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &str| match part.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        _ => (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse().ok())
            .flatten(),
    };
    let (last, heads) = parts.split_last()?;
    if heads.len() > 3 {
        return None;
    }
    let mut value: u64 = 0;
    for part in heads {
        value = value << 8 | number(part).filter(|part| *part < 256)?;
    }
    let rest_bits = 8 * (4 - heads.len() as u32);
    let last = number(last).filter(|last| *last < 1 << rest_bits)?;
    Some(Ipv4Addr::from((value << rest_bits | last) as u32))
}

impl Server {
    fn whole(&self, text: &str) -> Option<IpAddr> {
        let unpadded: String;
        let mut text = text;
        if self.decides("leading-zeros-accepted") && text.contains('.') && !text.contains(':') {
            let part = |part: &str| match part.trim_start_matches('0') {
                "" if !part.is_empty() => "0".to_owned(),
                rest => rest.to_owned(),
            };
            unpadded = text.split('.').map(part).collect::<Vec<_>>().join(".");
            text = &unpadded;
        }
        let ip = strict_v4(text).or_else(|| strict_v6(text))?;
        match ip {
            IpAddr::V6(v6) if self.decides("mapped-same") => Some(v6.to_ipv4_mapped().map_or(ip, IpAddr::V4)),
            IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() && self.decides("mapped-rejected") => None,
            _ => Some(ip),
        }
    }

    /// An item as the contract describes it, but for faults.
    pub(super) fn item(&self, sent: &str, tags: &Tags) -> Option<Item> {
        let sent = if self.decides("spaces-accepted") { sent.trim() } else { sent };
        let Some(item) = self.strict_item(sent, tags) else { return self.lax_item(sent, tags) };
        let (v6, ported) = (item.ip.is_ipv6(), item.port.is_some());
        let is_refused = self.breaks("item.refused", tags, || known! { text => sent, v6, ported });
        if is_refused { None } else { Some(item) }
    }

    fn strict_item(&self, sent: &str, tags: &Tags) -> Option<Item> {
        if let Some(ip) = self.whole(sent) {
            return Some(Item { ip, port: None, text: sent.into() });
        }
        if let Some(inner) = sent.strip_prefix('[') {
            let (address, rest) = inner.split_once(']')?;
            let ip = strict_v6(address).and_then(|_| self.whole(address))?;
            if rest.is_empty() && self.decides("brackets-accepted") {
                return Some(Item { ip, port: None, text: address.into() });
            }
            let port = self.port(rest.strip_prefix(':')?, tags)?;
            return Some(Item { ip, port: Some(port), text: address.into() });
        }
        let (address, port) = sent.split_once(':')?;
        let ip = self.whole(address).filter(IpAddr::is_ipv4)?;
        Some(Item { ip, port: Some(self.port(port, tags)?), text: address.into() })
    }

    fn port(&self, text: &str, tags: &Tags) -> Option<u16> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let padded = text.starts_with('0') && !self.decides("leading-zeros-accepted");
        let value: Option<i128> = text.parse().ok().filter(|_| digits && (!padded || text == "0"));
        if let Some(port @ 1..=65_535) = value {
            let is_refused = self.breaks("port.refused", tags, || known! { port });
            return if is_refused { None } else { Some(port as u16) };
        }
        self.instead("port", tags, || {
            let leading: String = text.chars().take_while(char::is_ascii_digit).collect();
            known! { text, value, signed => text.parse::<i128>().ok(), leading }
        })
    }

    /// Faults that take what is not an address for one.
    fn lax_item(&self, sent: &str, tags: &Tags) -> Option<Item> {
        let text: String = self.instead("item", tags, || {
            let (address, length) = sent.split_once('/').unwrap_or_default();
            let (host, port) = sent.rsplit_once(':').unwrap_or((sent, ""));
            known! { text => sent, address, length, host, port }
        })?;
        Some(Item { ip: self.whole(&text)?, port: None, text: sent.to_owned() })
    }
}
