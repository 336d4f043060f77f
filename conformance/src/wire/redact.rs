use std::borrow::Borrow;
use std::sync::{PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::{Answer, password, spelling};
use crate::target::Secret;

/// Bytes that a secret needs for less than its full text to be searched for.
const SHORTEST: usize = 6;

/// What stands in place of a password that an answer showed.
pub(crate) const PASSWORD: &str = "PASSWORD";

/// Patterns of passwords that are kept: a service that shows one with each of thousands of instances is known by then.
const MOST_LEARNED: usize = 1_000;

/// Replaces every known secret, however its characters are spelt in a request, an answer or a report, by its name.
pub struct Redactor {
    known: Patterns,
    /// Passwords that answers showed, which nobody could know before.
    learned: RwLock<Patterns>,
}

#[derive(Default)]
struct Patterns {
    patterns: Vec<Pattern>,
    /// For each byte, the patterns that may begin with it.
    by_first: Vec<Vec<usize>>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
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
    pub fn new(secrets: impl IntoIterator<Item = impl Borrow<Secret>>) -> Self {
        let patterns = secrets.into_iter().flat_map(|secret| {
            let secret = secret.borrow();
            // Of a very short one the rest is found anywhere.
            let nearly = Some(secret.without_last_character()).filter(|nearly| nearly.len() >= SHORTEST);
            let texts = std::iter::once(secret.expose()).chain(nearly);
            texts.flat_map(|text| forms(text, secret.name())).collect::<Vec<_>>()
        });
        Self { known: Patterns::new(patterns.collect()), learned: RwLock::default() }
    }

    /// Takes what an answer calls a password for a secret from now on: a report shows what came, but no password.
    pub fn learn_from(&self, answer: &Answer) {
        if let Some(body) = answer.json().filter(|_| password::may_speak_of_one(answer.body())) {
            password::visit(body, &mut |_, shown| self.learn(shown.value));
        }
    }

    /// Takes a password that an answer showed for a secret from now on. A very short one is found anywhere, so it is hidden
    /// where it stands as a password only.
    fn learn(&self, password: &str) {
        if password.len() < SHORTEST || self.redact(password) != password {
            return;
        }
        let mut learned = self.learned.write().unwrap_or_else(PoisonError::into_inner);
        if learned.patterns.len() < MOST_LEARNED {
            let mut patterns = std::mem::take(&mut learned.patterns);
            patterns.extend(forms(password, PASSWORD));
            *learned = Patterns::new(patterns);
        }
    }

    /// The text without secrets.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let text = self.known.redact(text);
        let learned = self.learned.read().unwrap_or_else(PoisonError::into_inner);
        if learned.patterns.is_empty() { text } else { learned.redact(&text) }
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

impl Patterns {
    fn new(mut patterns: Vec<Pattern>) -> Self {
        patterns.sort_unstable();
        patterns.dedup();
        let beginning = |byte: u8| {
            let fits = |pattern: &Pattern| spelling::may_begin(byte, pattern.characters.first().copied());
            let fitting = patterns.iter().enumerate().filter(|(_, pattern)| fits(pattern));
            fitting.map(|(index, _)| index).collect()
        };
        let by_first = (0..=u8::MAX).map(beginning).collect();
        Self { patterns, by_first }
    }

    fn redact(&self, text: &str) -> String {
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
}

/// The secret as it is, and within base64.
fn forms(secret: &str, name: &str) -> Vec<Pattern> {
    let replacement = format!("${name}");
    // The few characters of a very short one would be found anywhere.
    let in_base64 = Some(secret.as_bytes()).filter(|secret| secret.len() >= SHORTEST).map(base64_forms);
    let forms = std::iter::once(secret.to_owned()).chain(in_base64.into_iter().flatten());
    let patterns = forms.filter(|form| !form.is_empty());
    patterns
        .map(|form| Pattern { characters: form.chars().collect(), replacement: replacement.clone() })
        .collect()
}

/// Base64 of the secret wherever it stands in a longer text: the characters that it alone decides, for each of the three
/// alignments.
pub(crate) fn base64_forms(secret: &[u8]) -> Vec<String> {
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
    fn a_password_that_an_answer_showed_is_hidden_from_then_on() {
        let redactor = redactor();
        assert_eq!(redactor.redact("a hunter2hunter2 b"), "a hunter2hunter2 b");
        redactor.learn("hunter2hunter2");
        redactor.learn("short");
        for form in ["hunter2hunter2", "hunter2\\u0068unter2", &STANDARD.encode("user:hunter2hunter2")] {
            let shown = redactor.redact(&format!("a {form} short"));
            assert!(shown.contains("$PASSWORD") && shown.ends_with(" short"), "{shown}");
        }
    }

    #[test]
    fn without_secrets_the_text_stays() {
        assert_eq!(Redactor::new([] as [&Secret; 0]).redact("text"), "text");
    }
}
