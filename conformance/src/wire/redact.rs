use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::target::Secret;

/// Bytes that a secret needs for less than its full text to be searched for.
const SHORTEST: usize = 6;

/// Characters that some encoders leave as they are in a query.
const LENIENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'*')
    .remove(b'\'');

/// Replaces every known secret, in every form that a request, an answer or a report may show it in, by its name.
#[derive(Debug)]
pub struct Redactor {
    matcher: Option<Matcher>,
}

struct Matcher {
    automaton: AhoCorasick,
    replacements: Vec<String>,
    longest: usize,
}

impl std::fmt::Debug for Matcher {
    /// The automaton holds the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matcher").finish_non_exhaustive()
    }
}

impl Redactor {
    /// A redactor for these secrets; an empty one is left out.
    ///
    /// # Errors
    /// When the secrets are too many or too long for one automaton.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Result<Self, RedactorError> {
        let mut forms = Vec::new();
        let mut replacements = Vec::new();
        for secret in secrets {
            // Of a very short one the rest is found anywhere.
            let nearly = Some(secret.without_last_character()).filter(|nearly| nearly.len() >= SHORTEST);
            let known = forms_of(secret.expose());
            for form in known.into_iter().chain(nearly.into_iter().flat_map(forms_of)) {
                if !form.is_empty() {
                    forms.push(form);
                    replacements.push(format!("${}", secret.name()));
                }
            }
        }
        if forms.is_empty() {
            return Ok(Self { matcher: None });
        }
        let longest = forms.iter().map(String::len).max().unwrap_or(0);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            // A run builds it once and reads little with it: the default one takes longer to build than a short run.
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(&forms)
            .map_err(|_| RedactorError)?;
        Ok(Self { matcher: Some(Matcher { automaton, replacements, longest }) })
    }

    /// The text without secrets.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        match &self.matcher {
            None => text.to_owned(),
            Some(matcher) => matcher.automaton.replace_all(text, &matcher.replacements),
        }
    }

    /// At most `limit` bytes of what the bytes say as text, without secrets. A secret across the cut is taken out first.
    #[must_use]
    pub fn redact_bytes(&self, bytes: &[u8], limit: usize) -> String {
        let slack = self.matcher.as_ref().map_or(0, |matcher| matcher.longest);
        let head = &bytes[..bytes.len().min(limit.saturating_add(slack))];
        let mut text = self.redact(&String::from_utf8_lossy(head));
        if bytes.len() > limit {
            let mut cut = limit.min(text.len());
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            text.truncate(cut);
            text.push_str(&format!("… ({} bytes in all)", bytes.len()));
        }
        text
    }
}

/// The secrets do not fit one automaton.
#[derive(Debug, thiserror::Error)]
#[error("the secrets are too many or too long to be searched for")]
pub struct RedactorError;

/// Letter case is ignored by the automaton, so percent-encoding needs one case only. Texts that quote each other are seen:
/// a JSON text in a string of another one escapes twice.
fn forms_of(secret: &str) -> Vec<String> {
    let in_json = |text: &str| {
        let json = serde_json::Value::from(text).to_string();
        json[1..json.len() - 1].to_owned()
    };
    let mut forms = vec![
        secret.to_owned(),
        utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
        utf8_percent_encode(secret, LENIENT).to_string(),
        utf8_percent_encode(secret, LENIENT).to_string().replace("%20", "+"),
        secret.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
        format!("{secret:?}").trim_matches('"').to_owned(),
        in_markup(secret, "&#39;"),
        in_markup(secret, "&#x27;"),
    ];
    let once: Vec<String> = forms.iter().map(|form| in_json(form)).collect();
    let twice: Vec<String> = once.iter().map(|form| in_json(form)).collect();
    forms.extend(once);
    forms.extend(twice);
    forms.extend(base64_forms(secret.as_bytes()));
    forms.sort_unstable();
    forms.dedup();
    forms
}

fn in_markup(secret: &str, apostrophe: &str) -> String {
    let escaped = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;").replace('\'', apostrophe)
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
    use super::*;

    const TOKEN: &str = "s3cr\"et/+ k\u{e9}y=42";

    fn redactor() -> Redactor {
        Redactor::new([&Secret::new("API_KEY", TOKEN)]).expect("fits")
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
        assert_eq!(Redactor::new([]).expect("fits").redact("text"), "text");
    }
}
