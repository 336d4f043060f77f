//! Parses plain-text responses, whose layout the contract leaves open, apart from the separator
//! (`open.extract.txt-layout`).

use std::{fmt, net::Ipv6Addr};

use serde::{Serialize, de::IgnoredAny};

use crate::{Endpoint, Separator};

/// An entry of a plain-text response. As JSON it is an endpoint, or its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum TextEntry {
    /// An entry in the form `host:port`.
    Endpoint(Endpoint),
    /// An entry in another form, such as `host:port:user:password`, as the service sent it.
    Unparsed(String),
}

/// As [`Endpoint`] is displayed, and an unparsed entry unchanged; for a terminal see [`printable`](crate::printable).
impl fmt::Display for TextEntry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(endpoint) => endpoint.fmt(out),
            Self::Unparsed(text) => out.write_str(text),
        }
    }
}

/// Splits `text` into its entries; fails with a reason when it is not a list of gateways.
///
/// The layout of an entry is open, so a text is a list when at least one entry holds a host with its port, in whatever layout.
/// A separator at the end is ignored. Services mix up line ends, so every kind separates where one is expected.
pub(crate) fn entries(text: &str, separator: &Separator) -> Result<Vec<TextEntry>, &'static str> {
    let separator = separator.text();
    let parts: Vec<&str> = if separator.trim().is_empty() {
        // A tab may stand within an entry, unless it separates entries.
        text.split(|letter| "\r\n".contains(letter) || separator.contains(letter)).collect()
    } else {
        text.split(separator).collect()
    };
    let parts: Vec<&str> = parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    // Entries may be JSON objects, too. A single one cannot be told from a rejection.
    if parts.len() > 1 && parts.iter().all(|part| part.starts_with('{') && is_one_value(part)) {
        return Ok(parts.into_iter().map(|part| TextEntry::Unparsed(part.to_owned())).collect());
    }
    if is_json(text) {
        return Err("expected a list of gateways, found JSON");
    }
    if is_markup(text) {
        return Err("expected a list of gateways, found HTML or XML");
    }
    let entry =
        |part| endpoint(part).map_or_else(|| TextEntry::Unparsed(str::to_owned(part)), TextEntry::Endpoint);
    let entries: Vec<TextEntry> = parts.into_iter().map(entry).collect();
    let holds_a_gateway = |entry: &TextEntry| match entry {
        TextEntry::Endpoint(_) => true,
        TextEntry::Unparsed(text) => is_gateway(text),
    };
    if entries.is_empty() || entries.iter().any(holds_a_gateway) {
        return Ok(entries);
    }
    Err("expected a list of gateways, found text without `host:port` entries")
}

/// Whether an entry in another layout than `host:port` holds a gateway: an IP address or a name with a dot, and after one
/// other character its port. A sentence may hold both as well, so that words before the host only count without spaces.
fn is_gateway(entry: &str) -> bool {
    let is_host = |text: &str| {
        let is_name = text.contains('.')
            && !text.contains("..")
            && text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && text.ends_with(|letter: char| letter.is_ascii_alphanumeric());
        is_name || text.parse::<Ipv6Addr>().is_ok()
    };
    let is_port = |text: &str| text.parse::<u16>().is_ok_and(|port| port > 0);
    let words = entry.split([' ', ',', ';', '|', '/', '@', '\t', '[', ']']).filter(|word| !word.is_empty());
    // `user:password:host:port` and `host:port:user:password` have no other separator than the colon.
    let parts: Vec<&str> = words
        .flat_map(|word| {
            let is_address = word.parse::<Ipv6Addr>().is_ok();
            if is_address { vec![word] } else { word.split(':').collect() }
        })
        .filter(|part| !part.is_empty())
        .collect();
    let at = parts.windows(2).position(|pair| is_host(pair[0]) && is_port(pair[1]));
    at.is_some_and(|at| at == 0 || !entry.contains(char::is_whitespace))
}

/// Whether a body whose response declares no length may have been cut short: it is a list of gateways that does not end
/// with its separator, so that digits of the last port may be missing.
pub(crate) fn is_cut(text: &str, separator: &Separator) -> bool {
    let separator = separator.text();
    let is_ended = if separator.trim().is_empty() {
        text.ends_with(['\r', '\n', '\t']) || text.ends_with(separator)
    } else {
        text.trim_end().ends_with(separator.trim_end())
    };
    !is_ended && !is_json(text) && !is_markup(text)
}

/// `[IPv6]:port` begins like JSON, so the text is parsed.
fn is_json(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim();
    text.starts_with(['{', '[', '"']) && is_one_value(text) || text.starts_with('{')
}

fn is_one_value(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn is_markup(text: &str) -> bool {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    start.strip_prefix('<').is_some_and(|rest| {
        rest.starts_with(|letter: char| letter == '!' || letter == '?' || letter.is_ascii_alphabetic())
    })
}

/// Parses `host:port`.
pub(crate) fn endpoint(entry: &str) -> Option<Endpoint> {
    let (ip, port) = entry.rsplit_once(':')?;
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let port = port.parse::<u16>().ok().filter(|port| *port > 0)?;
    let bracketed = ip.strip_prefix('[').and_then(|ip| ip.strip_suffix(']'));
    let ip = bracketed.unwrap_or(ip);
    let is_host = if bracketed.is_some() || ip.contains(':') {
        ip.parse::<Ipv6Addr>().is_ok()
    } else {
        !ip.is_empty() && ip.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-_".contains(letter))
    };
    is_host.then(|| Endpoint { ip: ip.to_owned(), port: port.into() })
}
