//! Reading a plain-text answer, whose layout apart from its separator the contract leaves open.

use crate::{Endpoint, Separator};

/// The gateways in `text`, or `None` when it holds anything else.
///
/// A separator at the end is passed over. Services confuse line ends, so one kind is read as any other.
pub(crate) fn endpoints(text: &str, separator: &Separator) -> Option<Vec<Endpoint>> {
    let separator = separator.text();
    let entries: Vec<&str> = if separator.trim().is_empty() {
        text.split_whitespace().collect()
    } else {
        text.split(separator).map(str::trim).filter(|entry| !entry.is_empty()).collect()
    };
    entries.into_iter().map(endpoint).collect()
}

fn endpoint(entry: &str) -> Option<Endpoint> {
    let (ip, port) = entry.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    let ip = ip.strip_prefix('[').and_then(|ip| ip.strip_suffix(']')).unwrap_or(ip);
    let is_host =
        !ip.is_empty() && ip.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-_:".contains(letter));
    is_host.then(|| Endpoint { ip: ip.to_owned(), port: port.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, separator: Separator) -> Option<Vec<String>> {
        endpoints(text, &separator).map(|list| list.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_separator_with_and_without_one_at_the_end() {
        let custom = || Separator::Custom("<>".to_owned());
        for separator in
            [Separator::CrLf, Separator::Br, Separator::Cr, Separator::Lf, Separator::Tab, custom()]
        {
            let between = separator.text().to_owned();
            for end in ["", &between, "\n"] {
                let text = format!("gw.invalid:1{between}203.0.113.7:65535{between}[2001:db8::1]:8080{end}");
                let expected =
                    ["gw.invalid:1", "203.0.113.7:65535", "[2001:db8::1]:8080"].map(str::to_owned).to_vec();
                assert_eq!(read(&text, separator.clone()), Some(expected), "{separator:?} {end:?}");
            }
        }
    }

    #[test]
    fn other_line_ends_than_asked_for_are_read() {
        assert_eq!(read("a:1\nb:2\n", Separator::CrLf).map(|list| list.len()), Some(2));
    }

    #[test]
    fn an_empty_text_is_no_gateway_and_an_error_text_is_none() {
        assert_eq!(read("", Separator::CrLf), Some(Vec::new()));
        for text in
            ["error: token expired", "<html>", "gw.invalid", "gw.invalid:0x1", "gw invalid:80/br", ":80"]
        {
            assert_eq!(read(text, Separator::Br), None, "{text}");
        }
    }
}
