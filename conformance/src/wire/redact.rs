use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Secret;
use super::decoded::{Decoded, cut_escape, may_hold_escapes};
use super::password::PASSWORD;

const SHORTEST: usize = Secret::SHORTEST;

/// Maximum number of patterns of passwords and other credentials from responses. A service that shows one with each of thousands of
/// instances has been reported by then.
const MAX_LEARNED: usize = 2_000;

/// Patterns of a group of learned ones.
const GROUP: usize = 64;

/// Maximum length of a password that is searched for in other texts, in bytes.
const MAX_LEARNED_LENGTH: usize = 256;

/// Replaces every known secret by its name, in each of its [`spellings`].
pub struct Redactor {
    known: Patterns,
    /// Passwords and other credentials found in responses, in groups, since a group is built anew for each that it gets.
    learned: RwLock<Vec<Patterns>>,
    /// Whether one of them holds what looks like an escape.
    hold_escapes: AtomicBool,
}

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

/// Texts with what replaces each of them. Letters count in either case.
struct Patterns {
    texts: Vec<(String, String)>,
    search: AhoCorasick,
}

/// A place in a text, what replaces it, and whether its letters have the case of the pattern.
type Match<'a> = (Range<usize>, &'a str, bool);

impl std::fmt::Debug for Redactor {
    /// The patterns are the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Bytes of a text that are searched for each byte that is shown, because a secret may be longer than its name.
    const WINDOW: usize = 4;

    /// A redactor for these secrets. Empty ones are ignored.
    ///
    /// # Errors
    /// When one is so short that ordinary words may contain it.
    pub fn new(secrets: impl IntoIterator<Item = impl Borrow<Secret>>) -> Result<Self, ShortSecret> {
        let (mut patterns, mut hold_escapes) = (Vec::new(), false);
        for secret in secrets {
            let secret = secret.borrow();
            let length = secret.expose().chars().count();
            if (1..SHORTEST).contains(&length) {
                return Err(ShortSecret { name: secret.name(), length });
            }
            hold_escapes |= may_hold_escapes(secret.expose());
            // What is shorter than the shortest secret is not one.
            let texts = if length > SHORTEST { 4 } else { 1 };
            let texts = secret.shown().into_iter().take(texts);
            patterns.extend(texts.flat_map(|(shown, text)| replaced(&text, &shown)));
        }
        let hold_escapes = AtomicBool::new(hold_escapes);
        Ok(Self { known: Patterns::new(patterns), learned: RwLock::default(), hold_escapes })
    }

    /// Treats a password from a response as a secret from now on. A very short one occurs anywhere, so it is only hidden where it
    /// is the value of a password.
    pub(super) fn learn(&self, password: &str) {
        self.learn_as(password, PASSWORD);
    }

    /// The same for another credential, which `name` replaces. They leave half of the patterns to passwords.
    pub(super) fn learn_as(&self, password: &str, name: &str) {
        let most = if name == PASSWORD { MAX_LEARNED } else { MAX_LEARNED / 2 };
        let is_full = || self.learned().iter().map(|group| group.texts.len()).sum::<usize>() >= most;
        if !(SHORTEST..=MAX_LEARNED_LENGTH).contains(&password.len())
            || is_full()
            || self.redact(password) != password
        {
            return;
        }
        self.hold_escapes.fetch_or(may_hold_escapes(password), Ordering::Relaxed);
        let mut learned = self.learned.write().unwrap_or_else(PoisonError::into_inner);
        let last = learned.pop_if(|group| group.texts.len() < GROUP);
        let mut texts = last.map(|group| group.texts).unwrap_or_default();
        texts.extend(replaced(password, &format!("${name}")));
        learned.push(Patterns::new(texts));
    }

    /// Treats a secret that was not known before as one of [`Redactor::new`] from now on. False, and nothing changes, if it is too short.
    pub(super) fn hide(&self, secret: &Secret) -> bool {
        let is_long_enough = secret.expose().chars().count() > SHORTEST;
        if is_long_enough {
            self.hold_escapes.fetch_or(may_hold_escapes(secret.expose()), Ordering::Relaxed);
            let patterns = secret.shown().into_iter().flat_map(|(shown, text)| replaced(&text, &shown));
            let mut learned = self.learned.write().unwrap_or_else(PoisonError::into_inner);
            learned.insert(0, Patterns::new(patterns.collect()));
        }
        is_long_enough
    }

    fn learned(&self) -> RwLockReadGuard<'_, Vec<Patterns>> {
        self.learned.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text without secrets. The whole text is searched; use [`Redactor::redact_bytes`] for a text of the target, which may be
    /// very long.
    pub fn redact(&self, text: &str) -> String {
        self.redact_part(text, false)
    }

    /// The bytes as text without secrets, cut to about `limit` bytes after redaction.
    pub fn redact_bytes(&self, bytes: &[u8], limit: usize) -> String {
        self.redact_beginning(bytes, bytes.len(), limit).0
    }

    /// Redacts the beginning of a text of `length` bytes; also returns whether it was cut.
    pub(super) fn redact_beginning(&self, bytes: &[u8], length: usize, limit: usize) -> (String, bool) {
        let searched = &bytes[..bytes.len().min(Self::window(limit))];
        let whole = searched.len() == length;
        let mut text = self.redact_part(&String::from_utf8_lossy(searched), !whole);
        let is_cut = text.len() > limit || !whole;
        if is_cut {
            let mut cut = text.len().min(limit);
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            text.truncate(cut);
            text.push_str(&format!("… ({length} bytes in all)"));
        }
        (text, is_cut)
    }

    /// Number of bytes to search for secrets in order to show `limit` of them.
    pub(super) const fn window(limit: usize) -> usize {
        limit * Self::WINDOW
    }

    /// Up to `max` characters of a text, on one line and without secrets. The text is redacted before it is cut, because half of
    /// a secret would not be recognised.
    pub(crate) fn excerpt(&self, text: &str, max: usize) -> String {
        // A character takes up to four bytes.
        let searched = text.floor_char_boundary(Self::window(4 * max));
        let is_cut = searched < text.len();
        let shown = self.redact_part(&text[..searched], is_cut);
        let line: String = shown.chars().take(max).map(|c| if c.is_control() { ' ' } else { c }).collect();
        if is_cut || shown.chars().count() > max { format!("{line}…") } else { line }
    }

    /// The text without secrets and, if it was cut, without what may be the beginning of one at its end.
    fn redact_part(&self, text: &str, is_cut: bool) -> String {
        let learned = self.learned();
        let groups = || std::iter::once(&self.known).chain(&*learned);
        // The last character may be cut, and what stands for one.
        let bytes = text.trim_end_matches('\u{fffd}').as_bytes();
        let escape = Some(bytes).filter(|_| is_cut).and_then(cut_escape);
        let complete = &bytes[..escape.unwrap_or(bytes.len())];
        let decoded = Decoded::readings(complete, self.hold_escapes.load(Ordering::Relaxed));
        let open = groups().filter(|_| is_cut).flat_map(|group| {
            let in_decoded = decoded.iter().filter_map(|decoded| {
                let begin = group.open(decoded.bytes())?;
                Some(decoded.place(&(begin..begin)).start)
            });
            let in_text = [group.open(bytes), group.open(complete)].into_iter().flatten();
            in_text.chain(in_decoded).collect::<Vec<_>>()
        });
        let end = open.chain(escape).min().unwrap_or(text.len());
        let in_decoded = decoded.iter().flat_map(|decoded| {
            let found = groups().flat_map(|group| group.find(decoded.bytes()));
            found.map(|(place, replacement, is_same_case)| (decoded.place(&place), replacement, is_same_case))
        });
        let found = groups().flat_map(|group| group.find(text.as_bytes())).chain(in_decoded);
        let mut found: Vec<Match<'_>> = found.filter(|(place, ..)| place.start < end).collect();
        // Of secrets that differ in their case only, the one that the text spells counts.
        found.sort_by_key(|(place, replacement, is_same_case)| {
            (place.start, Reverse(place.end), !is_same_case, replacement.starts_with("${"))
        });
        let mut shown = String::with_capacity(end);
        let mut kept = 0;
        for (place, replacement, _) in found {
            // Of two overlapping secrets, the rest of the second one is hidden too.
            if place.start >= kept {
                shown.push_str(text.get(kept..place.start).unwrap_or_default());
                shown.push_str(replacement);
            }
            kept = kept.max(place.end);
        }
        shown.push_str(text.get(kept..end).unwrap_or_default());
        shown
    }
}

impl Patterns {
    #[expect(
        clippy::expect_used,
        reason = "secrets of arguments, files and 256 bytes each are no gigabytes of patterns"
    )]
    fn new(mut texts: Vec<(String, String)>) -> Self {
        texts.sort_unstable();
        texts.dedup();
        // A table of all transitions takes some 500 times the memory of the patterns, which the target controls in part.
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(texts.iter().map(|(text, _)| text))
            .expect("a search");
        Self { texts, search }
    }

    /// Every place of a pattern, with what replaces it; they may overlap.
    fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Match<'a>> {
        self.search.find_overlapping_iter(text).map(move |found| {
            let (pattern, replacement) = &self.texts[found.pattern().as_usize()];
            let is_same_case = text[found.range()] == *pattern.as_bytes();
            (found.range(), replacement.as_str(), is_same_case)
        })
    }

    /// Where a pattern begins that may continue beyond the end of a text that was cut.
    fn open(&self, text: &[u8]) -> Option<usize> {
        let longest = self.texts.iter().map(|(pattern, _)| pattern.len()).max()?;
        let begins = |rest: &[u8]| {
            let mut beginnings =
                self.texts.iter().filter_map(|(pattern, _)| pattern.as_bytes().get(..rest.len()));
            beginnings.any(|beginning| beginning.eq_ignore_ascii_case(rest))
        };
        (text.len().saturating_sub(longest)..text.len()).find(|at| begins(&text[*at..]))
    }
}

/// The spellings of a secret, with what replaces them.
fn replaced(secret: &str, replacement: &str) -> impl Iterator<Item = (String, String)> + use<> {
    let replacement = replacement.to_owned();
    spellings(secret).into_iter().map(move |spelling| (spelling, replacement.clone()))
}

/// What URLs, JSON, logs and authentication make of a text, beside what [`Decoded`] resolves. Encodings around one another are found
/// where programs nest them: any of these in a text of JSON, and each of them once more as `Decoded` reads it, such as a URL as a
/// parameter of another one.
pub(crate) fn spellings(text: &str) -> BTreeSet<String> {
    /// What RFC 3986 calls unreserved stays as it is.
    const URL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    /// As `encodeURIComponent` of browsers.
    const COMPONENT: &AsciiSet = &URL.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
    /// A query that was parsed and written again.
    const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'\'').add(b'<').add(b'>');
    /// A segment of a path.
    const SEGMENT: &AsciiSet =
        &QUERY.remove(b'\'').add(b'/').add(b'%').add(b'?').add(b'`').add(b'{').add(b'}');
    let percent = |text: &str, kept| utf8_percent_encode(text, kept).to_string();
    let json = |text: &str| {
        let quoted = serde_json::Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    // `Decoded` does not resolve one encoding within another of a secret that itself holds what looks like one, such as `&amp;`.
    let html = |apostrophe: &str| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        text.replace('"', "&quot;").replace('\'', apostrophe)
    };
    let sets = [NON_ALPHANUMERIC, URL, COMPONENT, QUERY, SEGMENT];
    let encoded = sets.map(|kept| percent(text, kept));
    let mut spellings: BTreeSet<String> = base64_forms(text.as_bytes()).into_iter().collect();
    spellings.extend(encoded.iter().map(|encoded| encoded.replace("%20", "+")));
    spellings.extend(encoded);
    spellings.extend([
        text.to_owned(),
        text.replace(' ', "+"),
        text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        json(text),
        json(text).replace('/', "\\/"),
        text.escape_debug().to_string(),
        text.escape_default().to_string(),
        html("&#39;"),
        html("&#x27;"),
        html("&#x27;").replace('/', "&#x2f;"),
    ]);
    // Each of them may stand in a text of a JSON body.
    spellings.extend(spellings.iter().map(|spelling| json(spelling)).collect::<Vec<_>>());
    spellings.retain(|spelling| !spelling.is_empty());
    spellings
}

/// Base64 of a text within a longer one: the characters that only the text determines, for each of the three alignments.
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
    use super::*;

    const TOKEN: &str = "s3cr\"et/+ k\u{e9}y=42'<";

    fn redactor() -> Redactor {
        Redactor::new([&Secret::new("API_KEY", TOKEN)]).expect("a long secret")
    }

    /// A token in the forms that common writers give it. They differ in what they encode.
    fn encoded() -> Vec<String> {
        let written = |is_kept: fn(char) -> bool, write: &dyn Fn(u32) -> String| -> String {
            TOKEN.chars().map(|c| if is_kept(c) { c.to_string() } else { write(c.into()) }).collect()
        };
        let alphanumeric = |c: char| c.is_ascii_alphanumeric();
        let reference = |c: char| !"\"&'<>+=/`".contains(c);
        let form: String = url::form_urlencoded::byte_serialize(TOKEN.as_bytes()).collect();
        vec![
            form.replace("%3D", "%3d"),
            written(alphanumeric, &|code| format!("\\u{code:04X}")),
            written(alphanumeric, &|code| format!("\\u{code:04x}")),
            written(|c| c != '+', &|code| format!("\\u{code:04X}")).replace('"', r#"\""#),
            written(reference, &|code| format!("&#{code};")),
            written(reference, &|code| format!("&#0{code};")),
            written(reference, &|code| format!("&#x{code:X};")),
            written(reference, &|code| format!("&#x{code:02x};")),
            written(reference, &|code| format!("&#X{code:04x};")).replace("&#X003c;", "&lt;"),
        ]
    }

    #[test]
    fn what_stands_for_single_characters_is_redacted() {
        for text in encoded() {
            let shown = redactor().redact(&format!("before {text} after"));
            assert_eq!(shown, "before $API_KEY after", "{text}");
        }
    }

    /// Resolving all of a text would change what the token holds.
    #[test]
    fn a_token_that_holds_escapes_is_hidden_in_each_encoding() {
        for token in ["tok%42en/x<\u{e9}>", r"tok\u0042en/x<\u{e9}>", "tok&lt;en/x<\u{e9}>"] {
            let redactor = Redactor::new([&Secret::new("API_KEY", token)]).expect("a long secret");
            let quoted = serde_json::Value::from(token).to_string();
            let html = token.replace('&', "&amp;").replace('<', "&lt;").replace('/', "&#x2f;");
            for text in [
                token.to_owned(),
                utf8_percent_encode(token, NON_ALPHANUMERIC).to_string().replace("%2F", "/"),
                quoted[1..quoted.len() - 1].replace('\u{e9}', r"\u00E9").replace('<', r"\u003c"),
                html.clone(),
                html.replace('>', "&gt;").replace('\u{e9}', "&#233;"),
            ] {
                assert_eq!(
                    redactor.redact(&format!("before {text} after")),
                    "before $API_KEY after",
                    "{text}"
                );
                let cut = redactor.redact_part(&text[..text.len() - 1], true);
                assert!(cut.is_empty(), "{text}: {cut}");
            }
        }
    }

    #[test]
    fn every_spelling_is_redacted() {
        let url = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let json = serde_json::json!({ "a": TOKEN }).to_string();
        for spelling in [
            TOKEN.to_owned(),
            url(TOKEN),
            url(TOKEN).to_lowercase(),
            url(&url(TOKEN)),
            url::form_urlencoded::byte_serialize(TOKEN.as_bytes()).collect(),
            reqwest::Url::parse(&format!("http://h/?{TOKEN}")).expect("a URL").to_string(),
            reqwest::Url::parse(&format!("http://h/{}", TOKEN.replace('/', "%2F")))
                .expect("a URL")
                .to_string(),
            TOKEN.bytes().map(|byte| format!("%{byte:02x}")).collect(),
            TOKEN.bytes().map(|byte| format!("{byte:02X}")).collect(),
            serde_json::json!(json).to_string(),
            json,
            format!("{TOKEN:?}"),
            TOKEN.escape_default().to_string(),
            TOKEN.replace('/', r"\/").replace('"', r#"\""#),
            TOKEN
                .replace('"', r#"\""#)
                .replace('\u{e9}', r"\u00e9")
                .replace('\'', r"\u0027")
                .replace('<', r"\u003c"),
            TOKEN.replace('"', "&quot;").replace('\'', "&#39;").replace('<', "&lt;"),
        ] {
            let shown = redactor().redact(&format!("before {spelling} after"));
            assert!(shown.starts_with("before ") && shown.ends_with(" after"), "{shown}");
            assert!(shown.contains("$API_KEY"), "{spelling}: {shown}");
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
    fn a_password_found_in_a_response_is_hidden_from_then_on() {
        let redactor = redactor();
        assert_eq!(redactor.redact("a hunter2hunter2 b"), "a hunter2hunter2 b");
        // A service may have a fresh credential in each response.
        (0..MAX_LEARNED).for_each(|number| redactor.learn_as(&format!("credential-{number:04}"), "HIDDEN"));
        redactor.learn("hunter2hunter2");
        redactor.learn("short");
        for form in ["hunter2hunter2", &STANDARD.encode("user:hunter2hunter2")] {
            let shown = redactor.redact(&format!("a {form} short"));
            assert!(shown.contains("$PASSWORD") && shown.ends_with(" short"), "{shown}");
        }
    }

    #[test]
    fn a_secret_that_occurs_in_ordinary_words_is_rejected() {
        for (secret, length) in [("x", 1), ("ex", 2), ("äöüäö", 5)] {
            let error = Redactor::new([&Secret::new("API_KEY", secret)]).expect_err("too short");
            assert_eq!(error, ShortSecret { name: "API_KEY", length });
            assert!(!error.to_string().contains(&format!("`{secret}`")), "{error}");
        }
        assert!(Redactor::new([&Secret::new("API_KEY", "sixsix")]).is_ok());
        let redactor = Redactor::new([] as [&Secret; 0]).expect("no secret");
        assert_eq!(redactor.redact("text"), "text");
    }

    #[test]
    fn overlapping_secrets_are_hidden() {
        let secrets = [Secret::new("ONE", "abcdefgh"), Secret::new("TWO", "efghijkl")];
        let redactor = Redactor::new(&secrets).expect("long secrets");
        assert_eq!(redactor.redact("<abcdefghijkl>"), "<$ONE>");
        assert_eq!(redactor.redact("<abcdefghefghijkl>"), "<$ONE$TWO>");
    }

    #[test]
    fn a_spelling_across_the_cut_leaves_no_rest() {
        let redactor = redactor();
        for spelling in spellings(TOKEN).into_iter().chain(encoded()) {
            let text = format!("<{spelling}");
            for cut in 0..text.len() {
                let bytes = text.as_bytes()[..cut].to_vec();
                let shown = redactor.redact_part(&String::from_utf8_lossy(&bytes), true);
                assert!("<".starts_with(&shown), "{}: {shown}", String::from_utf8_lossy(&bytes));
            }
        }
    }

    #[test]
    fn the_shown_part_of_a_long_text_is_redacted() {
        let redactor = redactor();
        for before in [0, 10, 300, 630, 639, 640, 700] {
            let text = format!("{}{TOKEN}{}", "x".repeat(before), "\\".repeat(1 << 20));
            let shown = redactor.redact_bytes(text.as_bytes(), 160);
            assert!(shown.len() < 200 && !shown.contains("s3cr"), "{shown}");
            assert!(!redactor.excerpt(&text, 160).contains("s3cr"), "{before}");
        }
    }
}
