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

/// `inet_aton`: fewer parts, octal and hexadecimal.
fn lax_v4(text: &str, hex: bool) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &str| match part.strip_prefix("0x") {
        Some(digits) if hex => u64::from_str_radix(digits, 16).ok(),
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
        let (is_v6, has_port) = (item.ip.is_ipv6(), item.port.is_some());
        let is_short = sent.contains("::");
        let has_capitals = sent.chars().any(|c| c.is_ascii_uppercase());
        let refusals = [
            (is_v6, "search-ipv6-refused"),
            (is_v6 && has_port, "search-ipv6-port-refused"),
            (is_v6 && has_capitals, "search-capitals-refused"),
            (is_v6 && is_short, "search-short-ipv6-refused"),
            (is_v6 && !is_short, "search-full-ipv6-refused"),
            (!is_v6 && has_port, "search-ipv4-port-refused"),
        ];
        if self.breaks_any(tags, refusals) { None } else { Some(item) }
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
            let refusals = [
                (port == 65_535, "search-port-65535-refused"),
                (port == 1, "search-port-1-refused"),
                (port < 1024, "search-port-below-1024-refused"),
                (port > 32_767, "search-port-above-32767-refused"),
            ];
            return if self.breaks_any(tags, refusals) { None } else { Some(port as u16) };
        }
        let signed: Option<i128> = text.parse().ok();
        let leading: String = text.chars().take_while(char::is_ascii_digit).collect();
        let within = |from: i128, to: i128| value.is_some_and(|value| (from..=to).contains(&value));
        let is_far = within(2_000_000_001, i128::MAX);
        let low = value.map(|value| value % 65_536).filter(|low| *low > 0 && within(65_536, i128::MAX));
        let plus = text.strip_prefix('+').and_then(|port| port.parse().ok()).filter(|port| *port < 65_536);
        let is_word = leading.is_empty() && !text.is_empty() && signed.is_none();
        let beginning = leading.parse().ok().filter(|port| !digits && (1..65_536).contains(port));
        let rules = [
            ("unchecked", signed.map(|port| port.rem_euclid(65_536)).or(Some(8080))),
            ("0", within(0, 0).then_some(0)),
            ("0-any", within(0, 0).then_some(8080)),
            ("65536", within(65_536, 65_536).then_some(65_535)),
            ("up-to-99999", within(65_536, 99_999).then_some(65_535)),
            ("wraps", low),
            ("far", is_far.then_some(65_535)),
            ("negative", signed.filter(|port| *port < 0).map(|port| (-port).min(65_535))),
            ("plus", plus),
            ("empty", text.is_empty().then_some(8080)),
            ("word", is_word.then_some(8080)),
            ("leading-digits", beginning),
        ];
        u16::try_from(self.first_broken_part("search-port", tags, rules)?).ok()
    }

    /// Faults that take what is not an address for one.
    fn lax_item(&self, sent: &str, tags: &Tags) -> Option<Item> {
        let prefix = sent.split_once('/').and_then(|(address, length)| Some((self.whole(address)?, length)));
        let cidr = |fits: &dyn Fn(&str) -> bool| prefix.filter(|(_, length)| fits(length)).map(|(ip, _)| ip);
        let is_host = |length: &str| matches!(length, "32" | "128");
        let zone = sent.split_once('%').and_then(|(address, _)| strict_v6(address.trim_start_matches('[')));
        let (host, port) = sent.rsplit_once(':').unwrap_or((sent, ""));
        let port: Option<u16> = port.parse().ok();
        let three = |text: &str| text.bytes().filter(|byte| *byte == b'.').count() == 3;
        let parts: Vec<&str> = sent.split('.').collect();
        let bytes = |parts: &[&str]| parts.iter().all(|part| part.parse::<u8>().is_ok());
        let is_prefix = sent.len() > 1 && parts.last() == Some(&"") && bytes(&parts[..parts.len() - 1]);
        let short =
            (parts.len() < 4 && parts.len() > 1 && bytes(&parts)).then(|| lax_v4(sent, false)).flatten();
        let big = three(sent).then(|| {
            let numbers: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
            numbers.map(|n| Ipv4Addr::new(n[0] as u8, n[1] as u8, n[2] as u8, n[3] as u8))
        });
        let host_name =
            sent.contains(|c: char| c.is_ascii_alphabetic()) && !sent.contains([':', '/', '%', ' ', '*']);
        let narrow = |c: char| match c as u32 {
            at @ 0xff10..=0xff19 => char::from(b'0' + (at - 0xff10) as u8),
            _ => c,
        };
        let fullwidth: String = sent.chars().map(narrow).collect();
        let groups: Vec<&str> = sent.split(':').collect();
        let is_hex = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_group = |group: &str| u16::from_str_radix(group, 16).is_ok();
        let is_seven_groups = groups.len() == 7 && groups.iter().all(|group| is_group(group));
        let ends_in_single_colon = sent.ends_with(':') && !sent.ends_with("::");
        let ends_in_digit = sent.ends_with(|c: char| c.is_ascii_digit());
        let is_bracketed = sent.starts_with('[');
        let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        // What has no address of its own stands for one of the account.
        let any_if = |holds: bool| holds.then_some(IpAddr::from([45, 10, 0, 4]));
        let of_v4 = |v4: Option<Ipv4Addr>| v4.map(IpAddr::V4);
        let clean: String = sent.chars().filter(|c| !c.is_control()).collect();
        let in_url = sent
            .split_once("://")
            .and_then(|(_, rest)| self.whole(rest.trim_end_matches('/').split(':').next()?));
        let at_user = sent.split_once('@').and_then(|(_, rest)| self.whole(rest.split(':').next()?));
        let first_of = |mark: char| sent.split_once(mark).and_then(|(first, _)| self.whole(first.trim()));
        let rules = [
            ("search-cidr-accepted", cidr(&|_| true)),
            ("search-cidr-single", cidr(&is_host)),
            ("search-cidr-wide", cidr(&|length| !is_host(length))),
            ("search-cidr-ipv6", cidr(&|_| true).filter(IpAddr::is_ipv6)),
            ("search-slash-accepted", cidr(&|length| length.parse::<u8>().is_err())),
            ("search-zone-accepted", zone.filter(|_| !is_bracketed)),
            ("search-zone-number-accepted", zone.filter(|_| !is_bracketed && ends_in_digit)),
            ("search-zone-with-port-accepted", zone.filter(|_| is_bracketed)),
            ("search-three-parts-accepted", of_v4(short.filter(|_| parts.len() == 3))),
            ("search-two-parts-accepted", of_v4(short.filter(|_| parts.len() == 2))),
            ("search-prefix-with-dot", any_if(is_prefix)),
            ("search-trailing-dot", sent.strip_suffix('.').and_then(strict_v4)),
            ("search-decimal-accepted", of_v4((parts.len() == 1).then(|| lax_v4(sent, false)).flatten())),
            ("search-hexadecimal-accepted", of_v4(sent.contains("0x").then(|| lax_v4(sent, true)).flatten())),
            ("search-byte-wraps", of_v4(big.flatten())),
            ("search-five-parts-accepted", any_if(parts.len() == 5 && bytes(&parts))),
            ("search-host-name-accepted", any_if(host_name)),
            ("search-wildcard-accepted", any_if(sent.contains('*'))),
            ("search-range-accepted", first_of('-')),
            ("search-comma-list-accepted", first_of(',')),
            ("search-space-list-accepted", first_of(' ').filter(|_| self.whole(sent.trim()).is_none())),
            ("search-url-accepted", in_url),
            ("search-user-accepted", at_user),
            ("search-empty-item-accepted", any_if(sent.is_empty())),
            ("search-blank-item-accepted", any_if(!sent.is_empty() && sent.trim().is_empty())),
            ("search-control-characters", (clean != sent).then(|| self.whole(&clean)).flatten()),
            ("search-fullwidth-digits", (fullwidth != sent).then(|| self.whole(&fullwidth)).flatten()),
            ("search-brackets-around-ipv4", in_brackets.and_then(strict_v4)),
            ("search-bracket-missing-end", sent.strip_prefix('[').and_then(strict_v6)),
            ("search-bracket-missing-start", sent.split_once(']').and_then(|(ip, _)| strict_v6(ip))),
            ("search-ipv6-port-without-brackets", port.and_then(|_| strict_v6(host))),
            ("search-two-ports", host.split_once(':').and_then(|(address, _)| strict_v4(address))),
            ("search-three-colons", strict_v6(&sent.replace(":::", "::")).filter(|_| sent.contains(":::"))),
            ("search-two-gaps", any_if(sent.matches("::").count() == 2)),
            ("search-group-of-five", any_if(groups.iter().any(|group| group.len() == 5 && is_hex(group)))),
            ("search-short-ipv6-without-gap", any_if(is_seven_groups)),
            ("search-ipv6-prefix-accepted", any_if(groups.len() > 2 && ends_in_single_colon)),
            ("search-garbage-accepted", any_if(true)),
        ];
        let ip = self.first_broken(tags, rules);
        Some(Item { ip: ip?, port: None, text: sent.to_owned() })
    }
}
