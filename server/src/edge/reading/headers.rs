//! Request headers, parsed strictly.

use http::HeaderMap;
use sallyport_contract::table::Location;

use super::request_error::{RequestError, Result};
use crate::edge::responding::error_code::ErrorCode;

/// The text of a header that is sent at most once. No error shows it.
pub(super) fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>> {
    // Requests have few headers, so that comparing costs less than a hash of each name.
    let mut values = headers.iter().filter(|(known, _)| known.as_str().eq_ignore_ascii_case(name));
    let Some((_, value)) = values.next() else { return Ok(None) };
    let place = || Location::Header.place(name);
    if values.next().is_some() {
        return Err(RequestError::repeated(place()));
    }
    std::str::from_utf8(value.as_bytes())
        .map(Some)
        .map_err(|_| RequestError::new(ErrorCode::MalformedHeader, place(), "expected UTF-8"))
}
