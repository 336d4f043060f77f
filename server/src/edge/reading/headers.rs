//! Request headers, parsed strictly.

use http::{HeaderMap, HeaderName};

use crate::edge::{
    responding::error_code::ErrorCode,
    types::{
        request_error::{Input, Result},
        value::FromText,
    },
};

/// An optional header, which must be sent once and not be empty.
///
/// # Errors
/// It is repeated, empty, not UTF-8 or invalid for its type.
pub fn optional<T: FromText>(headers: &HeaderMap, name: &HeaderName, input: Input<'_>) -> Result<Option<T>> {
    match single(headers, name, Input::new(input.part, &[]))? {
        None => Ok(None),
        Some("") => Err(input.empty()),
        Some(value) => T::from_text(value, input).map(Some),
    }
}

/// A required header.
///
/// # Errors
/// As [`optional`], or it is absent.
pub fn required<T: FromText>(headers: &HeaderMap, name: &HeaderName, input: Input<'_>) -> Result<T> {
    optional(headers, name, input)?.ok_or_else(|| input.missing())
}

/// The text of a header that is sent at most once. No error shows it.
///
/// # Errors
/// It is repeated or not UTF-8.
pub fn single<'a>(headers: &'a HeaderMap, name: &HeaderName, input: Input<'_>) -> Result<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(input.repeated());
    }
    std::str::from_utf8(value.as_bytes())
        .map(Some)
        .map_err(|_| input.unexpected(ErrorCode::MalformedHeader, "type", "UTF-8", None))
}
