//! The grammars of `X-Forwarded-For` and of `Forwarded` (RFC 7239). A well-formed hop that is not an address is `None`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The field is not well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MalformedField;

/// The hops of an `X-Forwarded-For` field, from left to right. It has no quotes, so a bad hop does not affect the others.
#[must_use]
pub(super) fn x_forwarded_for(field: &str) -> Vec<Option<IpAddr>> {
    field.split(',').map(|hop| node(hop.trim_matches([' ', '\t']))).collect()
}

/// The hops of a `Forwarded` field, from left to right.
///
/// # Errors
/// A syntax error anywhere in the field, because an open quote changes the meaning of everything after it.
pub(super) fn forwarded(field: &str) -> Result<Vec<Option<IpAddr>>, MalformedField> {
    let mut rest = field;
    let mut hops = Vec::new();
    loop {
        let mut hop = None;
        loop {
            let (name, value, after) = pair(rest)?;
            if name.eq_ignore_ascii_case("for") && hop.replace(node(&value)).is_some() {
                return Err(MalformedField);
            }
            rest = after;
            match rest.strip_prefix(';') {
                Some(more) => rest = more,
                None => break,
            }
        }
        hops.push(hop.flatten());
        let after = blank(rest);
        if after.is_empty() {
            return Ok(hops);
        }
        rest = blank(after.strip_prefix(',').ok_or(MalformedField)?);
    }
}

/// `name=value`, the value a token or in quotes, and what follows.
fn pair(text: &str) -> Result<(&str, String, &str), MalformedField> {
    let (name, rest) = blank(text).split_once('=').ok_or(MalformedField)?;
    if name.is_empty() || !name.chars().all(is_token) {
        return Err(MalformedField);
    }
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = rest.find(|letter| !is_token(letter)).unwrap_or(rest.len());
        let (value, after) = rest.split_at(end);
        return if value.is_empty() { Err(MalformedField) } else { Ok((name, value.to_owned(), after)) };
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((name, value, quoted.get(at + 1..).unwrap_or_default())),
            '\\' => value.push(letters.next().ok_or(MalformedField)?.1),
            letter => value.push(letter),
        }
    }
    Err(MalformedField)
}

fn blank(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

/// RFC 9110, `tchar`, and the colon, which many proxies write without quotes.
fn is_token(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~:".contains(letter)
}

/// An address, with or without a port; IPv6 with a port stands in brackets.
fn node(text: &str) -> Option<IpAddr> {
    if let Ok(ip) = text.parse() {
        return Some(ip);
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (ip, port) = rest.split_once(']')?;
        let ip: Ipv6Addr = ip.parse().ok()?;
        return if port.is_empty() || is_port(port.strip_prefix(':')?) { Some(ip.into()) } else { None };
    }
    let (ip, port) = text.split_once(':')?;
    let ip: Ipv4Addr = ip.parse().ok()?;
    if is_port(port) { Some(ip.into()) } else { None }
}

/// RFC 7239 also allows a hidden port, `_` and letters.
fn is_port(text: &str) -> bool {
    text.strip_prefix('_').is_some_and(|hidden| !hidden.is_empty() && hidden.chars().all(is_token))
        || (text.bytes().all(|digit| digit.is_ascii_digit()) && text.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert, proptest};

    use super::*;

    #[test]
    fn nodes() {
        for (text, ip) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("192.0.2.1:80", Some("192.0.2.1")),
            ("192.0.2.1:_a", Some("192.0.2.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:80", Some("2001:db8::1")),
            ("192.0.2.1:", None),
            ("192.0.2.1:65536", None),
            ("192.0.2.1:+1", None),
            ("[192.0.2.1]", None),
            ("[2001:db8::1]80", None),
            ("[2001:db8::1", None),
            ("_hidden", None),
            ("", None),
        ] {
            assert_eq!(node(text), ip.map(|ip| ip.parse().unwrap()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_and_earlier_hops_do_not_change_the_last_one(before in "[ -~]{0,60}") {
            let last = Some("198.51.100.1".parse().unwrap());
            let hops = x_forwarded_for(&format!("{before}, 198.51.100.1"));
            prop_assert!(hops.last() == Some(&last));
            // A quote may make the whole header invalid, but must not change the last hop.
            if let Ok(hops) = forwarded(&format!("{before}, for=198.51.100.1")) {
                prop_assert!(hops.last() == Some(&last), "{before}");
            }
        }
    }
}
