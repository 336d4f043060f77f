//! Tokens: secrets that callers send, and the digests by which the store knows them.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use crate::named;

/// A token as its owner holds it. It has no `Display`, its `Debug` says nothing, and its memory is wiped on drop.
#[derive(Clone, Debug)]
pub struct Token(SecretString);

impl Token {
    /// Wraps a token that a caller sent.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(SecretString::from(secret.into()))
    }

    /// Generates a token of 256 random bits. Its prefix shows its kind.
    pub fn generate(kind: TokenKind) -> Self {
        Self::from_digest(kind, rand::random())
    }

    pub(crate) fn from_digest(kind: TokenKind, bits: [u8; 32]) -> Self {
        Self::new(format!("sally_{kind}_{}", Hex(&bits)))
    }

    /// Whether a text looks like a token of [`Token::generate`] or a part of one. Messages must not quote such a text, which may
    /// have been passed in place of a name.
    pub fn resembles(text: &str) -> bool {
        TokenKind::ALL.into_iter().any(|kind| text.contains(&format!("sally_{kind}_")))
    }

    /// The digest that is stored instead of the token.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest(Sha256::digest(self.0.expose_secret().as_bytes()).into())
    }

    /// The secret itself, to show it to its owner or send it in a request. It must not get into logs and errors.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// SHA-256 of a token. A token has 256 random bits, so neither salt nor a slow hash would add anything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenDigest(pub [u8; 32]);

/// Hashes a quarter of the digest, which is random enough.
impl Hash for TokenDigest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        state.write_u64(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
    }
}

impl TokenDigest {
    /// Parses 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits: Vec<u8> =
            text.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        if digits.len() == 64 { Some(Self(bytes.try_into().ok()?)) } else { None }
    }

    /// The digest in 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        Hex(&self.0).to_string()
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest(redacted)")
    }
}

/// The kind of a token, which decides what it can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenKind {
    /// An account API token: every operation.
    Api,
    /// A legacy API Link credential: extraction only (`extract.link-credential`).
    Link,
}

named!(TokenKind { Api = "api", Link = "link" });

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_neither_token_nor_digest() {
        let token = Token::new("very-secret");
        let shown = format!("{token:?} {:?}", token.digest());
        assert!(!shown.contains("very-secret") && shown.ends_with(" TokenDigest(redacted)"), "{shown}");
    }

    #[test]
    fn digest_is_sha_256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let digest = Token::new("abc").digest();
        assert_eq!(digest.to_hex(), expected);
        assert_eq!(TokenDigest::from_hex(expected), Some(digest));
        assert_eq!(TokenDigest::from_hex(&expected[1..]), None);
        assert_eq!(TokenDigest::from_hex(&format!("{expected}0")), None);
        assert_eq!(TokenDigest::from_hex(&expected.replace('b', "g")), None);
    }

    #[test]
    fn generated_tokens_differ_and_show_their_kind() {
        let (one, other) = (Token::generate(TokenKind::Link), Token::generate(TokenKind::Link));
        assert_ne!(one.expose(), other.expose());
        assert!(one.expose().starts_with("sally_link_"));
        assert_eq!(one.expose().len(), "sally_link_".len() + 64);
    }
}
