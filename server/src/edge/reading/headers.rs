//! Request headers, read strictly, and numbers in the headers of answers.

use http::{HeaderMap, HeaderName, HeaderValue, header::InvalidHeaderValue};

use super::{
    catalogue::Reason,
    fault::{Fault, Spot},
    value::FromText,
};

/// A header that may be absent, but comes once and not empty.
///
/// # Errors
/// It is repeated, empty, not UTF-8 or not as its type wants it.
pub fn optional<T: FromText>(
    headers: &HeaderMap,
    name: &HeaderName,
    spot: Spot<'_>,
) -> Result<Option<T>, Fault> {
    match single(headers, name, Spot::new(spot.at, &[]))? {
        None => Ok(None),
        Some("") => Err(spot.empty()),
        Some(value) => T::from_text(value, spot).map(Some),
    }
}

/// A header that must be there.
///
/// # Errors
/// As [`optional`], or it is absent.
pub fn required<T: FromText>(headers: &HeaderMap, name: &HeaderName, spot: Spot<'_>) -> Result<T, Fault> {
    optional(headers, name, spot)?.ok_or_else(|| spot.missing())
}

/// The text of a header that comes at most once. No error shows it.
///
/// # Errors
/// It is repeated or not UTF-8.
pub fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
    spot: Spot<'_>,
) -> Result<Option<&'a str>, Fault> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(spot.repeated());
    }
    std::str::from_utf8(value.as_bytes())
        .map(Some)
        .map_err(|_| spot.fault(Reason::MalformedHeader, "type", "be UTF-8", None))
}

/// A number as a header. It takes half the memory that the conversion of [`HeaderValue`] itself takes.
///
/// # Errors
/// None: digits may stand in a header.
pub fn number(value: impl itoa::Integer) -> Result<HeaderValue, InvalidHeaderValue> {
    HeaderValue::from_str(itoa::Buffer::new().format(value))
}
