//! The tokens of a sandbox.

use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::domain::token::{Token, TokenKind};

/// Where the tokens of a sandbox come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxTokens {
    /// Random tokens, different for each sandbox.
    #[default]
    Random,
    /// The same tokens for the same seed, in every sandbox of this version. Everybody who has this program can know them.
    Seed(u64),
}

impl SandboxTokens {
    /// `fixed` on the command line: the seed 0.
    pub const FIXED: Self = Self::Seed(0);

    pub(super) fn generator(self) -> impl FnMut(TokenKind) -> Token + Send {
        let mut number = 0_u32;
        move |kind| {
            number += 1;
            match self {
                Self::Random => Token::generate(kind),
                Self::Seed(seed) => {
                    let text = format!("sallyport sandbox, seed {seed}, token {number}");
                    Token::from_digest(kind, Sha256::digest(text).into())
                }
            }
        }
    }
}

impl FromStr for SandboxTokens {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "random" => Ok(Self::Random),
            "fixed" => Ok(Self::FIXED),
            seed => {
                seed.parse().map(Self::Seed).map_err(|_| "expected `random`, `fixed`, or a seed such as 7")
            }
        }
    }
}
