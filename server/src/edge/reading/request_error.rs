//! Request errors: which part of a request is wrong, by which clause, what was expected and what was found.

use std::{borrow::Cow, fmt};

use sallyport_contract::{
    check::{Problem, Violation, quoted},
    table::Location,
};

use crate::{
    edge::responding::{api_error::ApiError, error_code::ErrorCode},
    names::nearest,
};

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
    /// An error that violates no clause.
    pub fn new(code: ErrorCode, part: impl Into<String>, problem: impl Into<Cow<'static, str>>) -> Self {
        let part = Some(part.into()).filter(|part| !part.is_empty());
        Self { code, part, clause: None, problem: problem.into() }
    }

    /// The same error with the clauses that it violates, if there are any.
    pub fn citing(self, clauses: &'static str) -> Self {
        Self { clause: Some(clauses).filter(|clauses| !clauses.is_empty()), ..self }
    }

    /// A part that is sent more than once.
    pub fn repeated(part: impl Into<String>) -> Self {
        Self::new(ErrorCode::Repeated, part, "must be sent only once")
    }

    /// A field of the body that an object has twice. It is named only where it looks like a name.
    pub fn repeated_field(name: &str) -> Self {
        match looks_like_a_name(name) {
            true => Self::repeated(Location::Body.place(name)),
            false => Self::new(ErrorCode::Repeated, Location::Body.place(""), "has a field more than once"),
        }
    }

    /// An unknown name of a `what`, such as "body field", with the known names.
    pub fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let near = nearest(name, known);
        let name = if looks_like_a_name(name) || near.is_some() {
            format!(" {}", quoted(name))
        } else {
            String::new()
        };
        let problem = match near {
            Some(near) => format!("unknown {what}{name}; did you mean `{near}`?"),
            None => format!("unknown {what}{name}; expected one of: {}", known.join(", ")),
        };
        Self::new(ErrorCode::Unknown, "", problem)
    }
}

impl From<Violation<'static>> for RequestError {
    fn from(violation: Violation<'static>) -> Self {
        let code = match &violation.problem {
            Problem::Missing | Problem::MissingWhen(_) => ErrorCode::Missing,
            Problem::Empty => ErrorCode::Empty,
            Problem::Unknown(unknown) => {
                let around =
                    violation.path.strip_suffix(&unknown.name).unwrap_or_default().trim_end_matches('.');
                return match around {
                    "" => Self::unknown("body field", &unknown.name, &unknown.known),
                    around => Self {
                        part: Some(violation.location.place(around)),
                        ..Self::unknown("field", &unknown.name, &unknown.known)
                    },
                };
            }
            Problem::Conflict => ErrorCode::Conflict,
            Problem::Invalid => ErrorCode::Invalid,
        };
        Self::new(code, violation.place(), violation.message()).citing(violation.clauses)
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

/// Whether a text is short and plain enough to be a name. Anything else may be a misplaced token, which no message may quote.
fn looks_like_a_name(text: &str) -> bool {
    const MAX_LENGTH: usize = 20;
    text.len() <= MAX_LENGTH
        && text.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'))
}
