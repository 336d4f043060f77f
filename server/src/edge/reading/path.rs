//! Parameters of a path, parsed strictly.

use super::percent::decode_segment;
use crate::edge::types::{
    request_error::{Input, Result},
    value::FromText,
};

/// A parameter of `path`: the segment at the position of `{name}` in `template`.
///
/// # Errors
/// It is invalid for its type, or not percent-encoded UTF-8.
pub fn required<T: FromText>(template: &str, path: &str, name: &str, input: Input<'_>) -> Result<T> {
    // Dropshot's router ignores empty segments.
    let segments = |path| str::split(path, '/').filter(|segment| !segment.is_empty());
    let is_place =
        |segment: &str| segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) == Some(name);
    let mut pairs = segments(template).zip(segments(path));
    let (_, segment) = pairs.find(|(place, _)| is_place(place)).ok_or_else(|| input.missing())?;
    T::from_text(&decode_segment(segment, input)?, input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::types::{integer::BoundedInteger, request_error::Part};

    fn read<T: FromText>(path: &str, name: &'static str) -> Result<T> {
        required(
            "/v1/books/{bookId}/notes/{note}",
            path,
            name,
            Input::new(Part::Path(name), &[("any", "clause")]),
        )
    }

    #[test]
    fn a_parameter_is_the_segment_in_its_place() {
        type Id = BoundedInteger<1, 99>;
        assert_eq!(read::<Id>("/v1/books/7/notes/x", "bookId").unwrap().get(), 7);
        assert_eq!(read::<Id>("//v1/books//7/notes/x/", "bookId").unwrap().get(), 7);
        assert_eq!(read::<String>("/v1/books/7/notes/a%2Fb%C3%A9+", "note").unwrap(), "a/bé+");
        for bad in ["0", "100", "x", "1e1", "%31x", "1%20"] {
            let error = read::<Id>(&format!("/v1/books/{bad}/notes/x"), "bookId").unwrap_err();
            assert_eq!(error.clause, Some("clause"), "{bad}");
            assert!(error.to_string().starts_with("path parameter `bookId`: "), "{error}");
        }
        for bad in ["%", "%f", "%zz", "%ff"] {
            assert!(read::<String>(&format!("/v1/books/1/notes/{bad}"), "note").is_err(), "{bad}");
        }
    }
}
