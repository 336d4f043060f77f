//! The fields of a JSON object in a body.

use crate::edge::types::{
    json::Json,
    request_error::{Input, Part, RequestError, Result},
    value::{FromJson, Tristate},
};

/// The fields of an object that are not read yet.
#[derive(Debug)]
pub struct Fields<'a>(Vec<(String, Json<'a>)>);

impl<'a> Fields<'a> {
    /// The fields of `json`. Each must be one of `known` and sent once.
    ///
    /// # Errors
    /// Anything but an object, and unknown and repeated fields (`open.static.unknown-fields`).
    pub fn new(json: Json<'a>, input: Input<'_>, known: &[&str]) -> Result<Self> {
        let Json::Object(fields) = json else {
            return Err(input.invalid("type", "a JSON object", json.excerpt()));
        };
        for (index, (name, _)) in fields.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(RequestError::unknown("body field", name, known));
            }
            if fields.iter().take(index).any(|(earlier, _)| earlier == name) {
                return Err(Input::new(Part::Field(name), &[]).repeated());
            }
        }
        Ok(Self(fields))
    }

    /// The fields of an object inside the body.
    ///
    /// # Errors
    /// As [`new`](Self::new); the error names the object.
    pub fn inside(json: &Json<'a>, input: Input<'_>, known: &[&str]) -> Result<Self> {
        match json {
            Json::Object(_) => {
                Self::new(json.clone(), input, known).map_err(|error| error.inside(input.part))
            }
            other => Err(input.invalid("type", "a JSON object", other.excerpt())),
        }
    }

    /// A required field.
    ///
    /// # Errors
    /// It is absent or invalid for its type.
    pub fn required<T: FromJson>(&mut self, name: &str, input: Input<'_>) -> Result<T> {
        self.optional(name, input)?.ok_or_else(|| input.missing())
    }

    /// An optional field. Null is rejected like any other wrong type (`open.static.null-optional`).
    ///
    /// # Errors
    /// It is invalid for its type.
    pub fn optional<T: FromJson>(&mut self, name: &str, input: Input<'_>) -> Result<Option<T>> {
        self.take(name).map(|value| T::from_json(&value, input)).transpose()
    }

    /// An optional and nullable field.
    ///
    /// # Errors
    /// It is invalid for its type.
    pub fn tristate<T: FromJson>(&mut self, name: &str, input: Input<'_>) -> Result<Tristate<T>> {
        match self.take(name) {
            None => Ok(Tristate::Omitted),
            Some(Json::Null) => Ok(Tristate::Null),
            Some(value) => T::from_json(&value, input).map(Tristate::Value),
        }
    }

    fn take(&mut self, name: &str) -> Option<Json<'a>> {
        let index = self.0.iter().position(|(candidate, _)| candidate == name)?;
        Some(self.0.swap_remove(index).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::responding::error_code::ErrorCode;

    const BODY: Input<'_> = Input::new(Part::Body, &[]);

    fn fields(json: &str) -> Result<Fields<'_>> {
        Fields::new(Json::parse(json.as_bytes()).unwrap(), BODY, &["ips", "page"])
    }

    #[test]
    fn repeated_and_unknown_fields_are_rejected() {
        assert_eq!(fields(r#"{"page":1,"page":1}"#).unwrap_err().code, ErrorCode::Repeated);
        let unknown = fields(r#"{"pages":1}"#).unwrap_err();
        assert_eq!(unknown.code, ErrorCode::Unknown);
        assert!(unknown.to_string().contains("did you mean `page`?"), "{unknown}");
        assert_eq!(fields("[]").unwrap_err().code, ErrorCode::Invalid);
    }

    #[test]
    fn an_error_inside_an_object_names_the_object() {
        let input = Input::new(Part::Item("lines", 2), &[]);
        let read =
            |json: &str| Fields::inside(&Json::parse(json.as_bytes()).unwrap(), input, &["page"]).map(drop);
        let message = |json| read(json).unwrap_err().to_string();
        assert_eq!(message("1"), "body item `lines[2]`: expected a JSON object, found 1");
        assert_eq!(
            message(r#"{"pag":1}"#),
            "body item `lines[2]`: unknown body field `pag`; did you mean `page`?"
        );
        assert_eq!(
            message(r#"{"page":1,"page":1}"#),
            "body field `page` of body item `lines[2]`: must be sent only once"
        );
    }

    #[test]
    fn omitted_null_and_value_are_distinct() {
        let group = |json: &str| fields(json).unwrap().tristate::<bool>("page", BODY).unwrap();
        assert_eq!(group("{}"), Tristate::Omitted);
        assert_eq!(group(r#"{"page":null}"#), Tristate::Null);
        assert_eq!(group(r#"{"page":true}"#), Tristate::Value(true));
    }
}
