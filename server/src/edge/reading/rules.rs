//! Rules between the fields of a request, from extensions of the document.

use std::borrow::Cow;

use crate::edge::{
    responding::error_code::ErrorCode,
    types::request_error::{Excerpt, Input, RequestError, Result},
};

/// `x-alias-of`: two names of one parameter, which must have the same value if both are sent.
///
/// # Errors
/// Both are sent and differ.
pub fn alias<T: PartialEq>(
    value: Option<T>,
    alias: Option<T>,
    name: &str,
    input: Input<'_>,
) -> Result<Option<T>> {
    match (value, alias) {
        (Some(value), Some(alias)) if value != alias => {
            let expected = format!("the same value as `{name}`");
            Err(input.unexpected(ErrorCode::Conflict, "x-aliases-agree", expected, None))
        }
        (value, alias) => Ok(value.or(alias)),
    }
}

/// `required-when`: the parameter is required because of another one, which `condition` describes.
///
/// # Errors
/// It is needed and absent.
pub fn required_when(needed: bool, present: bool, condition: &'static str, input: Input<'_>) -> Result<()> {
    if needed && !present {
        return Err(needed_by(condition, input));
    }
    Ok(())
}

/// `x-separators`: the text of a separator code or, for a code without text, the custom text of another parameter. `condition`
/// describes that code.
///
/// # Errors
/// The custom text is absent.
pub fn separator(
    fixed: Option<&'static str>,
    custom: Option<impl Into<String>>,
    condition: &'static str,
    input: Input<'_>,
) -> Result<Cow<'static, str>> {
    match (fixed, custom) {
        (Some(text), _) => Ok(Cow::Borrowed(text)),
        (None, Some(text)) => Ok(Cow::Owned(text.into())),
        (None, None) => Err(needed_by(condition, input)),
    }
}

/// `not-before`: a value must not be before its bound, if both are sent.
///
/// # Errors
/// It is before the bound.
pub fn not_before<T: PartialOrd + ToString>(
    value: Option<&T>,
    bound: Option<&T>,
    name: &str,
    input: Input<'_>,
) -> Result<()> {
    match (value, bound) {
        (Some(value), Some(bound)) if value < bound => {
            let expected = format!("`{name}`, {}, or later", bound.to_string());
            Err(input.invalid("not-before", expected, Excerpt::describe(value.to_string())))
        }
        _ => Ok(()),
    }
}

fn needed_by(condition: &str, input: Input<'_>) -> RequestError {
    input.error(ErrorCode::Missing, "required", format!("missing; it is required when {condition}"))
}
