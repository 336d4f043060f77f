//! How values of the document's schemas are made from what a caller sent.

use super::{
    fault::{Came, Fault, Spot},
    json::Json,
};

/// A type that can be read from the text of a query parameter or header.
pub trait FromText: Sized {
    /// Reads `text`, which is not empty.
    ///
    /// # Errors
    /// Names the place, the clause, what was expected and what came.
    fn from_text(text: &str, spot: Spot<'_>) -> Result<Self, Fault>;
}

/// A type that can be read from a value of a JSON body.
pub trait FromJson: Sized {
    /// Reads `value`.
    ///
    /// # Errors
    /// Names the place, the clause, what was expected and what came.
    fn from_json(value: &Json<'_>, spot: Spot<'_>) -> Result<Self, Fault>;
}

/// An optional field that may be null, with all three states kept apart.
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

/// Strings of any content are read as they are; an empty one is refused, as it says nothing
/// (`open.extract.empty-parameter`, `open.search.empty-filter`).
impl FromText for String {
    fn from_text(text: &str, spot: Spot<'_>) -> Result<Self, Fault> {
        if text.is_empty() { Err(spot.empty()) } else { Ok(text.to_owned()) }
    }
}

/// A JSON string is read as text is.
pub(crate) fn from_json_string<T: FromText>(value: &Json<'_>, spot: Spot<'_>) -> Result<T, Fault> {
    match value {
        Json::String(text) => T::from_text(text, spot),
        other => Err(spot.invalid("type", "be a string", other.came())),
    }
}

impl FromJson for String {
    fn from_json(value: &Json<'_>, spot: Spot<'_>) -> Result<Self, Fault> {
        from_json_string(value, spot)
    }
}

impl FromText for bool {
    fn from_text(text: &str, spot: Spot<'_>) -> Result<Self, Fault> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(spot.invalid("type", "be true or false", Came::text(other))),
        }
    }
}

impl FromJson for bool {
    fn from_json(value: &Json<'_>, spot: Spot<'_>) -> Result<Self, Fault> {
        match value {
            Json::Bool(value) => Ok(*value),
            other => Err(spot.invalid("type", "be true or false", other.came())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::fault::At;

    const SPOT: Spot<'_> = Spot::new(At::Field("f"), &[]);

    #[test]
    fn truth_values_and_strings_are_not_mixed_up() {
        assert_eq!((bool::from_text("true", SPOT), bool::from_text("false", SPOT)), (Ok(true), Ok(false)));
        for bad in ["TRUE", "1", "yes", ""] {
            assert!(bool::from_text(bad, SPOT).is_err(), "{bad}");
        }
        assert_eq!(bool::from_json(&Json::Bool(true), SPOT), Ok(true));
        assert!(bool::from_json(&Json::String("true".into()), SPOT).is_err());
        assert!(String::from_json(&Json::Bool(true), SPOT).is_err());
        assert_eq!(String::from_json(&Json::String(" ".into()), SPOT), Ok(" ".to_owned()));
        assert!(String::from_text("", SPOT).is_err());
    }
}
