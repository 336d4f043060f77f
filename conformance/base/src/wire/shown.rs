//! Finds secrets in what a program wrote and sent, in the forms that are hidden.

use aho_corasick::AhoCorasick;

use super::decoded::Decoded;
use super::redact::spellings;
use super::secret::Secret;

/// Whether a text shows the token, or half of it, in any form. Half of it is no mask: a few characters at the beginning or the end are.
pub fn shows(text: &[u8], token: &Secret) -> bool {
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
pub fn gives_away<'a>(text: &[u8], secrets: impl IntoIterator<Item = &'a Secret>) -> bool {
    const MIN_LENGTH: usize = 12;
    let secrets = secrets.into_iter().map(Secret::expose).filter(|secret| secret.len() >= MIN_LENGTH);
    let forms: Vec<String> = secrets.flat_map(spellings).collect();
    has_any(text, forms.iter().map(String::as_str))
}

/// Whether a text shows one of these tokens, as [`shows`] says.
pub fn shows_any<'a>(text: &[u8], secrets: impl IntoIterator<Item = &'a Secret>) -> bool {
    secrets.into_iter().any(|secret| shows(text, secret))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::super::redact::written;
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
    fn a_token_is_found_however_it_is_written() {
        for (token, text, _) in written() {
            assert!(shows(format!("tried {text}").as_bytes(), &Secret::new("API_KEY", token)), "{text}");
        }
    }
}
