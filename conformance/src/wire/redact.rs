use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::spelling;
use crate::target::Secret;

/// Bytes that a secret needs for less than its full text to be searched for.
const SHORTEST: usize = 6;

/// Replaces every known secret, however its characters are spelt in a request, an answer or a report, by its name.
pub struct Redactor {
    patterns: Vec<Pattern>,
    /// For each byte, the patterns that may begin with it.
    by_first: Vec<Vec<usize>>,
}

struct Pattern {
    characters: Vec<char>,
    replacement: String,
}

impl std::fmt::Debug for Redactor {
    /// The patterns are the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// A redactor for these secrets; an empty one is left out.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut patterns: Vec<Pattern> = Vec::new();
        for secret in secrets {
            // Of a very short one the rest is found anywhere.
            let nearly = Some(secret.without_last_character()).filter(|nearly| nearly.len() >= SHORTEST);
            for text in std::iter::once(secret.expose()).chain(nearly) {
                let forms = std::iter::once(text.to_owned()).chain(base64_forms(text.as_bytes()));
                let replacement = format!("${}", secret.name());
                patterns.extend(forms.filter(|form| !form.is_empty()).map(|form| Pattern {
                    characters: form.chars().collect(),
                    replacement: replacement.clone(),
                }));
            }
        }
        let beginning = |byte: u8| {
            let fits = |pattern: &Pattern| spelling::may_begin(byte, pattern.characters.first().copied());
            let fitting = patterns.iter().enumerate().filter(|(_, pattern)| fits(pattern));
            fitting.map(|(index, _)| index).collect()
        };
        let by_first = (0..=u8::MAX).map(beginning).collect();
        Self { patterns, by_first }
    }

    /// The text without secrets.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        let mut shown = String::with_capacity(text.len());
        let (mut at, mut kept) = (0, 0);
        while at < bytes.len() {
            let candidates = self.by_first.get(usize::from(bytes[at])).into_iter().flatten();
            let found = candidates.filter_map(|index| self.patterns.get(*index)).filter_map(|pattern| {
                spelling::end_of(bytes, at, &pattern.characters).map(|end| (end, pattern))
            });
            match found.max_by_key(|(end, _)| *end) {
                Some((end, pattern)) => {
                    shown.push_str(text.get(kept..at).unwrap_or_default());
                    shown.push_str(&pattern.replacement);
                    (at, kept) = (end, end);
                }
                None => at += 1,
            }
        }
        shown.push_str(text.get(kept..).unwrap_or_default());
        shown
    }

    /// What the bytes say as text, without secrets, cut to about `limit` bytes after they were taken out.
    #[must_use]
    pub fn redact_bytes(&self, bytes: &[u8], limit: usize) -> String {
        let mut text = self.redact(&String::from_utf8_lossy(bytes));
        if text.len() > limit {
            let mut cut = limit;
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            text.truncate(cut);
            text.push_str(&format!("… ({} bytes in all)", bytes.len()));
        }
        text
    }
}

/// Base64 of the secret wherever it stands in a longer text: the characters that it alone decides, for each of the three
/// alignments. Very short secrets are skipped, as their few characters would be found anywhere.
fn base64_forms(secret: &[u8]) -> Vec<String> {
    if secret.len() < SHORTEST {
        return Vec::new();
    }
    let mut forms = Vec::new();
    for engine in [&STANDARD, &URL_SAFE] {
        for offset in 0..3 {
            let mut bytes = vec![0; offset];
            bytes.extend_from_slice(secret);
            let text = engine.encode(&bytes);
            let begin = (offset * 8).div_ceil(6);
            let end = bytes.len() * 8 / 6;
            forms.push(text[begin..end].to_owned());
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

    use super::*;

    const TOKEN: &str = "s3cr\"et/+ k\u{e9}y=42";

    fn redactor() -> Redactor {
        Redactor::new([&Secret::new("API_KEY", TOKEN)])
    }

    #[test]
    fn every_form_is_taken_out() {
        let json = serde_json::json!({ "a": TOKEN }).to_string();
        let everything: String = TOKEN.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let forms = [
            TOKEN.to_owned(),
            utf8_percent_encode(TOKEN, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(TOKEN, NON_ALPHANUMERIC).to_string().to_lowercase(),
            everything,
            json,
            format!("{TOKEN:?}"),
            TOKEN.replace('/', r"\/").replace('"', r#"\""#),
            TOKEN.replace('/', r"\\\/").replace('"', r#"\\\""#),
            TOKEN.replace('/', "&#x2F;").replace('"', "&quot;").replace('+', "&#43;"),
            TOKEN.replace('"', "&amp;quot;").replace('=', "&amp;#061;"),
            TOKEN.replace('"', "%22").replace(' ', "+").replace('=', "\\u003d"),
            TOKEN.replace('/', "%252F").replace(' ', "%2520"),
            TOKEN.replace('/', "\\u002F").replace('+', "\\\\u002b").replace('\u{e9}', "\\u{e9}"),
        ];
        for form in forms {
            let shown = redactor().redact(&format!("before {form} after"));
            assert!(shown.contains("$API_KEY"), "{shown}");
            assert!(shown.starts_with("before ") && shown.ends_with(" after"), "{shown}");
        }
    }

    #[test]
    fn base64_is_found_at_every_alignment() {
        for prefix in ["", "a", "ab", "user:", "Bearer "] {
            for engine in [&STANDARD, &URL_SAFE] {
                let text = engine.encode(format!("{prefix}{TOKEN}:tail"));
                assert!(redactor().redact(&text).contains("$API_KEY"), "{prefix}");
            }
        }
    }

    #[test]
    fn a_secret_across_the_cut_leaves_no_rest() {
        let text = format!("{}{TOKEN}", "x".repeat(10));
        for limit in 0..text.len() {
            let shown = redactor().redact_bytes(text.as_bytes(), limit);
            assert!(!shown.contains("s3cr"), "{limit}: {shown}");
        }
    }

    #[test]
    fn without_secrets_the_text_stays() {
        assert_eq!(Redactor::new([]).redact("text"), "text");
    }
}
