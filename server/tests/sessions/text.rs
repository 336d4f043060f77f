//! The words of a line of a session: what is repeated, bytes, limits of the document, and texts that are looked for.

use sallyport_contract::table::Limit;
use sallyport_server::{api::generated::ExtractProxies, edge::operation::Operation as _, openapi};
use serde_json::Value;

/// An endpoint, the number of connections to it, and what they send.
pub(super) fn destination(text: &str) -> (&str, usize, &str) {
    let (endpoint, text) = text.split_once(' ').unwrap_or((text, ""));
    let (endpoint, number) = endpoint.split_once('×').unwrap_or((endpoint, "1"));
    (endpoint, count(number), text)
}

/// A number, or the second of two with `SALLYPORT_ABUSE=long`.
pub(super) fn count(text: &str) -> usize {
    let (short, long) = text.split_once('/').unwrap_or((text, text));
    let is_long = std::env::var_os("SALLYPORT_ABUSE").is_some_and(|form| form == "long");
    (if is_long { long } else { short }).parse().unwrap()
}

/// Bytes as a line writes them.
pub(super) fn escaped(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

/// Limits of the document, which stop the tests where they are not.
pub(super) fn limits() -> Vec<(String, String)> {
    let limit = |pointer: &str| openapi().pointer(pointer).and_then(Value::as_u64).unwrap();
    let longest = |parameter| ExtractProxies::document().part(parameter)?.schema.limit(Limit::MaxUtf8Bytes);
    let [sb, id] = ["sb", "request_id"].map(|name| usize::try_from(longest(name).unwrap()).unwrap());
    let mut names = vec![
        ("longest-sb".to_owned(), "%C3%A9".repeat(sb / 2)),
        ("longest-id".to_owned(), "%C3%A9".repeat(id / 2)),
        ("id-max".to_owned(), id.to_string()),
        ("id-over".to_owned(), "x".repeat(id + 1)),
    ];
    for (name, at) in [
        ("num", "/paths/~1openapi~1v1~1proxy~1extract/get/parameters/0/schema"),
        ("port", "/components/schemas/AddressItem/x-port"),
        ("page", "/components/schemas/SearchRequest/properties/page"),
        ("size", "/components/schemas/SearchRequest/properties/pageSize"),
    ] {
        let (min, max) = (limit(&format!("{at}/minimum")), limit(&format!("{at}/maximum")));
        let ends = [("min", min), ("max", max), ("under", min - 1), ("over", max + 1)];
        names.extend(ends.map(|(end, number)| (format!("{name}-{end}"), number.to_string())));
    }
    names
}

/// The text with what is repeated in it.
pub(super) fn repeated(text: &str) -> String {
    let Some((before, rest)) = text.split_once('⟨') else { return text.to_owned() };
    let (repeat, after) = rest.split_once('⟩').unwrap();
    let (number, part) = repeat.split_once('×').unwrap();
    format!("{before}{}{}", part.repeat(count(number)), repeated(after))
}

/// The bytes that a text stands for.
pub(super) fn bytes(text: &str) -> Vec<u8> {
    let text = repeated(text);
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap().replace("\\n", "\n").into_bytes();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(part[2..].replace("\\n", "\n").as_bytes());
    }
    bytes
}

/// What a command prints does not steer a terminal, except for its own ends of lines, and tells of no panic.
#[track_caller]
pub(super) fn assert_harmless(place: &str, said: &str) {
    let odd = |letter: char| !(letter.is_ascii_graphic() || " \n北京…–é".contains(letter));
    assert!(!said.contains(odd), "{place}: {said:?}");
    assert!(!said.contains("panicked") && !said.contains("backtrace"), "{place}: {said}");
}

/// Texts that must be there, with `!` must not, or with `=` are all there is.
#[track_caller]
pub(super) fn assert_texts(place: &str, said: &str, expected: &str) {
    for part in expected.split(" | ").filter(|part| !part.is_empty()) {
        let part = repeated(part).replace("\\n", "\n");
        if let Some(absent) = part.strip_prefix('!') {
            assert!(!said.contains(absent), "{place}: {absent:?} in {said}");
        } else if let Some(whole) = part.strip_prefix('=') {
            assert_eq!(said, whole, "{place}");
        } else if part.contains('…') {
            let is_there = said.lines().any(|line| fits(&format!("…{part}…"), line));
            assert!(is_there, "{place}: expected {part:?} in {said}");
        } else {
            assert!(said.contains(&part), "{place}: expected {part:?} in {said}");
        }
    }
}

/// Whether a line is the expected one, in which each `…` stands for any text.
pub(super) fn fits(expected: &str, line: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let rest = parts.try_fold(rest, |rest, part| Some(&rest[rest.find(part)? + part.len()..]));
    rest.is_some_and(|rest| rest.is_empty() || expected.ends_with('…'))
}
