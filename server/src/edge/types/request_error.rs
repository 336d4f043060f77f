//! What is wrong with a request: where, by which clause, what was expected and what came.

use std::{borrow::Cow, fmt};

use super::catalogue::Reason;
use crate::names::nearest;

/// Most characters of a caller's text that a message repeats.
const EXCERPT: usize = 40;

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At<'a> {
    /// The query as a whole.
    Query,
    /// A query parameter.
    Parameter(&'a str),
    /// A header.
    Header(&'a str),
    /// The body as a whole.
    Body,
    /// A field of the body.
    Field(&'a str),
    /// An item of a list in the body, counted from 0.
    Item(&'a str, usize),
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query => f.write_str("the query"),
            Self::Parameter(name) => write!(f, "query parameter `{name}`"),
            Self::Header(name) => write!(f, "header `{name}`"),
            Self::Body => f.write_str("the body"),
            Self::Field(name) => write!(f, "body field `{name}`"),
            Self::Item(name, index) => write!(f, "body item `{name}[{index}]`"),
        }
    }
}

/// A part of a request with the clauses that its constraints come from.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'a> {
    /// Which part.
    pub at: At<'a>,
    /// Clause by keyword, as `x-clause` of the document says; `any` stands for the rest.
    pub clauses: Clauses,
    /// The same for the items of a list.
    pub items: Clauses,
}

/// Clauses by keyword.
pub type Clauses = &'static [(&'static str, &'static str)];

impl<'a> Spot<'a> {
    /// A part with its clauses.
    #[must_use]
    pub const fn new(at: At<'a>, clauses: Clauses) -> Self {
        Self { at, clauses, items: &[] }
    }

    /// A list with the clauses of its items.
    #[must_use]
    pub const fn with_items(self, items: Clauses) -> Self {
        Self { items, ..self }
    }

    /// The clause that `keyword` comes from.
    #[must_use]
    pub fn clause(&self, keyword: &str) -> Option<&'static str> {
        let find =
            |wanted: &str| self.clauses.iter().find(|(name, _)| *name == wanted).map(|(_, clause)| *clause);
        find(keyword).or_else(|| find("any"))
    }

    /// The value breaks `keyword`.
    #[must_use]
    pub fn invalid(&self, keyword: &str, expected: impl Into<Cow<'static, str>>, came: Came) -> Fault {
        self.fault(Reason::Invalid, keyword, expected, Some(came))
    }

    /// The value is absent.
    #[must_use]
    pub fn missing(&self) -> Fault {
        self.fault(Reason::Missing, "required", "be sent", None)
    }

    /// The value is there, but empty.
    #[must_use]
    pub fn empty(&self) -> Fault {
        self.fault(Reason::Empty, "minLength", "not be empty", None)
    }

    /// The value is there more than once.
    #[must_use]
    pub fn repeated(&self) -> Fault {
        self.fault(Reason::Repeated, "required", "be sent only once", None)
    }

    /// Any refusal of this part: it must `expected`.
    #[must_use]
    pub fn fault(
        &self,
        reason: Reason,
        keyword: &str,
        expected: impl Into<Cow<'static, str>>,
        came: Option<Came>,
    ) -> Fault {
        Fault {
            reason,
            place: self.at.to_string(),
            clause: self.clause(keyword),
            expected: expected.into(),
            came,
        }
    }
}

/// Why a request cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// The refusal that the caller gets.
    pub reason: Reason,
    /// Where the fault is.
    pub place: String,
    /// The clause that is broken; `None` where the server decided.
    pub clause: Option<&'static str>,
    /// What the place must do, such as "be a whole number from 1 to 100".
    pub expected: Cow<'static, str>,
    /// What came instead; `None` when nothing came or when it must not be shown.
    pub came: Option<Came>,
}

impl Fault {
    /// A name that is none of `known`; `what` says what has that name.
    #[must_use]
    pub fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let expected = match nearest(name, known) {
            Some(near) => format!("be known; did you mean `{near}`?"),
            None => format!("be known; there are {}", known.join(", ")),
        };
        let place = if looks_like_a_name(name) || nearest(name, known).is_some() {
            format!("{what} {}", Came::text(name))
        } else {
            format!("each {what}")
        };
        Self { reason: Reason::Unknown, place, clause: None, expected: expected.into(), came: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason: _, place, clause, expected, came } = self;
        write!(f, "{place} must {expected}")?;
        if let Some(came) = came {
            write!(f, ", not {came}")?;
        }
        if let Some(clause) = clause {
            write!(f, " ({clause})")?;
        }
        Ok(())
    }
}

/// What came, cut short and escaped, so that it can stand in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Came(String);

impl Came {
    /// A text that the caller sent. Never hand it a token.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let mut shown: String = text.chars().take(EXCERPT).flat_map(char::escape_debug).collect();
        if text.chars().nth(EXCERPT).is_some() {
            shown.push('…');
        }
        Self(format!("\"{shown}\""))
    }

    /// Words of our own, such as "an object" or "10001 items".
    #[must_use]
    pub fn words(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl fmt::Display for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text that came where a name belongs is short and plain enough to be one. Anything else may be a token in
/// the wrong place, which no message repeats.
fn looks_like_a_name(text: &str) -> bool {
    const LONGEST: usize = 20;
    text.len() <= LONGEST
        && text.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_where_what_and_by_which_clause() {
        let spot = Spot::new(At::Parameter("num"), &[("required", "a.b"), ("any", "c.d")]);
        assert_eq!(spot.missing().to_string(), "query parameter `num` must be sent (a.b)");
        let fault = spot.invalid("maximum", "be small", Came::text("101\n"));
        assert_eq!(fault.to_string(), "query parameter `num` must be small, not \"101\\n\" (c.d)");
    }

    #[test]
    fn an_unknown_name_is_shown_only_where_it_looks_like_one() {
        let message = |name| Fault::unknown("query parameter", name, &["num"]).to_string();
        assert!(message("color").contains("\"color\""));
        let token = format!("sally_api_{}", "5f".repeat(32));
        for misplaced in [token.as_str(), &token[..20], &format!("api_key={token}")] {
            assert_eq!(message(misplaced), "each query parameter must be known; there are num");
        }
    }

    #[test]
    fn excerpts_are_short() {
        let came = Came::text(&"é".repeat(1000)).to_string();
        assert_eq!(came.chars().count(), EXCERPT + 3);
    }
}
