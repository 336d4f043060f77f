//! Request headers, read strictly.

use http::HeaderMap;

use super::{
    catalogue::Reason,
    fault::{At, Fault, Spot},
    value::FromText,
};

/// A header that may be absent, but comes once and not empty.
///
/// # Errors
/// It is repeated, empty, not UTF-8 or not as its type wants it.
pub fn optional<T: FromText>(headers: &HeaderMap, name: &str, spot: Spot<'_>) -> Result<Option<T>, Fault> {
    match single(headers, name)? {
        None => Ok(None),
        Some("") => Err(spot.empty()),
        Some(value) => T::from_text(value, spot).map(Some),
    }
}

/// A header that must be there.
///
/// # Errors
/// As [`optional`], or it is absent.
pub fn required<T: FromText>(headers: &HeaderMap, name: &str, spot: Spot<'_>) -> Result<T, Fault> {
    optional(headers, name, spot)?.ok_or_else(|| spot.missing())
}

/// The text of a header that comes at most once. No error shows it.
///
/// # Errors
/// It is repeated or not UTF-8.
pub fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Fault> {
    let spot = Spot::new(At::Header(name), &[]);
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(spot.repeated());
    }
    std::str::from_utf8(value.as_bytes())
        .map(Some)
        .map_err(|_| spot.fault(Reason::MalformedHeader, "type", "be UTF-8", None))
}
