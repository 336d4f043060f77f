//! Finds the token in what a command wrote and sent.

use super::protocol::MAX_OUTPUT;
use crate::lab::ProxiedRequest;
use crate::target::Secret;
use crate::wire::{Decoded, spellings};

/// The spellings in which a text may show the token, or half of it.
fn forms(token: &Secret) -> Vec<String> {
    let mut forms = whole_forms(token);
    let token = token.expose();
    // Half of it is no mask: a few characters at the beginning or the end are.
    let part = (token.len() / 2).max(8).min(token.len());
    let parts = (0..=token.len() - part).filter_map(|start| token.get(start..start + part));
    forms.extend(parts.map(str::to_owned));
    forms
}

/// The spellings in which a text may show the whole token.
fn whole_forms(token: &Secret) -> Vec<String> {
    let spellings = spellings(token.expose()).into_iter().filter(|form| form.len() >= 6);
    // Percent-encoding and hexadecimal digits have letters of either case.
    spellings.flat_map(|form| [form.to_lowercase(), form.to_uppercase(), form]).collect()
}

/// Whether a text shows the token, or half of it, in any form.
pub(super) fn shows(text: &[u8], token: &Secret) -> bool {
    Text::new(text).contains(&forms(token))
}

/// A text as it stands, and with what stands for single characters in it resolved.
struct Text(Vec<String>);

impl Text {
    fn new(text: &[u8]) -> Self {
        let decoded = Decoded::readings(text, true);
        let texts = [text].into_iter().chain(decoded.iter().map(Decoded::bytes));
        Self(texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect())
    }

    fn contains(&self, forms: &[String]) -> bool {
        self.0.iter().any(|text| forms.iter().any(|form| text.contains(form.as_str())))
    }
}

/// Whether a text certainly shows one of the tester's own secrets. These are not made for the test, as the token is: a short one, or a
/// part of one, may be a word that the command has from elsewhere.
pub(super) fn gives_away<'a>(text: &[u8], secrets: impl IntoIterator<Item = &'a Secret>) -> bool {
    const MIN_LENGTH: usize = 12;
    let text = Text::new(text);
    let mut secrets = secrets.into_iter().filter(|secret| secret.expose().len() >= MIN_LENGTH);
    secrets.any(|secret| text.contains(&whole_forms(secret)))
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

/// The beginning and the end of what a command wrote, for the report; none where it shows a secret, or is cut, since the cut may
/// go through one.
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
    fn a_token_is_found_in_what_stands_for_its_characters() {
        let token = Secret::new("API_KEY", "a+token/that~is=long'enough");
        for text in [
            r"a\u002Btoken/that~is=long\u0027enough",
            r"a\u002btoken\/that~is=long'enough",
            "a%2Btoken%2fthat%7Eis%3Dlong%27enough",
            "a&#43;token&#x2F;that~is&#x3D;long&#039;enough",
        ] {
            assert!(shows(format!("tried {text}").as_bytes(), &token), "{text}");
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
        assert!(
            shown.starts_with("panicked at x\na frame") && shown.ends_with("backtrace\nthe last line"),
            "{shown}"
        );
        assert!(shown.chars().count() < 2_010 && shown.contains("backtrace\n…\na frame"), "{shown}");
        assert_eq!(excerpt(format!("tried {}", token.expose()).as_bytes()), None);
        // What was read ends in the middle of it.
        let mut cut = vec![b' '; MAX_OUTPUT - 8];
        cut.extend_from_slice(&token.expose().as_bytes()[..8]);
        assert_eq!(excerpt(&cut), None);
    }
}
