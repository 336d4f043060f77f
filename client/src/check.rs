//! The checks that generated code calls before anything is sent.

use std::{collections::HashSet, convert::Infallible, fmt::Display, hash::Hash};

use jiff::Timestamp;

/// Longest part of a refused value that an error repeats, in characters.
const SHOWN: usize = 64;

/// A value that the contract forbids. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: expected {limit}, got {value} (clause {clause})")]
#[non_exhaustive]
pub struct Refused {
    /// Where the value would have stood, such as `query num` or `body ips`.
    pub place: String,
    /// Id of the clause that forbids it, such as `extract.num-range`.
    pub clause: &'static str,
    /// What is allowed.
    pub limit: String,
    /// What was given, shortened.
    pub value: String,
}

impl Refused {
    pub(crate) fn new(
        place: impl Into<String>,
        clause: &'static str,
        limit: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), clause, limit: limit.into(), value: value.into() }
    }
}

/// What is an [`Address`](crate::Address) already cannot be refused.
impl From<Infallible> for Refused {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

type Checked = Result<(), Refused>;

pub(crate) fn minimum(place: &str, clause: &'static str, minimum: i64, value: i64) -> Checked {
    ensure(value >= minimum, place, clause, || (format!("at least {minimum}"), value.to_string()))
}

pub(crate) fn maximum(place: &str, clause: &'static str, maximum: i64, value: i64) -> Checked {
    ensure(value <= maximum, place, clause, || (format!("at most {maximum}"), value.to_string()))
}

pub(crate) fn max_utf8_bytes(place: &str, clause: &'static str, maximum: usize, value: &str) -> Checked {
    let length = value.len();
    ensure(length <= maximum, place, clause, || {
        (format!("at most {maximum} bytes of UTF-8"), format!("{length} bytes: {}", quoted(value)))
    })
}

#[allow(dead_code, reason = "the document decides which checks it uses")]
pub(crate) fn min_length(place: &str, clause: &'static str, minimum: usize, value: &str) -> Checked {
    let length = value.chars().count();
    ensure(length >= minimum, place, clause, || (format!("at least {minimum} characters"), quoted(value)))
}

#[allow(dead_code, reason = "the document decides which checks it uses")]
pub(crate) fn max_length(place: &str, clause: &'static str, maximum: usize, value: &str) -> Checked {
    let length = value.chars().count();
    ensure(length <= maximum, place, clause, || (format!("at most {maximum} characters"), quoted(value)))
}

pub(crate) fn min_items<T>(place: &str, clause: &'static str, minimum: usize, value: &[T]) -> Checked {
    let count = value.len();
    ensure(count >= minimum, place, clause, || {
        (format!("at least {minimum} items"), format!("{count} items"))
    })
}

pub(crate) fn max_items<T>(place: &str, clause: &'static str, maximum: usize, value: &[T]) -> Checked {
    let count = value.len();
    ensure(count <= maximum, place, clause, || (format!("at most {maximum} items"), format!("{count} items")))
}

pub(crate) fn max_distinct<T: Eq + Hash>(
    place: &str,
    clause: &'static str,
    maximum: usize,
    value: &[T],
) -> Checked {
    if value.len() <= maximum {
        return Ok(());
    }
    let count = value.iter().collect::<HashSet<_>>().len();
    ensure(count <= maximum, place, clause, || {
        (format!("at most {maximum} distinct items"), format!("{count} distinct items"))
    })
}

/// `unknown` is the value and those that would do, when it is none of them.
pub(crate) fn known(place: &str, clause: &'static str, unknown: Option<(&str, &[&str])>) -> Checked {
    match unknown {
        None => Ok(()),
        Some((value, known)) => {
            Err(Refused::new(place, clause, format!("one of {}", known.join(", ")), quoted(value)))
        }
    }
}

/// `condition` tells whether the value is needed, and `when` says so in words.
pub(crate) fn required_when(
    place: &str,
    clause: &'static str,
    when: &str,
    condition: bool,
    value: Option<&str>,
) -> Checked {
    let present = value.is_some_and(|value| !value.is_empty());
    ensure(!condition || present, place, clause, || {
        (format!("a value that is not empty, because {when}"), "none".to_owned())
    })
}

pub(crate) fn not_before(
    place: &str,
    clause: &'static str,
    bound: &str,
    value: Option<&Timestamp>,
    earliest: Option<&Timestamp>,
) -> Checked {
    match (value, earliest) {
        (Some(value), Some(earliest)) => ensure(value >= earliest, place, clause, || {
            (format!("a time not before {bound}, {earliest}"), value.to_string())
        }),
        _ => Ok(()),
    }
}

/// A text as an error may show it: escaped and shortened.
pub(crate) fn quoted(value: impl Display) -> String {
    let value = value.to_string();
    let mut shown: String = value.chars().take(SHOWN).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

fn ensure(
    holds: bool,
    place: &str,
    clause: &'static str,
    words: impl FnOnce() -> (String, String),
) -> Checked {
    if holds {
        return Ok(());
    }
    let (limit, value) = words();
    Err(Refused::new(place, clause, limit, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_holds_at_its_bound_and_fails_past_it() {
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
    fn an_error_names_place_clause_limit_and_value() {
        let refused = maximum("query num", "extract.num-range", 100, 101).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "query num: expected at most 100, got 101 (clause extract.num-range)"
        );
    }

    #[test]
    fn long_values_are_shortened() {
        assert!(quoted("x".repeat(10_000)).len() < 80);
    }
}
