//! Request errors: which part of a request is wrong, by which clause, what was expected and what was found.

use std::{borrow::Cow, fmt};

use crate::{
    edge::responding::{api_error::ApiError, error_code::ErrorCode},
    names::nearest,
};

/// Maximum number of characters of a caller's text that a message repeats.
const MAX_EXCERPT: usize = 40;

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The query as a whole.
    Query,
    /// A parameter of the path.
    Path(&'a str),
    /// A query parameter.
    Parameter(&'a str),
    /// A value of a query parameter that may be sent several times, counted from 1.
    Value(&'a str, usize),
    /// A header.
    Header(&'a str),
    /// The body as a whole.
    Body,
    /// A field of the body.
    Field(&'a str),
    /// An item of a list in the body, counted from 0.
    Item(&'a str, usize),
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query => f.write_str("query"),
            Self::Path(name) => write!(f, "path parameter `{name}`"),
            Self::Parameter(name) => write!(f, "query parameter `{name}`"),
            Self::Value(name, number) => write!(f, "value {number} of query parameter `{name}`"),
            Self::Header(name) => write!(f, "header `{name}`"),
            Self::Body => f.write_str("body"),
            Self::Field(name) => write!(f, "body field `{name}`"),
            Self::Item(name, index) => write!(f, "body item `{name}[{index}]`"),
        }
    }
}

/// A part of a request with the clauses that its constraints come from.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Which part.
    pub part: Part<'a>,
    /// The clause of each keyword, from `x-clause`; `any` applies to all other keywords.
    pub clauses: Clauses,
    /// The clauses of the items, for a list.
    pub items: Clauses,
}

/// Clauses by keyword.
pub type Clauses = &'static [(&'static str, &'static str)];

impl<'a> Input<'a> {
    /// A part with its clauses.
    #[must_use]
    pub const fn new(part: Part<'a>, clauses: Clauses) -> Self {
        Self { part, clauses, items: &[] }
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

    /// The value violates `keyword`; `expected` is, for example, "a list".
    #[must_use]
    pub fn invalid(&self, keyword: &str, expected: impl fmt::Display, found: Excerpt) -> RequestError {
        self.unexpected(ErrorCode::Invalid, keyword, expected, Some(found))
    }

    /// The value is absent.
    #[must_use]
    pub fn missing(&self) -> RequestError {
        self.error(ErrorCode::Missing, "required", "missing")
    }

    /// The value is empty.
    #[must_use]
    pub fn empty(&self) -> RequestError {
        self.error(ErrorCode::Empty, "minLength", "must not be empty")
    }

    /// The value is sent more than once.
    #[must_use]
    pub fn repeated(&self) -> RequestError {
        self.error(ErrorCode::Repeated, "required", "must be sent only once")
    }

    /// `expected` differs from `found`, which is `None` if nothing was found or if it must not be shown.
    #[must_use]
    pub fn unexpected(
        &self,
        code: ErrorCode,
        keyword: &str,
        expected: impl fmt::Display,
        found: Option<Excerpt>,
    ) -> RequestError {
        let found = found.map(|found| format!(", found {found}")).unwrap_or_default();
        self.error(code, keyword, format!("expected {expected}{found}"))
    }

    /// Any error of this part.
    #[must_use]
    pub fn error(
        &self,
        code: ErrorCode,
        keyword: &str,
        problem: impl Into<Cow<'static, str>>,
    ) -> RequestError {
        RequestError {
            code,
            part: Some(self.part.to_string()),
            clause: self.clause(keyword),
            problem: problem.into(),
        }
    }
}

/// Why a request cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RequestError {
    /// The error code that the caller gets.
    pub code: ErrorCode,
    /// Which part is wrong; `None` when the problem names it.
    pub part: Option<String>,
    /// The violated clause; `None` for a decision of this server.
    pub clause: Option<&'static str>,
    /// What is wrong: what was expected and, unless it must not be shown, what was found.
    pub problem: Cow<'static, str>,
}

/// The result of reading a part of a request.
pub type Result<T, E = RequestError> = std::result::Result<T, E>;

impl RequestError {
    /// An unknown name of a `what`, such as "body field", with the known names.
    #[must_use]
    pub fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let near = nearest(name, known);
        let name = if looks_like_a_name(name) || near.is_some() {
            format!(" {}", Excerpt::quote(name))
        } else {
            String::new()
        };
        let problem = match near {
            Some(near) => format!("unknown {what}{name}; did you mean `{near}`?"),
            None => format!("unknown {what}{name}; expected one of: {}", known.join(", ")),
        };
        Self { code: ErrorCode::Unknown, part: None, clause: None, problem: problem.into() }
    }

    /// The same error of a part that is inside `outer`.
    #[must_use]
    pub fn inside(self, outer: Part<'_>) -> Self {
        let part = match self.part {
            Some(inner) => format!("{inner} of {outer}"),
            None => outer.to_string(),
        };
        Self { part: Some(part), ..self }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code: _, part, clause, problem } = self;
        if let Some(part) = part {
            write!(f, "{part}: ")?;
        }
        f.write_str(problem)?;
        if let Some(clause) = clause {
            write!(f, " ({clause})")?;
        }
        Ok(())
    }
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        Self { code: error.code, message: error.to_string(), retry_after: None }
    }
}

/// What was found, shortened and escaped for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    /// Quotes a text of the caller. Must not be called with a token.
    #[must_use]
    pub fn quote(text: &str) -> Self {
        let mut shown: String = text.chars().take(MAX_EXCERPT).flat_map(char::escape_debug).collect();
        if text.chars().nth(MAX_EXCERPT).is_some() {
            shown.push('…');
        }
        Self(format!("`{shown}`"))
    }

    /// Describes what was found, such as "an object" or "10001 items".
    #[must_use]
    pub fn describe(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text is short and plain enough to be a name. Anything else may be a misplaced token, which no message may quote.
fn looks_like_a_name(text: &str) -> bool {
    const MAX_LENGTH: usize = 20;
    text.len() <= MAX_LENGTH
        && text.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_where_what_and_by_which_clause() {
        let input = Input::new(Part::Parameter("num"), &[("required", "a.b"), ("any", "c.d")]);
        assert_eq!(input.missing().to_string(), "query parameter `num`: missing (a.b)");
        let error = input.invalid("maximum", "a small number", Excerpt::quote("101\n"));
        assert_eq!(error.to_string(), "query parameter `num`: expected a small number, found `101\\n` (c.d)");
    }

    #[test]
    fn an_unknown_name_is_shown_only_where_it_looks_like_one() {
        let message = |name| RequestError::unknown("query parameter", name, &["num", "regions"]).to_string();
        assert_eq!(message("color"), "unknown query parameter `color`; expected one of: num, regions");
        assert_eq!(message("nums"), "unknown query parameter `nums`; did you mean `num`?");
        let token = format!("sally_api_{}", "5f".repeat(32));
        for misplaced in [token.as_str(), &token[..20], &format!("api_key={token}")] {
            assert_eq!(message(misplaced), "unknown query parameter; expected one of: num, regions");
        }
    }

    #[test]
    fn excerpts_are_short() {
        let excerpt = Excerpt::quote(&"é".repeat(1000)).to_string();
        assert_eq!(excerpt.chars().count(), MAX_EXCERPT + 3);
    }
}
