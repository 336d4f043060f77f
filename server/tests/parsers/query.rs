//! Queries.

use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use sallyport_server::edge::reading::query::Query;
use serde_json::Value;

use super::texts;

/// Parameters of an extraction.
const KNOWN: [&str; 3] = ["num", "sb", "api_key"];

const PARTS: &str = "num=1¦&¦&&¦=¦sb=¦api_key=sesame¦n%75m=2¦%6E¦%¦%4¦%zz¦%ff¦%C3%A9¦%ED%A0%80¦%00¦+¦é¦\u{10ffff}¦?¦#¦\
    num¦sb=%26%3D¦ ";

/// Each name and value, as URL-encoded forms have them; nothing where the query is not clear.
fn slow(raw: &str) -> Option<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for part in raw.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = match part.find('=') {
            Some(place) => (&part[..place], &part[place + 1..]),
            None => (part, ""),
        };
        let (name, value) = (decoded(name)?, decoded(value)?);
        if !KNOWN.contains(&name.as_str()) || pairs.iter().any(|(earlier, _)| *earlier == name) {
            return None;
        }
        pairs.push((name, value));
    }
    Some(pairs)
}

fn decoded(text: &str) -> Option<String> {
    let after_percent = text.split('%').skip(1);
    let clear = |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|digit| digit.is_ascii_hexdigit());
    if !after_percent.into_iter().all(clear) {
        return None;
    }
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(Into::into)
}

proptest! {
    #[test]
    fn queries_are_what_a_slow_reader_finds(raw in texts(PARTS)) {
        let operation = sallyport_contract::operation("extractProxies").unwrap();
        match (Query::parse(Some(&raw), operation), slow(&raw)) {
            (Ok(query), Some(pairs)) => {
                let Query { token, request } = query;
                // A number in plain digits is one already.
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                for name in KNOWN {
                    let expected = pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
                    let found = if name == "api_key" { token.as_deref().map(str::to_owned) } else { request.get(name).map(text) };
                    prop_assert_eq!(found, expected);
                }
            }
            (Err(error), None) => {
                // A message may show a name that nobody knows; a value it never shows.
                let is_value = |(place, _)| raw[..place].ends_with('=');
                let shown = error.to_string().contains("sesame");
                prop_assert!(!shown || !raw.match_indices("sesame").all(is_value), "{error}");
            }
            (read, slow) => prop_assert!(false, "{read:?} is not {slow:?}"),
        }
    }
}
