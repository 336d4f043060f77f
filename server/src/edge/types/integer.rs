//! Integers between two bounds.

use serde::{Serialize, Serializer};

use super::{
    json::Json,
    request_error::{Excerpt, Input, Result},
    value::{FromJson, FromText},
};
use crate::edge::responding::{api_error::ApiError, error_code::ErrorCode};

/// An integer from `MIN` to `MAX`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundedInteger<const MIN: i64, const MAX: i64>(i64);

/// The number is not between the bounds of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an integer from {minimum} to {maximum}")]
pub struct OutOfRange {
    /// Minimum.
    pub minimum: i64,
    /// Maximum.
    pub maximum: i64,
}

impl<const MIN: i64, const MAX: i64> BoundedInteger<MIN, MAX> {
    /// Minimum.
    pub const MINIMUM: i64 = MIN;
    /// Maximum.
    pub const MAXIMUM: i64 = MAX;

    /// The number, if it is between the bounds.
    ///
    /// # Errors
    /// Gives the bounds.
    pub fn new(number: impl TryInto<i64>) -> Result<Self, OutOfRange> {
        number
            .try_into()
            .ok()
            .filter(|number| (MIN..=MAX).contains(number))
            .map(Self)
            .ok_or(OutOfRange { minimum: MIN, maximum: MAX })
    }

    /// The number `N`; one outside the bounds does not compile.
    #[must_use]
    pub const fn constant<const N: i64>() -> Self {
        const { assert!(MIN <= N && N <= MAX, "the constant lies outside the bounds") }
        Self(N)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The number in 32 bits; bounds that do not fit do not compile.
    #[must_use]
    pub const fn to_u32(self) -> u32 {
        const { assert!(0 <= MIN && MAX <= u32::MAX as i64, "the bounds do not fit into 32 bits") }
        self.0 as u32
    }

    fn expected() -> String {
        if MAX == i64::MAX {
            format!("an integer of at least {MIN} that fits into 64 bits")
        } else {
            format!("an integer from {MIN} to {MAX}")
        }
    }
}

impl<const MIN: i64, const MAX: i64> TryFrom<i64> for BoundedInteger<MIN, MAX> {
    type Error = OutOfRange;

    fn try_from(number: i64) -> Result<Self, OutOfRange> {
        Self::new(number)
    }
}

/// Accepts digits without plus sign, leading zeros, fraction or exponent.
impl<const MIN: i64, const MAX: i64> FromText for BoundedInteger<MIN, MAX> {
    fn from_text(text: &str, input: Input<'_>) -> Result<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain =
            digits.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !digits.starts_with('0'));
        let number: Option<i64> = if plain { text.parse().ok() } else { None };
        number
            .and_then(|number| Self::new(number).ok())
            .ok_or_else(|| input.invalid(broken(number, MIN), Self::expected(), Excerpt::quote(text)))
    }
}

/// Rejects fractions, also zero ones (`open.static.fractional-integer`).
impl<const MIN: i64, const MAX: i64> FromJson for BoundedInteger<MIN, MAX> {
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self> {
        let number = match value {
            Json::Number(number) => number.as_i64(),
            _ => None,
        };
        number
            .and_then(|number| Self::new(number).ok())
            .ok_or_else(|| input.invalid(broken(number, MIN), Self::expected(), value.excerpt()))
    }
}

/// A stored value outside the document's limits is a bug of this program and must not be sent.
impl From<OutOfRange> for ApiError {
    fn from(error: OutOfRange) -> Self {
        tracing::error!(%error, "the storage holds a value that the contract does not allow");
        Self::from(ErrorCode::Internal)
    }
}

impl<const MIN: i64, const MAX: i64> Serialize for BoundedInteger<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<const MIN: i64, const MAX: i64> std::fmt::Display for BoundedInteger<MIN, MAX> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The keyword that an invalid number breaks.
fn broken(number: Option<i64>, minimum: i64) -> &'static str {
    match number {
        None => "type",
        Some(number) if number < minimum => "minimum",
        Some(_) => "maximum",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::types::request_error::Part;

    const INPUT: Input<'_> = Input::new(Part::Parameter("n"), &[("minimum", "low"), ("any", "any")]);

    fn text(text: &str) -> Result<i64, Option<&'static str>> {
        BoundedInteger::<1, 100>::from_text(text, INPUT)
            .map(BoundedInteger::get)
            .map_err(|error| error.clause)
    }

    #[test]
    fn both_bounds_are_included() {
        assert_eq!((text("1"), text("100")), (Ok(1), Ok(100)));
        assert_eq!(
            (text("0"), text("-1"), text("101")),
            (Err(Some("low")), Err(Some("low")), Err(Some("any")))
        );
    }

    #[test]
    fn only_plain_digits_are_a_number() {
        for bad in
            ["+1", "01", "00", "-0", "-", "", " 1", "1 ", "1.0", "1e1", "0x1", "１", "99999999999999999999"]
        {
            assert_eq!(text(bad), Err(Some("any")), "{bad:?}");
        }
    }

    #[test]
    fn json_numbers_are_whole() {
        let read = |json: &str| {
            BoundedInteger::<0, { i64::MAX }>::from_json(&Json::parse(json.as_bytes()).unwrap(), INPUT)
                .map(BoundedInteger::get)
                .ok()
        };
        assert_eq!(read("9223372036854775807"), Some(i64::MAX));
        for bad in [
            "9223372036854775808",
            "18446744073709551616",
            "2.0",
            "1e3",
            "\"1\"",
            "null",
            "true",
            "[1]",
            "-0",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
