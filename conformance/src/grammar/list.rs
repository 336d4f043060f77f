//! Reads the lists of spellings.

use std::ops::RangeInclusive;

use super::Spelling;

const LISTS: &str = include_str!("spellings.txt");

/// Addresses that belong to nobody.
const V4: &str = "198.51.100.147";
const V6: &str = "2001:db8:3f91:7b5d:1fd3:dff7:95bd:7771";

/// Items of `ips` (`search.ips-item`): a complete IPv4 or IPv6 address, `IPv4:port` or `[IPv6]:port`, and what is none.
pub(crate) fn ip_endpoints(ports: &RangeInclusive<i64>) -> Vec<Spelling> {
    [list("valid item", ports), list("malformed item", ports)].concat()
}

/// Items with a valid address and a port that is out of range or not a number (`search.ips-port`).
pub(crate) fn ip_ports(ports: &RangeInclusive<i64>) -> Vec<Spelling> {
    // Another document may have another range.
    let is_outside = |port: &str| port.parse::<i64>().map_or(true, |port| port < 0 || !ports.contains(&port));
    let listed = list("malformed port", ports).into_iter();
    let listed = listed.filter(|port| port.text.starts_with('+') || is_outside(&port.text));
    let items = |port: Spelling| {
        [V4.to_owned(), format!("[{V6}]")]
            .map(|ip| Spelling::malformed(format!("{ip}:{}", port.text), port.reason))
    };
    listed.flat_map(items).collect()
}

/// Instants of RFC 3339 with a time zone (`search.activated-range`), and what is none.
pub(crate) fn date_times() -> Vec<Spelling> {
    [list("valid time", &(0..=0)), list("malformed time", &(0..=0))].concat()
}

/// The spellings of a list. The range is that of the values in the document.
pub(super) fn list(name: &str, range: &RangeInclusive<i64>) -> Vec<Spelling> {
    let heading = format!("[{name}]");
    let lines = LISTS.lines().skip_while(|line| *line != heading).skip(1);
    let rows = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once(": \""));
    let spellings = rows.flat_map(|(reason, texts)| {
        let texts = format!("\"{texts}");
        let texts = serde_json::Deserializer::from_str(&texts).into_iter::<String>();
        // A test reads every list.
        let texts: Vec<String> =
            texts.filter_map(Result::ok).flat_map(|text| expanded(&text, range)).collect();
        texts.into_iter().map(move |text| Spelling {
            is_valid: name.starts_with("valid"),
            ..Spelling::malformed(text, reason)
        })
    });
    spellings.collect()
}

/// The texts that a text with placeholders stands for.
fn expanded(text: &str, range: &RangeInclusive<i64>) -> Vec<String> {
    let damaged = |mark: &str| text.strip_prefix(mark).and_then(|text| text.strip_suffix('}'));
    let replaced = |address: &str, separator: char, places: &[usize], part: &str| {
        let at = |place: &usize| {
            let parts = address.split(separator).enumerate();
            let parts: Vec<&str> = parts.map(|(at, old)| if at == *place { part } else { old }).collect();
            parts.join(&separator.to_string())
        };
        places.iter().map(at).collect()
    };
    if let Some(part) = damaged("{4:") {
        return replaced(V4, '.', &[0, 1, 2, 3], part);
    }
    if let Some(part) = damaged("{6:") {
        return replaced(V6, ':', &[0, 3, 7], part);
    }
    let [min, max] = [range.start(), range.end()].map(i64::to_string);
    let text = text.replace("{v4}", V4).replace("{v6}", V6).replace("{min}", &min).replace("{max}", &max);
    if text.contains("{ip}") { [V4, V6].map(|ip| text.replace("{ip}", ip)).into() } else { vec![text] }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

    use super::*;

    const PORTS: RangeInclusive<i64> = 1..=65535;

    #[test]
    fn every_line_is_read_once() {
        let headings = LISTS.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        let mut read = 0;
        for name in headings {
            let spellings = list(name, &PORTS);
            let texts: BTreeSet<&str> = spellings.iter().map(|spelling| spelling.text.as_str()).collect();
            assert_eq!(texts.len(), spellings.len(), "a spelling is repeated in {name}");
            read += spellings.iter().map(|spelling| spelling.reason).collect::<BTreeSet<_>>().len();
        }
        let is_row = |line: &&str| !line.is_empty() && !line.starts_with(['#', '[']);
        assert_eq!(read, LISTS.lines().filter(is_row).count());
        assert_eq!((ip_endpoints(&PORTS).len(), ip_ports(&PORTS).len(), date_times().len()), (290, 54, 100));
    }

    #[test]
    fn ports_follow_the_range_of_the_document() {
        let has_zero = |ports| ip_ports(&ports).iter().any(|item| item.text.ends_with(":0"));
        assert!(has_zero(PORTS) && !has_zero(0..=65535));
        let valid = ip_endpoints(&(2..=9000)).into_iter().filter(|spelling| spelling.is_valid);
        let ports = valid.filter_map(|spelling| spelling.text.parse::<SocketAddr>().ok());
        assert!(ports.into_iter().all(|address| (2..=9000).contains(&address.port())));
    }

    fn is_item(text: &str) -> bool {
        // The standard library accepts a numeric zone and port 0.
        let with_port = |socket: SocketAddr| socket.port() > 0 && !text.contains('%');
        text.parse::<IpAddr>().is_ok() || text.parse::<SocketAddr>().is_ok_and(with_port)
    }

    /// Whether it is unspecified: surrounding spaces, leading zeros, brackets without a port.
    fn is_unspecified(text: &str) -> bool {
        let text = text.trim();
        let parts: Vec<_> =
            text.split_inclusive(['.', ':']).map(|part| part.trim_start_matches('0')).collect();
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        is_item(text) || is_item(&parts.concat()) || bare.is_some_and(|bare| bare.parse::<Ipv6Addr>().is_ok())
    }

    #[test]
    fn valid_items_parse_and_belong_to_nobody_and_malformed_ones_do_not_parse() {
        const KNOWN: [&str; 3] = ["255.255.255.255", "1.2.3.4", "0.0.0.0"];
        for Spelling { text, is_valid, reason, .. } in [ip_endpoints(&PORTS), ip_ports(&PORTS)].concat() {
            assert_eq!(is_item(&text), is_valid, "{text:?}: {reason}");
            assert!(is_valid || !is_unspecified(&text), "{text:?} is unspecified: {reason}");
            let is_local = |ip: Ipv4Addr| ip.is_private() || ip.is_loopback() || ip.is_link_local();
            if let Ok(ip) = text.parse::<Ipv4Addr>() {
                assert!(is_local(ip) || ip.is_documentation() || KNOWN.contains(&&*text), "{text}");
            }
        }
    }
}
