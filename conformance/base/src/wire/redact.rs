use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::decoded::Decoded;
use super::password::PASSWORD;
use super::{Secret, debug_as};
use crate::lock;

const SHORTEST: usize = Secret::SHORTEST;

/// Maximum number of credentials learned from responses. A service that shows thousands of them has been reported by then.
const MAX_LEARNED: usize = 200;

/// Maximum length of a password that is searched for in other texts, in bytes.
const MAX_LEARNED_LENGTH: usize = 256;

/// Replaces every known secret by its name, in each of its spellings and as `Decoded` reads them.
pub struct Redactor(Mutex<Secrets>);

/// A secret that is too short to be hidden in reports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}`: expected a secret of at least {SHORTEST} characters, found {length} characters: a shorter one occurs in ordinary words, \
     where it cannot be hidden; {}",
    source(.name).0, source(.name).1
)]
pub struct ShortSecret {
    /// The name that replaces it in reports.
    pub name: &'static str,
    /// Length in characters.
    pub length: usize,
}

/// Where the tester supplies the secret of that name, and what to do about a short one.
fn source(name: &'static str) -> (&'static str, &'static str) {
    match name {
        "API_KEY" => ("SALLYPORT_API_KEY", "use a longer one"),
        "HEADER" => ("--header", "use a longer one, or --public-header for a header that is not secret"),
        "PROXY" => ("--proxy", "give the user of the proxy a longer password"),
        variable => (variable, "use a longer one"),
    }
}

/// The spellings of all secrets, with what replaces each of them.
#[derive(Default)]
struct Secrets {
    spellings: BTreeMap<String, String>,
    /// How many were learned from responses.
    learned: usize,
    /// None until a text is searched for the present ones.
    search: Option<Arc<Search>>,
}

/// Searches a text for all of them at once. Letters count in either case.
struct Search {
    /// What is searched for, and what replaces it.
    patterns: Vec<(String, String)>,
    automaton: AhoCorasick,
    /// Length of the longest spelling, in bytes.
    longest: usize,
}

/// A part of a text that is a secret: where it begins and ends, whether its case differs, whether it is only nearly the secret of a
/// tester, and what replaces it. Of those that begin at one place, the first one in this order counts.
type Hidden<'a> = (usize, Reverse<usize>, bool, bool, &'a str);

debug_as!(Redactor, |_| "Redactor");

impl Redactor {
    /// Bytes of a text that are searched for each byte that is shown, because a secret may be longer than its name.
    pub(super) const WINDOW: usize = 4;

    /// A redactor for these secrets. Empty ones are ignored.
    ///
    /// # Errors
    /// When one is so short that ordinary words may contain it.
    pub fn new(secrets: impl IntoIterator<Item = impl Borrow<Secret>>) -> Result<Self, ShortSecret> {
        let mut known = Secrets::default();
        for secret in secrets {
            let secret = secret.borrow();
            let length = secret.expose().chars().count();
            if (1..SHORTEST).contains(&length) {
                return Err(ShortSecret { name: secret.name(), length });
            }
            // What is shorter than the shortest secret is not one.
            let texts = match length {
                0 => 0,
                SHORTEST => 1,
                _ => 4,
            };
            secret.shown().into_iter().take(texts).for_each(|(shown, text)| known.add(&text, &shown));
        }
        Ok(Self(Mutex::new(known)))
    }

    /// Treats a password or another credential from a response, which `name` replaces, as a secret from now on. A very short one
    /// occurs anywhere, so it is only hidden where it is the value of a password. Others leave half of what can be learned to passwords.
    pub fn learn(&self, password: &str, name: &str) {
        let mut secrets = lock(&self.0);
        let most = if name == PASSWORD { MAX_LEARNED } else { MAX_LEARNED / 2 };
        let is_learned = (SHORTEST..=MAX_LEARNED_LENGTH).contains(&password.len())
            && secrets.learned < most
            && !secrets.spellings.contains_key(password);
        if is_learned {
            secrets.learned += 1;
            secrets.add(password, &format!("${name}"));
        }
    }

    /// Treats a secret that was not known before as one of [`Redactor::new`] from now on. False, and nothing changes, if it is too short.
    pub(super) fn hide(&self, secret: &Secret) -> bool {
        let is_long_enough = secret.expose().chars().count() > SHORTEST;
        if is_long_enough {
            let mut secrets = lock(&self.0);
            secret.shown().into_iter().for_each(|(shown, text)| secrets.add(&text, &shown));
        }
        is_long_enough
    }

    /// The text without secrets. All of it is searched; use [`Redactor::redact_bytes`] for a text of the target.
    pub fn redact(&self, text: &str) -> String {
        let search = lock(&self.0).search();
        search.redact(text, false)
    }

    /// The bytes as text without secrets, cut to about `limit` bytes after redaction.
    pub fn redact_bytes(&self, bytes: &[u8], limit: usize) -> String {
        self.redact_beginning(bytes, bytes.len(), limit).0
    }

    /// Redacts the beginning of a text of `length` bytes; also returns whether it was cut.
    pub(super) fn redact_beginning(&self, bytes: &[u8], length: usize, limit: usize) -> (String, bool) {
        let search = lock(&self.0).search();
        let searched = &bytes[..bytes.len().min(search.window(limit))];
        let whole = searched.len() == length;
        let mut text = search.redact(&String::from_utf8_lossy(searched), !whole);
        let is_cut = text.len() > limit || !whole;
        if is_cut {
            text.truncate(text.floor_char_boundary(limit));
            text.push_str(&format!("… ({length} bytes in all)"));
        }
        (text, is_cut)
    }

    /// Up to `max` characters of a text, on one line, redacted before the cut, since half a secret would not be recognised.
    pub fn excerpt(&self, text: &str, max: usize) -> String {
        let search = lock(&self.0).search();
        // A character takes up to four bytes.
        let searched = text.floor_char_boundary(search.window(4 * max));
        let is_cut = searched < text.len();
        let shown = search.redact(&text[..searched], is_cut);
        let line: String = shown.chars().take(max).map(|c| if c.is_control() { ' ' } else { c }).collect();
        if is_cut || shown.chars().count() > max { format!("{line}…") } else { line }
    }
}

impl Secrets {
    fn add(&mut self, text: &str, shown: &str) {
        for spelling in spellings(text) {
            let replacement = self.spellings.entry(spelling).or_insert_with(|| shown.to_owned());
            // What is nearly one secret may be another one.
            if replacement.starts_with("${") {
                shown.clone_into(replacement);
            }
        }
        self.search = None;
    }

    #[expect(
        clippy::expect_used,
        reason = "secrets of arguments, files and 256 bytes each are no gigabytes of patterns"
    )]
    fn search(&mut self) -> Arc<Search> {
        let new = || {
            let patterns: Vec<(String, String)> = self.spellings.clone().into_iter().collect();
            // A table of all transitions takes some 500 times the memory of the patterns, which the target controls in part.
            let automaton = AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .build(patterns.iter().map(|(text, _)| text))
                .expect("a search");
            let longest = patterns.iter().map(|(text, _)| text.len()).max().unwrap_or_default();
            Arc::new(Search { patterns, automaton, longest })
        };
        Arc::clone(self.search.get_or_insert_with(new))
    }
}

impl Search {
    /// Number of bytes to search for secrets in order to show `limit` of them.
    fn window(&self, limit: usize) -> usize {
        limit.saturating_add(self.longest).saturating_mul(Redactor::WINDOW)
    }

    /// The text without secrets and, if it was cut, without its end, which may be the beginning of one.
    fn redact(&self, text: &str, is_cut: bool) -> String {
        let (mut found, mut end) = (BTreeSet::new(), text.len());
        Decoded::visit_readings(text.as_bytes(), &mut |decoded| {
            let parts = self.find(decoded.bytes()).into_iter();
            found.extend(parts.map(|((begin, _, is_other_case, is_near, replacement), end)| {
                let place = decoded.place(&(begin..end));
                (place.start, Reverse(place.end), is_other_case, is_near, replacement)
            }));
            if is_cut {
                end = end.min(decoded.place_of_end(self.longest));
            }
        });
        let end = text.floor_char_boundary(end);
        let mut shown = String::with_capacity(end);
        let mut kept = 0;
        for (begin, Reverse(until), .., replacement) in found.into_iter().filter(|(begin, ..)| *begin < end) {
            // Of two overlapping secrets, the rest of the second one is hidden too.
            if begin >= kept {
                shown.push_str(text.get(kept..begin).unwrap_or_default());
                shown.push_str(replacement);
            }
            kept = kept.max(until);
        }
        shown.push_str(text.get(kept..end).unwrap_or_default());
        shown
    }

    /// The first of overlapping secrets, and where the last ends, joined as found: one letter may hold hundreds at each place.
    fn find(&self, text: &[u8]) -> Vec<(Hidden<'_>, usize)> {
        let mut found: Vec<(Hidden<'_>, usize)> = Vec::new();
        for part in self.automaton.find_overlapping_iter(text) {
            let (pattern, replacement) = &self.patterns[part.pattern().as_usize()];
            let is_other_case = text[part.range()] != *pattern.as_bytes();
            let is_near = replacement.starts_with("${");
            let mut first: Hidden<'_> =
                (part.start(), Reverse(part.end()), is_other_case, is_near, replacement);
            // They come in the order of their ends.
            while let Some((before, _)) = found.pop_if(|(_, end)| *end > part.start()) {
                first = first.min(before);
            }
            found.push((first, part.end()));
        }
        found
    }
}

/// What authentication and logs make of a text, beside what [`Decoded`] resolves.
pub(crate) fn spellings(text: &str) -> BTreeSet<String> {
    /// A query that was parsed and written again, where percent signs of the text stay.
    const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'\'').add(b'<').add(b'>');
    let mut spellings: BTreeSet<String> = base64_forms(text.as_bytes()).into_iter().collect();
    spellings.extend([
        text.to_owned(),
        text.replace(' ', "+"),
        utf8_percent_encode(text, QUERY).to_string(),
        text.bytes().map(|byte| format!("{byte:02x}")).collect(),
    ]);
    spellings.retain(|spelling| !spelling.is_empty());
    spellings
}

/// Base64 of a text within a longer one: the characters that only the text determines, for each of the three alignments.
pub fn base64_forms(secret: &[u8]) -> Vec<String> {
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

/// The rows of `spellings.txt`: a token, and a text that holds it, perhaps beside other things.
#[cfg(test)]
pub(crate) fn written() -> Vec<(&'static str, &'static str, bool)> {
    let (mut token, mut written) = ("", Vec::new());
    for line in
        include_str!("spellings.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        match (line.strip_prefix("token "), line.strip_prefix("~ ")) {
            (Some(next), _) => token = next,
            (None, longer) => written.push((token, longer.unwrap_or(line), longer.is_some())),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor_of(token: &str) -> Redactor {
        Redactor::new([&Secret::new("API_KEY", token)]).expect("a long secret")
    }

    fn redactor() -> Redactor {
        redactor_of(written()[0].0)
    }

    #[test]
    fn a_token_is_hidden_however_it_is_written() {
        for (token, text, is_longer) in written() {
            let shown = redactor_of(token).redact(&format!("before {text} after"));
            let rest = shown.replace("$API_KEY", "");
            assert!(
                rest.starts_with("before ") && rest.ends_with(" after") && rest != shown,
                "{text}: {shown}"
            );
            assert!(is_longer || rest == "before  after", "{text}: {shown}");
        }
    }

    #[test]
    fn a_password_found_in_a_response_is_hidden_from_then_on() {
        let redactor = redactor();
        assert_eq!(redactor.redact("a hunter2hunter2 b"), "a hunter2hunter2 b");
        // A service may have a fresh credential in each response.
        (0..MAX_LEARNED).for_each(|number| redactor.learn(&format!("credential-{number:04}"), "HIDDEN"));
        redactor.learn("hunter2hunter2", PASSWORD);
        redactor.learn("short", PASSWORD);
        let password = "abc\n\r\u{8}\u{c}\0def-123";
        redactor.learn(password, PASSWORD);
        for text in [serde_json::Value::from(password).to_string(), format!("{password:?}")] {
            assert_eq!(redactor.redact(&text), "\"$PASSWORD\"", "{text}");
        }
        for form in ["hunter2hunter2", &STANDARD.encode("user:hunter2hunter2")] {
            let shown = redactor.redact(&format!("a {form} short"));
            assert!(shown.contains("$PASSWORD") && shown.ends_with(" short"), "{shown}");
        }
    }

    #[test]
    fn a_secret_that_occurs_in_ordinary_words_is_rejected() {
        let new = |secret| Redactor::new([&Secret::new("API_KEY", secret)]);
        assert_eq!(new("äöüäö").expect_err("too short"), ShortSecret { name: "API_KEY", length: 5 });
        assert_eq!(new("sixsix").expect("long enough").redact("a sixsix"), "a $API_KEY");
        assert_eq!(new("").expect("no secret").redact("text"), "text");
    }

    #[test]
    fn overlapping_secrets_are_hidden() {
        let secrets = [Secret::new("ONE", "abcdefgh"), Secret::new("TWO", "efghijkl")];
        let redactor = Redactor::new(&secrets).expect("long secrets");
        assert_eq!(redactor.redact("<abcdefghijkl>"), "<$ONE>");
        assert_eq!(redactor.redact("<abcdefghefghijkl>"), "<$ONE$TWO>");
    }

    #[test]
    fn a_secret_across_the_cut_leaves_no_rest() {
        let before = "x".repeat(2_000);
        let (token, ..) = written()[0];
        let alone = written().into_iter().filter(|(.., is_longer)| !is_longer);
        let alone = alone.map(|(token, text, _)| (token, text.to_owned()));
        for (token, spelling) in alone.chain(spellings(token).into_iter().map(|text| (token, text))) {
            let redactor = redactor_of(token);
            let text = format!("{before}{spelling}");
            for cut in before.len()..text.len() {
                let (shown, _) = redactor.redact_beginning(&text.as_bytes()[..cut], text.len(), text.len());
                let (shown, _) = shown.split_once('…').expect("it was cut");
                assert!(shown.len() > 1_000 && before.starts_with(shown), "{spelling}: {shown}");
            }
        }
    }

    #[test]
    fn the_shown_part_of_a_long_text_is_redacted() {
        let redactor = redactor();
        for before in [0, 10, 300, 630, 639, 640, 700] {
            let text = format!("{}{}{}", "x".repeat(before), written()[0].0, "\\".repeat(1 << 20));
            let shown = redactor.redact_bytes(text.as_bytes(), 160);
            assert!(shown.len() < 200 && !shown.contains("s3cr"), "{shown}");
            assert!(!redactor.excerpt(&text, 160).contains("s3cr"), "{before}");
        }
    }
}
