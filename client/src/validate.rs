//! The limits that generated code checks before a request is sent.

use std::{borrow::Cow, collections::HashSet, convert::Infallible, fmt::Display, hash::Hash};

use jiff::Timestamp;

use crate::printable;

/// Maximum length of a value that an error repeats, in characters.
const MAX_SHOWN: usize = 64;

/// An argument that breaks a limit of the contract. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{argument}`: expected {expected}, found {found}{} (clause {clause})", self.advice())]
#[non_exhaustive]
pub struct InvalidArgument {
    /// Where the value would have been sent, such as `query num` or `body ips`.
    pub argument: String,
    /// Id of the clause that sets the limit, such as `extract.num-range`.
    pub clause: &'static str,
    /// What is allowed, such as `an integer from 1 to 9`.
    pub expected: String,
    /// What was passed: the value, shortened, or its size.
    pub found: String,
    /// What to do, where it is not obvious.
    pub help: Option<&'static str>,
}

impl InvalidArgument {
    pub(crate) fn new(
        argument: impl Into<String>,
        clause: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self { argument: argument.into(), clause, expected: expected.into(), found: found.into(), help: None }
    }

    fn advice(&self) -> Cow<'static, str> {
        self.help.map_or(Cow::Borrowed(""), |help| format!("; {help}").into())
    }
}

/// Lets [`Client::search`](crate::Client::search) take values whose conversion cannot fail.
impl From<Infallible> for InvalidArgument {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

type Validation = Result<(), InvalidArgument>;

pub(crate) fn range(
    argument: &str,
    clause: &'static str,
    minimum: i64,
    maximum: i64,
    value: i64,
) -> Validation {
    ensure((minimum..=maximum).contains(&value), argument, clause, || {
        (format!("an integer from {minimum} to {maximum}"), format!("`{value}`"))
    })
}

pub(crate) fn minimum(argument: &str, clause: &'static str, minimum: i64, value: i64) -> Validation {
    ensure(value >= minimum, argument, clause, || {
        (format!("an integer of at least {minimum}"), format!("`{value}`"))
    })
}

#[allow(dead_code, reason = "the document decides which limits it uses")]
pub(crate) fn maximum(argument: &str, clause: &'static str, maximum: i64, value: i64) -> Validation {
    ensure(value <= maximum, argument, clause, || {
        (format!("an integer of at most {maximum}"), format!("`{value}`"))
    })
}

pub(crate) fn max_utf8_bytes(
    argument: &str,
    clause: &'static str,
    maximum: usize,
    value: &str,
) -> Validation {
    let length = value.len();
    ensure(length <= maximum, argument, clause, || {
        (format!("at most {maximum} bytes of UTF-8"), format!("{length} bytes: {}", quoted(value)))
    })
}

#[allow(dead_code, reason = "the document decides which limits it uses")]
pub(crate) fn min_length(argument: &str, clause: &'static str, minimum: usize, value: &str) -> Validation {
    let length = value.chars().count();
    ensure(length >= minimum, argument, clause, || (format!("at least {minimum} characters"), quoted(value)))
}

#[allow(dead_code, reason = "the document decides which limits it uses")]
pub(crate) fn max_length(argument: &str, clause: &'static str, maximum: usize, value: &str) -> Validation {
    let length = value.chars().count();
    ensure(length <= maximum, argument, clause, || (format!("at most {maximum} characters"), quoted(value)))
}

pub(crate) fn min_items<T>(argument: &str, clause: &'static str, minimum: usize, value: &[T]) -> Validation {
    let count = value.len();
    ensure(count >= minimum, argument, clause, || {
        (format!("at least {}", plural(minimum, "item")), plural(count, "item"))
    })
}

pub(crate) fn max_items<T>(argument: &str, clause: &'static str, maximum: usize, value: &[T]) -> Validation {
    let count = value.len();
    ensure(count <= maximum, argument, clause, || {
        (format!("at most {}", plural(maximum, "item")), plural(count, "item"))
    })
}

pub(crate) fn max_distinct<T: Eq + Hash>(
    argument: &str,
    clause: &'static str,
    maximum: usize,
    value: &[T],
) -> Validation {
    if value.len() <= maximum {
        return Ok(());
    }
    let count = value.iter().collect::<HashSet<_>>().len();
    ensure(count <= maximum, argument, clause, || {
        (format!("at most {}", plural(maximum, "distinct item")), plural(count, "distinct item"))
    })
}

/// `unknown` holds the value and the allowed ones; `None` when the value is one of them.
pub(crate) fn known(argument: &str, clause: &'static str, unknown: Option<(&str, &[&str])>) -> Validation {
    match unknown {
        None => Ok(()),
        Some((value, known)) => Err(InvalidArgument::new(
            argument,
            clause,
            format!("one of: {}", known.join(", ")),
            quoted(value),
        )),
    }
}

/// `condition` tells whether the value is required, and `when` describes the condition.
pub(crate) fn required_when(
    argument: &str,
    clause: &'static str,
    when: &str,
    condition: bool,
    value: Option<&str>,
) -> Validation {
    let present = value.is_some_and(|value| !value.is_empty());
    ensure(!condition || present, argument, clause, || {
        (format!("a non-empty value when {when}"), "none".to_owned())
    })
}

pub(crate) fn not_before(
    argument: &str,
    clause: &'static str,
    bound: &str,
    value: Option<&Timestamp>,
    earliest: Option<&Timestamp>,
) -> Validation {
    match (value, earliest) {
        (Some(value), Some(earliest)) => ensure(value >= earliest, argument, clause, || {
            (format!("a time not before `{bound}`, which is {earliest}"), format!("`{value}`"))
        }),
        _ => Ok(()),
    }
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A value as an error shows it: between backticks, escaped and shortened.
pub(crate) fn quoted(value: impl Display) -> String {
    let value = value.to_string();
    if value.is_empty() {
        return "an empty value".to_owned();
    }
    let mut shown: String = value.chars().take(MAX_SHOWN).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    format!("`{}`", printable(&shown))
}

fn ensure(
    holds: bool,
    argument: &str,
    clause: &'static str,
    describe: impl FnOnce() -> (String, String),
) -> Validation {
    if holds {
        return Ok(());
    }
    let (expected, found) = describe();
    Err(InvalidArgument::new(argument, clause, expected, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_includes_its_bound() {
        for (value, is_valid) in [(0, false), (1, true), (9, true), (10, false)] {
            assert_eq!(range("p", "c", 1, 9, value).is_ok(), is_valid);
        }
        assert!(minimum("p", "c", 1, 1).is_ok() && minimum("p", "c", 1, 0).is_err());
        assert!(maximum("p", "c", 9, 9).is_ok() && maximum("p", "c", 9, 10).is_err());
        assert!(min_length("p", "c", 2, "éé").is_ok() && min_length("p", "c", 2, "é").is_err());
        assert!(max_length("p", "c", 2, "éé").is_ok() && max_length("p", "c", 2, "ééé").is_err());
        assert!(max_utf8_bytes("p", "c", 4, "éé").is_ok() && max_utf8_bytes("p", "c", 4, "ééa").is_err());
        assert!(min_items("p", "c", 1, &[1]).is_ok() && min_items::<u8>("p", "c", 1, &[]).is_err());
        assert!(max_items("p", "c", 1, &[1]).is_ok() && max_items("p", "c", 1, &[1, 1]).is_err());
        assert!(max_distinct("p", "c", 1, &[1, 1]).is_ok() && max_distinct("p", "c", 1, &[1, 2]).is_err());
        assert!(required_when("p", "c", "w", true, Some("")).is_err());
        assert!(
            required_when("p", "c", "w", false, None).is_ok()
                && required_when("p", "c", "w", true, None).is_err()
        );
        let (early, late) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        assert!(not_before("p", "c", "b", Some(&early), Some(&early)).is_ok());
        assert!(not_before("p", "c", "b", Some(&early), Some(&late)).is_err());
        assert!(not_before("p", "c", "b", Some(&early), None).is_ok());
        assert!(known("p", "c", None).is_ok() && known("p", "c", Some(("x", &["a"]))).is_err());
    }

    #[test]
    fn an_error_names_argument_expected_found_and_clause() {
        let mut error = range("query p", "c", 1, 9, 10).unwrap_err();
        assert_eq!(error.to_string(), "`query p`: expected an integer from 1 to 9, found `10` (clause c)");
        error.help = Some("ask twice");
        assert!(error.to_string().contains("found `10`; ask twice (clause"), "{error}");
    }

    #[test]
    fn long_values_are_shortened() {
        assert!(quoted("x".repeat(10_000)).len() < 80);
    }
}
