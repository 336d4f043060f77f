//! The account's token, and keeping it out of whatever a person may read.

use std::{env, fmt};

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use crate::Error;

/// What stands in place of the token.
const REDACTED: &str = "<API_KEY>";

/// The token. It has no `Display`, and its `Debug` says nothing.
#[derive(Clone)]
pub(crate) struct Token(SecretString);

impl Token {
    /// Refuses a token that is empty or cannot stand in a header, without repeating it.
    pub(crate) fn new(secret: SecretString) -> Result<Self, Error> {
        let text = secret.expose_secret();
        if text.is_empty() {
            return Err(Error::configuration("the token is empty; give the account's API token"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let message = "the token holds spaces, line ends or other characters that no token has; look for a stray \
                           line end";
            return Err(Error::configuration(message));
        }
        Ok(Self(secret))
    }

    /// Reads the environment variable `name`.
    pub(crate) fn from_env(name: &str) -> Result<SecretString, Error> {
        // The variable's value is never part of the message, not even when it is not UTF-8.
        env::var(name).map(SecretString::from).map_err(|_| {
            Error::configuration(format!(
                "the environment variable {name} is not set, or not UTF-8; put the token there"
            ))
        })
    }

    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// A header value that logs leave out.
    pub(crate) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("{prefix}{}", self.expose())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// `text` without the token, in any of the spellings that it travels in.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let raw = self.expose();
        let upper = percent_encoded(raw, |byte| format!("%{byte:02X}"));
        let lower = percent_encoded(raw, |byte| format!("%{byte:02x}"));
        let json = serde_json::Value::from(raw).to_string();
        let json = json.trim_matches('"');
        let mut scrubbed = text.to_owned();
        for spelling in [json, &upper, &lower, raw] {
            if scrubbed.contains(spelling) {
                scrubbed = scrubbed.replace(spelling, REDACTED);
            }
        }
        scrubbed
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(REDACTED)
    }
}

fn percent_encoded(text: &str, encode: impl Fn(u8) -> String) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            other => encode(other),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token {
        Token::new(SecretString::from(text)).unwrap()
    }

    #[test]
    fn every_spelling_is_scrubbed() {
        let token = token("ab/c+\"d");
        for text in ["x ab/c+\"d y", "?k=ab%2Fc%2B%22d", "?k=ab%2fc%2b%22d", r#"{"k":"ab/c+\"d"}"#] {
            let scrubbed = token.scrub(text);
            assert!(scrubbed.contains(REDACTED) && !scrubbed.contains("ab"), "{scrubbed}");
        }
    }

    #[test]
    fn debug_says_nothing_and_headers_are_sensitive() {
        assert_eq!(format!("{:?}", token("canary")), REDACTED);
        assert_eq!(format!("{:?}", token("canary").header("Bearer ")), "Some(Sensitive)");
    }

    #[test]
    fn a_refused_token_is_not_repeated() {
        for text in ["", "canary\n", "cana ry", "canarié"] {
            let error = Token::new(SecretString::from(text)).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("cana"), "{error}");
        }
    }
}
