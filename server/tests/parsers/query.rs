//! Queries.

use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use sallyport_server::edge::reading::query::Query;

use super::texts;

const KNOWN: &[&str; 3] = &["num", "sb", "api_key"];

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
        match (Query::parse(Some(&raw), KNOWN), slow(&raw)) {
            (Ok(mut query), Some(mut pairs)) => {
                for name in KNOWN {
                    let place = pairs.iter().position(|(known, _)| known == name);
                    let expected = place.map(|place| pairs.swap_remove(place).1);
                    prop_assert_eq!(query.take(name).map(String::from), expected);
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
