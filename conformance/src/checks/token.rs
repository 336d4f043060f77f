//! Tokens that no service may take for the account's.

use crate::check::{Probe, Stop};
use crate::contract::Clause;
use crate::target::Secret;
use crate::wire::{Exchange, QuerySpelling, Request};

/// A token that no account has.
pub(super) const UNKNOWN: &str =
    "sallyport-unknown-token-0000000000000000-which-is-longer-than-tokens-usually-are";

/// A way in which a token is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrongToken {
    Empty,
    /// Spaces alone.
    Blank,
    Unknown,
    /// Unknown, and as long as the account's token.
    SameLength,
    /// The account's token without its last character.
    Cut,
    /// The account's token with one more character.
    Longer,
    /// The account's token with another last character.
    Altered,
    /// The account's token with another first character.
    AlteredFirst,
    /// The account's token with the case of its letters changed.
    OtherCase,
    /// The account's token and, behind a NUL, one more character.
    BehindNul,
    /// What databases match with any text.
    Wildcard,
    /// What programs write for a token that they lack.
    Null,
    Undefined,
    Zero,
}

impl WrongToken {
    pub(super) const ALL: [Self; 14] = [
        Self::Empty,
        Self::Blank,
        Self::Unknown,
        Self::SameLength,
        Self::Cut,
        Self::Longer,
        Self::Altered,
        Self::AlteredFirst,
        Self::OtherCase,
        Self::BehindNul,
        Self::Wildcard,
        Self::Null,
        Self::Undefined,
        Self::Zero,
    ];

    /// Those that a header can carry.
    pub(super) fn in_header() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|wrong| *wrong != Self::BehindNul)
    }

    /// For the label of a case.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Blank => "blank",
            Self::Unknown => "unknown",
            Self::SameLength => "same-length",
            Self::Cut => "cut",
            Self::Longer => "longer",
            Self::Altered => "altered",
            Self::AlteredFirst => "altered-first",
            Self::OtherCase => "other-case",
            Self::BehindNul => "behind-nul",
            Self::Wildcard => "wildcard",
            Self::Null => "null",
            Self::Undefined => "undefined",
            Self::Zero => "zero",
        }
    }

    /// What is wrong with it.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Empty => "the token is empty",
            Self::Blank => "the token is three spaces",
            Self::Unknown => "the token is unknown",
            Self::SameLength => "the token is unknown and as long as a known one",
            Self::Cut => "the last character of the token is missing",
            Self::Longer => "there is one more character behind the token",
            Self::Altered => "the last character of the token is another",
            Self::AlteredFirst => "the first character of the token is another",
            Self::OtherCase => "the letters of the token are in the other case",
            Self::BehindNul => "there is a NUL behind the token, and one more character",
            Self::Wildcard => "the token is a percent sign",
            Self::Null => "the token is the word null",
            Self::Undefined => "the token is the word undefined",
            Self::Zero => "the token is 0",
        }
    }

    /// The token to send. The redactor knows each that is made of the account's.
    ///
    /// # Errors
    /// Skip when there is none: some account has this token, or the account's token has no letters.
    pub(super) fn text(self, probe: &Probe<'_>) -> Result<String, Stop> {
        let token = probe.token();
        let text = match self {
            Self::Empty => return Ok(String::new()),
            Self::Blank => return Ok("   ".to_owned()),
            Self::Unknown => UNKNOWN.to_owned(),
            Self::SameLength => UNKNOWN.chars().cycle().take(token.expose().chars().count()).collect(),
            Self::Cut => token.without_last_character().to_owned(),
            Self::Longer => format!("{}~", token.expose()),
            Self::Altered => altered(token),
            Self::AlteredFirst => format!("~{}", token.without_first_character()),
            Self::OtherCase => token.in_other_case(),
            Self::BehindNul => format!("{}\0~", token.expose()),
            Self::Wildcard => "%".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Undefined => "undefined".to_owned(),
            Self::Zero => "0".to_owned(),
        };
        let mut known = std::iter::once(token).chain(probe.facts().secrets());
        if text.is_empty() || known.any(|secret| secret.expose() == text) {
            return Err(probe.skip("the account's token leaves no token of this kind"));
        }
        Ok(text)
    }
}

/// Changes a request that carries the account's token in the query parameter of that name.
pub(super) type TokenChange = fn(&Probe<'_>, &str, Request) -> Request;

/// Ways in which a query does not have its one token: it has none under its own name, or more than one.
pub(super) const NOT_ONE: [(&str, TokenChange); 10] = [
    ("the token is absent", |_, name, good| good.without_query(name)),
    ("the token is sent twice", |probe, name, good| good.add_query(name, probe.token().expose())),
    ("the token is sent three times", |probe, name, good| {
        let token = probe.token().expose();
        good.add_query(name, token).add_query(name, token)
    }),
    ("the token is sent twice, with the second name percent-encoded", |probe, name, good| {
        let name: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let token: String = probe.token().expose().bytes().map(|byte| format!("%{byte:02X}")).collect();
        good.raw_query(format!("{name}={token}"))
    }),
    ("an unknown token is sent after the token", |_, name, good| good.add_query(name, UNKNOWN)),
    ("an unknown token is sent before the token", |probe, name, good| {
        good.query(name, UNKNOWN).add_query(name, probe.token().expose())
    }),
    ("an empty token is sent after the token", |_, name, good| good.add_query(name, "")),
    ("an empty token is sent before the token", |probe, name, good| {
        good.query(name, "").add_query(name, probe.token().expose())
    }),
    ("the name of the token is in capitals", |probe, name, good| {
        good.without_query(name).add_query(&name.to_uppercase(), probe.token().expose())
    }),
    ("the name of the token is that of a list", |probe, name, good| {
        good.without_query(name).add_query(&format!("{name}[]"), probe.token().expose())
    }),
];

/// A query parameter that no operation has.
const OTHER_PARAMETER: &str = "sallyport-other";

/// A query means the same however it is written: with each of its bytes percent-encoded (RFC 3986, 2.1), and whatever
/// stands before the token.
pub(super) async fn read_anywhere(
    probe: &Probe<'_>,
    clause: Clause,
    good: &Request,
    name: &str,
) -> Result<(), Stop> {
    probe.control_once(good).await?;
    let encoded = good.clone().spelling(QuerySpelling::Encoded);
    probe.accepts(clause, "each byte of the query is percent-encoded", &encoded).await?;
    // Other parameters may be rejected.
    let between = good.clone().add_query(OTHER_PARAMETER, 1);
    if !probe.is_accepted(&between).await?.1 {
        return Ok(());
    }
    let token = good.query_value(name).unwrap_or_default().to_owned();
    let why = "the token is sent twice, with another parameter between";
    probe.rejects(clause, why, &between.add_query(name, &token)).await?;
    let behind = good.clone().without_query(name).add_query(OTHER_PARAMETER, 1).add_query(name, token);
    probe.accepts(clause, "the token stands behind another parameter", &behind).await?;
    Ok(())
}

/// The token with another last character, one that tokens hardly have.
pub(super) fn altered(token: &Secret) -> String {
    format!("{}~", token.without_last_character())
}

/// Whether two rejections have the same status and the same code.
pub(super) fn rejected_alike(one: &Exchange, other: &Exchange) -> bool {
    let outline = |exchange: &Exchange| {
        let response = exchange.result.as_ref().ok()?;
        Some((response.status, response.at("/code").cloned()))
    };
    outline(one).is_some() && outline(one) == outline(other)
}
