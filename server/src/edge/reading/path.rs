//! Parameters of a path, parsed strictly.

use std::borrow::Cow;

use sallyport_contract::table::Location;

use super::{percent::decode_segment, request_error::Result};

/// A parameter of `path`: the segment at the position of `{name}` in `template`.
pub(super) fn segment<'a>(template: &str, path: &'a str, name: &str) -> Result<Option<Cow<'a, str>>> {
    let is_place =
        |segment: &str| segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) == Some(name);
    let mut pairs = segments(template).zip(segments(path));
    let segment = pairs.find(|(place, _)| is_place(place)).map(|(_, segment)| segment);
    segment.map(|segment| decode_segment(segment, || Location::Path.place(name))).transpose()
}

/// Dropshot's router ignores empty segments.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_the_segment_in_its_place() {
        let read = |path, name| segment("/v1/books/{bookId}/notes/{note}", path, name);
        assert_eq!(read("/v1/books/7/notes/x", "bookId").unwrap().unwrap(), "7");
        assert_eq!(read("//v1/books//7/notes/x/", "bookId").unwrap().unwrap(), "7");
        assert_eq!(read("/v1/books/7/notes/a%2Fb%C3%A9+", "note").unwrap().unwrap(), "a/bé+");
        assert_eq!(read("/v1/books/7", "note"), Ok(None));
        for bad in ["%", "%f", "%zz", "%ff"] {
            let path = format!("/v1/books/1/notes/{bad}");
            let error = segment("/v1/books/{bookId}/notes/{note}", &path, "note").unwrap_err();
            assert!(error.to_string().starts_with("path parameter `note`: "), "{error}");
        }
    }
}
