//! The integers that arguments take: results and limits hold the document's integers as `i64`, and a literal or a length fits as well.

/// A number above the maximum of an `i64` is out of range, as that maximum is.
pub(crate) fn to_i64(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
