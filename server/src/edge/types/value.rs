//! How values of the document's schemas are parsed from text and JSON.

use crate::edge::types::{
    json::Json,
    request_error::{Excerpt, Input, Result},
};

/// A type that can be parsed from the text of a query parameter or header.
pub trait FromText: Sized {
    /// Parses `text`, which is not empty.
    ///
    /// # Errors
    /// Names the part, the clause, what was expected and what was found.
    fn from_text(text: &str, input: Input<'_>) -> Result<Self>;
}

/// A type that can be parsed from a value of a JSON body.
pub trait FromJson: Sized {
    /// Parses `value`.
    ///
    /// # Errors
    /// Names the part, the clause, what was expected and what was found.
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self>;
}

/// An optional field that may be null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tristate<T> {
    /// The field is absent.
    #[default]
    Omitted,
    /// The field is null.
    Null,
    /// The field has a value.
    Value(T),
}

/// Accepts any string except an empty one (`open.extract.empty-parameter`, `open.search.empty-filter`).
impl FromText for String {
    fn from_text(text: &str, input: Input<'_>) -> Result<Self> {
        if text.is_empty() { Err(input.empty()) } else { Ok(text.to_owned()) }
    }
}

/// Parses a JSON string as text.
///
/// # Errors
/// It is not a string, or invalid for its type.
pub fn from_json_string<T: FromText>(value: &Json<'_>, input: Input<'_>) -> Result<T> {
    match value {
        Json::String(text) => T::from_text(text, input),
        other => Err(input.invalid("type", "a string", other.excerpt())),
    }
}

impl FromJson for String {
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self> {
        from_json_string(value, input)
    }
}

impl FromText for bool {
    fn from_text(text: &str, input: Input<'_>) -> Result<Self> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(input.invalid("type", "true or false", Excerpt::quote(other))),
        }
    }
}

impl FromJson for bool {
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self> {
        match value {
            Json::Bool(value) => Ok(*value),
            other => Err(input.invalid("type", "true or false", other.excerpt())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::types::request_error::Part;

    const INPUT: Input<'_> = Input::new(Part::Field("f"), &[]);

    #[test]
    fn truth_values_and_strings_are_not_mixed_up() {
        assert_eq!((bool::from_text("true", INPUT), bool::from_text("false", INPUT)), (Ok(true), Ok(false)));
        for bad in ["TRUE", "1", "yes", ""] {
            assert!(bool::from_text(bad, INPUT).is_err(), "{bad}");
        }
        assert_eq!(bool::from_json(&Json::Bool(true), INPUT), Ok(true));
        assert!(bool::from_json(&Json::String("true".into()), INPUT).is_err());
        assert!(String::from_json(&Json::Bool(true), INPUT).is_err());
        assert_eq!(String::from_json(&Json::String(" ".into()), INPUT), Ok(" ".to_owned()));
        assert!(String::from_text("", INPUT).is_err());
    }
}
