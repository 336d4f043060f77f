use std::borrow::Borrow;
use std::cmp::Reverse;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::Secret;
use super::password::PASSWORD;
use super::spelling::{self, Match};

const SHORTEST: usize = Secret::SHORTEST;

/// Maximum number of patterns of passwords and other credentials from responses. A service that shows one with each of thousands of instances has been
/// reported by then.
const MAX_LEARNED: usize = 1_000;

/// Patterns of a group of learned ones.
const GROUP: usize = 64;

/// Maximum length of a password that is searched for in other texts, in bytes.
const MAX_LEARNED_LENGTH: usize = 256;

/// Replaces every known secret by its name, however its characters are spelt in a request, a response or a report.
pub struct Redactor {
    known: Patterns,
    /// Passwords and other credentials found in responses, in groups, since a group is built anew for each that it gets.
    learned: RwLock<Vec<Patterns>>,
}

/// A secret that is too short to be hidden in reports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}`: expected a secret of at least {SHORTEST} characters, found {length} characters: a shorter one occurs in ordinary words, \
     where it cannot be hidden; use a longer one, or --public-header for a header that is not secret"
)]
pub struct ShortSecret {
    /// The name that replaces it in reports.
    pub name: &'static str,
    /// Length in characters.
    pub length: usize,
}

/// Texts with what replaces each of them.
struct Patterns {
    texts: Vec<(String, String)>,
    search: spelling::Patterns,
}

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
        let mut patterns = Vec::new();
        for secret in secrets {
            let secret = secret.borrow();
            let length = secret.expose().chars().count();
            if (1..SHORTEST).contains(&length) {
                return Err(ShortSecret { name: secret.name(), length });
            }
            // What is shorter than the shortest secret is not one.
            let texts = if length > SHORTEST { 4 } else { 1 };
            let texts = secret.shown().into_iter().take(texts);
            patterns.extend(texts.flat_map(|(shown, text)| forms(&text, &shown)));
        }
        Ok(Self { known: Patterns::new(patterns), learned: RwLock::default() })
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
        let mut learned = self.learned.write().unwrap_or_else(PoisonError::into_inner);
        let last = learned.pop_if(|group| group.texts.len() < GROUP);
        let mut texts = last.map(|group| group.texts).unwrap_or_default();
        texts.extend(forms(password, &format!("${name}")));
        learned.push(Patterns::new(texts));
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
        let layers = spelling::layers(text);
        let learned = self.learned();
        let groups = || std::iter::once(&self.known).chain(&*learned);
        let open = groups().filter(|_| is_cut).filter_map(|group| group.search.open(&layers)).min();
        let end = open.unwrap_or(text.len());
        let of_group = |group| Patterns::find(group, &layers);
        let mut found: Vec<_> =
            groups().flat_map(of_group).filter(|(found, _)| found.place.start < end).collect();
        // Of secrets that differ in their case only, the one that the text spells counts.
        found.sort_by_key(|(found, replacement)| {
            let is_changed = replacement.starts_with("${");
            (found.place.start, Reverse(found.place.end), !found.is_same_case, is_changed)
        });
        let mut shown = String::with_capacity(end);
        let mut kept = 0;
        for (Match { place, .. }, replacement) in found {
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
        let search = spelling::Patterns::new(texts.iter().map(|(text, _)| text.as_str())).expect("a search");
        Self { texts, search }
    }

    /// Every spelling of a text, with what replaces it.
    fn find<'a>(
        &'a self,
        layers: &[spelling::Layer<'_>],
    ) -> impl Iterator<Item = (Match, &'a str)> + use<'a> {
        let found = self.search.find(layers).into_iter();
        found.map(|found| {
            let replacement = self.texts[found.pattern].1.as_str();
            (found, replacement)
        })
    }
}

/// The secret as it is, in base64 and in hexadecimal digits, with what replaces it.
fn forms(secret: &str, replacement: &str) -> impl Iterator<Item = (String, String)> + use<> {
    let hexadecimal = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let forms = [secret.to_owned(), hexadecimal].into_iter().chain(base64_forms(secret.as_bytes()));
    let replacement = replacement.to_owned();
    forms.filter(|form| !form.is_empty()).map(move |form| (form, replacement.clone()))
}

/// Base64 of the secret within a longer text: the characters that only the secret determines, for each of the three alignments.
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
    use fastrand::Rng;
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

    use super::*;

    const TOKEN: &str = "s3cr\"et/+ k\u{e9}y=42";

    fn redactor() -> Redactor {
        Redactor::new([&Secret::new("API_KEY", TOKEN)]).expect("a long secret")
    }

    #[test]
    fn every_form_is_redacted() {
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
            TOKEN.bytes().map(|byte| format!("{byte:02X}")).collect(),
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
    fn a_password_found_in_a_response_is_hidden_from_then_on() {
        let redactor = redactor();
        assert_eq!(redactor.redact("a hunter2hunter2 b"), "a hunter2hunter2 b");
        // A service may have a fresh credential in each response.
        (0..MAX_LEARNED).for_each(|number| redactor.learn_as(&format!("credential-{number:04}"), "HIDDEN"));
        redactor.learn("hunter2hunter2");
        redactor.learn("short");
        for form in ["hunter2hunter2", "hunter2\\u0068unter2", &STANDARD.encode("user:hunter2hunter2")] {
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

    fn pick<'a>(random: &mut Rng, choice: &[&'a str]) -> &'a str {
        choice[random.usize(..choice.len())]
    }

    /// A character in a random mixture of spellings.
    fn spelt(random: &mut Rng, character: char) -> String {
        let code = u32::from(character);
        let backslash = pick(random, &["\\", "%5C", "%255c", "\\\\", "%5c\\%5C"]);
        let ampersand = pick(random, &["&", "%26", "\\u0026", "%5C\\u0026", "&amp;amp;"]);
        let percent = |prefix: &str| {
            let bytes = character.to_string().into_bytes();
            bytes.iter().map(|byte| format!("%{prefix}{byte:02x}")).collect::<String>()
        };
        match random.u8(..7) {
            0 => character.to_string(),
            1 => percent(""),
            2 => percent("2525"),
            3 => format!("{backslash}u{code:04X}"),
            4 => format!("{backslash}u{{{code:x}}}"),
            5 if !"uUxX".contains(character) => format!("{backslash}{character}"),
            _ => format!("{ampersand}#{code};"),
        }
    }

    const FRAGMENTS: [&str; 26] = [
        "\\", "\"", "%", "%5C", "%25", "25", "%255C", "C%5c", "&", "&amp;", "amp;", "%26amp;", "\\u0026",
        "\\u005c", "\\u", "\\ud83d", "\\x", "+", "#34;", "&#", "s3cr", "s3cr\"", "%73", "\u{e9}", "\\u{7",
        "c",
    ];

    /// The target controls the text.
    #[test]
    fn a_text_is_decoded_a_few_times_and_never_grows() {
        let mut random = Rng::with_seed(7);
        for _ in 0..200 {
            let fragment: String = (0..random.usize(1..=4)).map(|_| pick(&mut random, &FRAGMENTS)).collect();
            let text = fragment.repeat(300);
            let layers = spelling::layers(&text);
            assert!(
                layers.len() < 9 && layers.iter().all(|layer| layer.bytes.len() <= text.len()),
                "{fragment}"
            );
        }
    }

    /// The one is plain text, and the other JSON within JSON.
    #[test]
    fn secrets_of_escapes_are_found() {
        let secrets = [
            "%%%%%%25",
            "\\\\\\\\\\\\",
            "c\\c\\c\\c/",
            "&amp;amp;&",
            "a%41\"+%2B",
            "\u{1f600}abc\u{1f600}\\",
        ];
        for secret in secrets {
            let redactor = Redactor::new([&Secret::new("API_KEY", secret)]).expect("a long secret");
            let json = serde_json::json!(secret).to_string();
            for text in [secret.to_owned(), json.clone(), serde_json::json!(json).to_string()] {
                let shown = redactor.redact(&format!("<{text}>"));
                assert!(shown.contains("$API_KEY") && shown.len() < 22, "{text}: {shown}");
            }
        }
    }

    #[test]
    fn control_characters_are_found_by_their_letters() {
        let secret = "s3\tcr\net\r\u{8}\u{c}\u{0}key";
        let redactor = Redactor::new([&Secret::new("API_KEY", secret)]).expect("a long secret");
        let json = serde_json::json!(secret).to_string();
        let within = serde_json::json!(json).to_string();
        let mixed = secret.replace('\t', "\\u0009").replace('\n', "%0A").replace('\r', "\\r");
        for text in [secret.to_owned(), json, within, format!("{secret:?}"), mixed] {
            let shown = redactor.redact(&format!("<{text}>\n"));
            assert!(
                shown.contains("$API_KEY") && shown.len() < 22 && shown.ends_with(">\n"),
                "{text}: {shown}"
            );
        }
    }

    #[test]
    fn a_secret_is_found_in_any_mixture_of_spellings() {
        // Each character of the token is once the first.
        let characters: Vec<char> = TOKEN.chars().collect();
        let rotated =
            |by: usize| characters.iter().cycle().skip(by).take(characters.len()).collect::<String>();
        let secrets: Vec<String> = (0..characters.len()).map(rotated).collect();
        let redactor = |secret: &String| Redactor::new([&Secret::new("API_KEY", secret)]).expect("a secret");
        let redactors: Vec<Redactor> = secrets.iter().map(redactor).collect();
        let mut random = Rng::with_seed(11);
        for (secret, redactor) in secrets.iter().zip(&redactors).cycle().take(4_000) {
            let spelt: String = secret.chars().map(|character| spelt(&mut random, character)).collect();
            let [before, after] = [(); 2].map(|()| pick(&mut random, &FRAGMENTS));
            let text = format!("<{before}>{spelt}<{after}>");
            let shown = redactor.redact(&text);
            assert!(shown.contains("$API_KEY"), "{text}: {shown}");
            assert!(shown.len() < 30, "{text}: {shown}");
        }
    }

    #[test]
    fn a_mixture_of_spellings_across_the_cut_leaves_no_rest() {
        let redactor = redactor();
        let mut random = Rng::with_seed(17);
        for _ in 0..300 {
            let mut text = "<".to_owned();
            let mut complete = usize::MAX;
            for character in TOKEN.chars() {
                text.push_str(&spelt(&mut random, character));
                complete = complete.min(text.len());
            }
            for cut in (complete..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let shown = redactor.redact_part(&text[..cut], true);
                assert_eq!(shown, "<", "{}", &text[..cut]);
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
