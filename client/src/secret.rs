//! The account's token, and its removal from text.

use std::fmt;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use crate::{Error, InvalidArgument};

/// Replaces the token in text.
const REDACTED: &str = "<API_KEY>";

/// How many bytes of the token at the end of an interrupted text count as the token.
const MIN_PREFIX: usize = 6;

/// The token. It has no `Display`, and its `Debug` is redacted.
#[derive(Debug)]
pub(crate) struct Token(SecretString);

/// What `Debug` does not show.
#[derive(Clone, Default)]
pub(crate) struct Hidden<T>(pub(crate) T);

impl<T> fmt::Debug for Hidden<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("<hidden>")
    }
}

impl Token {
    /// Fails without repeating the token when it is empty or cannot be sent in a header.
    pub(crate) fn new(secret: SecretString) -> Result<Self, Error> {
        let text = secret.expose_secret();
        if text.is_empty() {
            let clause =
                sallyport_contract::operations().first().map_or("", |one| one.token.required.as_str());
            return Err(InvalidArgument::new("token", clause, "a token that is not empty", "none").into());
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let message = "invalid token: expected printable ASCII without spaces; remove a trailing line break, if there is one";
            return Err(Error::configuration(message));
        }
        Ok(Self(secret))
    }

    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// A header value that is marked sensitive, so that logs omit it.
    pub(crate) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("{prefix}{}", self.expose())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// `text` without the token; `None` when it does not hold it.
    pub(crate) fn scrub_bytes(&self, text: &[u8]) -> Option<Vec<u8>> {
        if !self.may_be_in(text) {
            return None;
        }
        let scrubbed = self.scrub_start(text, usize::MAX);
        (scrubbed != text).then_some(scrubbed)
    }

    /// A fast test, which most texts fail: whatever holds the token holds an escape or the token's beginning.
    fn may_be_in(&self, text: &[u8]) -> bool {
        let token = self.expose().as_bytes();
        let beginning = &token[..token.len().min(MIN_PREFIX)];
        memchr::memchr2(b'%', b'\\', text).is_some() || memchr::memmem::find(text, beginning).is_some()
    }

    /// Replaces the token in `text`, in every encoding in which it may be sent.
    pub(crate) fn scrub(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.scrub_start(text.as_bytes(), usize::MAX)).into_owned()
    }

    /// The beginning of `text` without the token: at least `enough` bytes where there are as many, and never only a part of
    /// a token at its end.
    pub(crate) fn scrub_start(&self, text: &[u8], enough: usize) -> Vec<u8> {
        let mut scrubbed = Vec::with_capacity(text.len().min(enough));
        let mut at = 0;
        while at < text.len() && scrubbed.len() < enough {
            match self.spelling(&text[at..]) {
                Some(length) => {
                    scrubbed.extend_from_slice(REDACTED.as_bytes());
                    at += length;
                }
                None => {
                    let end = at + 1 + self.before_token(&text[at + 1..]);
                    let end = end.min(at.saturating_add(enough - scrubbed.len()));
                    scrubbed.extend_from_slice(&text[at..end]);
                    at = end;
                }
            }
        }
        scrubbed
    }

    /// Length of the token at the beginning of `text`; `None` when `text` begins otherwise.
    fn spelling(&self, text: &[u8]) -> Option<usize> {
        let token = self.expose().as_bytes();
        let may_begin = |byte: &u8| written(*byte, text).iter().any(Option::is_some);
        token.first().filter(|byte| may_begin(byte)).and_then(|_| spelling(token, text))
    }

    /// Number of bytes before the first one with which a spelling of the token can begin.
    fn before_token(&self, text: &[u8]) -> usize {
        let first = self.expose().as_bytes().first().copied().unwrap_or(b'%');
        memchr::memchr3(b'%', b'\\', first, text).unwrap_or(text.len())
    }
}

/// Length of the token at the beginning of `text`; `None` when `text` begins otherwise.
///
/// Each of its bytes may be written plainly, with `%` and two digits, or with a JSON escape: encoders disagree about which
/// bytes need one. A body that breaks off within the token still ends in most of it, so that a beginning counts as well.
fn spelling(token: &[u8], text: &[u8]) -> Option<usize> {
    // A token with `%` in it can be read in two ways, so that several ends are possible at once.
    let mut ends = vec![0];
    for (index, byte) in token.iter().enumerate() {
        let mut next = Vec::new();
        for end in &ends {
            let rest = &text[*end..];
            if rest.is_empty() && index >= MIN_PREFIX.min(token.len()) {
                return Some(text.len());
            }
            next.extend(written(*byte, rest).into_iter().flatten().map(|length| end + length));
        }
        next.sort_unstable();
        next.dedup();
        ends = next;
        if ends.is_empty() {
            return None;
        }
    }
    ends.last().copied()
}

/// Lengths of the ways in which `text` may begin with `byte`.
fn written(byte: u8, text: &[u8]) -> [Option<usize>; 3] {
    let hexadecimal = |digits: Option<&[u8]>| {
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) == Some(byte)
    };
    let plain = text.first() == Some(&byte);
    let percent = text.first() == Some(&b'%') && hexadecimal(text.get(1..3));
    let escape = match text {
        [b'\\', b'u', b'0', b'0', ..] if hexadecimal(text.get(4..6)) => Some(6),
        [b'\\', escaped, ..] if *escaped == byte => Some(2),
        _ => None,
    };
    [plain.then_some(1), percent.then_some(3), escape]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token {
        Token::new(SecretString::from(text)).unwrap()
    }

    #[test]
    fn the_spelling_of_a_url_is_scrubbed_whatever_the_token_holds() {
        let graphic: Vec<char> = (b'!'..=b'~').map(char::from).collect();
        let tokens =
            graphic.windows(6).map(String::from_iter).chain(["*~%25%".to_owned(), "a*b~c/d".to_owned()]);
        for raw in tokens {
            let url =
                reqwest::Url::parse_with_params("https://api.invalid/", [("key", raw.as_str())]).unwrap();
            let sent = url.query().and_then(|query| query.strip_prefix("key=")).unwrap();
            // In lower case, a token with capitals is no longer the token.
            let is_lower = !raw.bytes().any(|byte| byte.is_ascii_uppercase());
            let lower = is_lower.then(|| sent.to_ascii_lowercase());
            for spelling in [sent.to_owned(), format!("{raw:?}")].into_iter().chain(lower) {
                let shown = token(&raw).scrub(&format!("({spelling})"));
                assert!(shown.contains(REDACTED) && shown.len() <= REDACTED.len() + 4, "{raw}: {shown}");
            }
        }
    }

    #[test]
    fn a_token_is_not_cut_in_two_and_bytes_are_copied_only_to_remove_one() {
        let token = token("canary-token");
        for text in [
            "x canary-token",
            "x canary-toke",
            "x canary",
            "x %63anary",
            "x %63anary-token",
            r"x can\u0061ry-token",
        ] {
            assert_eq!(token.scrub(text), "x <API_KEY>", "{text}");
            assert_eq!(token.scrub_bytes(text.as_bytes()).as_deref(), Some(&b"x <API_KEY>"[..]), "{text}");
        }
        // Of `can`, too little is left to tell anything.
        for text in ["", "x can", "nothing of the kind", "50 % off", r"a\nb"] {
            assert_eq!((token.scrub(text).as_str(), token.scrub_bytes(text.as_bytes())), (text, None));
        }
        let text = format!("{}canary-token and more", "y".repeat(295));
        assert!(!String::from_utf8(token.scrub_start(text.as_bytes(), 300)).unwrap().contains("can"));
        assert!(token.scrub_start(&vec![b'y'; 1 << 24], 300).len() < 400);
    }

    #[test]
    fn headers_are_sensitive() {
        assert_eq!(format!("{:?}", token("canary").header("Bearer ")), "Some(Sensitive)");
    }
}
