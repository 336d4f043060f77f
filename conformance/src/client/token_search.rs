//! Finds the token in what a command wrote and sent.

use aho_corasick::AhoCorasick;

use super::protocol::MAX_OUTPUT;
use crate::lab::ProxiedRequest;
use crate::target::Secret;
use crate::wire::{Decoded, spellings};

/// Whether a text shows the token, or half of it, in any form. Half of it is no mask: a few characters at the beginning or the end are.
pub(super) fn shows(text: &[u8], token: &Secret) -> bool {
    let (spellings, token) = (spellings(token.expose()), token.expose());
    let part = (token.len() / 2).max(8).min(token.len());
    let parts = (0..=token.len() - part).filter_map(|start| token.get(start..start + part));
    has_any(text, spellings.iter().map(String::as_str).chain(parts))
}

/// Whether a text has one of these, as it stands or in an encoding.
fn has_any<'a>(text: &[u8], forms: impl Iterator<Item = &'a str>) -> bool {
    // Hexadecimal digits have letters of either case. Short forms are those of a short token.
    let search =
        AhoCorasick::builder().ascii_case_insensitive(true).build(forms.filter(|form| form.len() >= 6));
    let mut is_shown = false;
    Decoded::visit_readings(text, &mut |decoded| {
        is_shown |= search.as_ref().is_ok_and(|search| search.is_match(decoded.bytes()));
    });
    is_shown
}

/// Whether a text certainly shows one of the tester's own secrets. These are not made for the test, as the token is: a short one, or a
/// part of one, may be a word that the command has from elsewhere.
pub(super) fn gives_away<'a>(text: &[u8], secrets: impl IntoIterator<Item = &'a Secret>) -> bool {
    const MIN_LENGTH: usize = 12;
    let secrets = secrets.into_iter().map(Secret::expose).filter(|secret| secret.len() >= MIN_LENGTH);
    let forms: Vec<String> = secrets.flat_map(spellings).collect();
    has_any(text, forms.iter().map(String::as_str))
}

pub(super) fn shows_any<'a>(text: &[u8], secrets: impl IntoIterator<Item = &'a Secret>) -> bool {
    secrets.into_iter().any(|secret| shows(text, secret))
}

/// Whether a request carries the token, in any form.
pub(super) fn carries(request: &ProxiedRequest, token: &Secret) -> bool {
    let headers = request.headers.values().any(|value| shows(value.as_bytes(), token));
    let line = format!("{} {}", request.path, request.query.as_deref().unwrap_or_default());
    headers || shows(line.as_bytes(), token) || shows(&request.body, token)
}

/// The beginning and the end of what a command wrote; none where it shows a secret, or was cut, perhaps within one.
pub(super) fn excerpt<'a>(text: &[u8], secrets: impl IntoIterator<Item = &'a Secret>) -> Option<String> {
    /// Maximum length of each, in characters. A program that crashes says why at the beginning or at the end.
    const MAX_CHARACTERS: usize = 1_000;
    if text.len() >= MAX_OUTPUT || shows_any(text, secrets) {
        return None;
    }
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let (head, tail) =
        (text.char_indices().nth(MAX_CHARACTERS), text.char_indices().rev().nth(MAX_CHARACTERS - 1));
    match (head, tail) {
        (Some((head, _)), Some((tail, _))) if head < tail => {
            // Whole lines, where they are not too long.
            let head = text[..head].rfind('\n').unwrap_or(head);
            let tail = text[tail..].find('\n').map_or(tail, |line| tail + line + 1);
            Some(format!("{}\n…\n{}", &text[..head], &text[tail..]))
        }
        _ => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;
    use crate::wire::written;

    #[test]
    fn a_token_is_found_wherever_it_stands_in_an_encoded_text() {
        let token = Secret::new("API_KEY", "a-token-that-is-long-enough");
        for before in ["", "u", "u:", "api_key=", "{\"token\":\""] {
            let text = format!("{before}{}&num=3", token.expose());
            let hexadecimal: String = text.bytes().map(|byte| format!("{byte:02X}")).collect();
            for encoded in [BASE64_STANDARD.encode(&text), hexadecimal] {
                assert!(shows(format!("tried {encoded}").as_bytes(), &token), "{text}");
            }
            let other = text.replace("token", "taken");
            assert!(!shows(BASE64_STANDARD.encode(other).as_bytes(), &token), "{text}");
        }
    }

    #[test]
    fn a_token_is_found_however_it_is_written() {
        for (token, text, _) in written() {
            assert!(shows(format!("tried {text}").as_bytes(), &Secret::new("API_KEY", token)), "{text}");
        }
    }

    #[test]
    fn neither_a_token_nor_a_part_of_one_is_shown() {
        let token = Secret::new("API_KEY", "a-token-that-is-long-enough");
        let excerpt = |text: &[u8]| excerpt(text, [&token]);
        assert_eq!(excerpt(b" an error\n"), Some("an error".to_owned()));
        assert_eq!(excerpt(b"\n"), None);
        let long = format!("panicked at x\n{}the last line", "a frame of the backtrace\n".repeat(200));
        let shown = excerpt(long.as_bytes()).expect("an excerpt");
        let is_whole =
            shown.starts_with("panicked at x\na frame") && shown.ends_with("backtrace\nthe last line");
        let is_cut = shown.chars().count() < 2_010 && shown.contains("backtrace\n…\na frame");
        assert!(is_whole && is_cut, "{shown}");
        assert_eq!(excerpt(format!("tried {}", token.expose()).as_bytes()), None);
        // What was read ends in the middle of it.
        let mut cut = vec![b' '; MAX_OUTPUT - 8];
        cut.extend_from_slice(&token.expose().as_bytes()[..8]);
        assert_eq!(excerpt(&cut), None);
    }
}
