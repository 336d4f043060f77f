//! Rules between the fields of a request, as the document's extensions say them.

use std::borrow::Cow;

use super::{
    catalogue::Reason,
    fault::{Came, Fault, Spot},
};

/// `x-alias-of`: two names of one parameter, which must carry the same value when both are sent.
///
/// # Errors
/// Both are sent and differ.
pub fn alias<T: PartialEq>(
    value: Option<T>,
    alias: Option<T>,
    name: &str,
    spot: Spot<'_>,
) -> Result<Option<T>, Fault> {
    match (value, alias) {
        (Some(value), Some(alias)) if value != alias => {
            let expected = format!("be equal to `{name}` when both are sent");
            Err(spot.fault(Reason::Conflict, "x-aliases-agree", expected, None))
        }
        (value, alias) => Ok(value.or(alias)),
    }
}

/// `required-when`: the parameter must be sent because of another one, of which `condition` tells.
///
/// # Errors
/// It is absent although the other parameter needs it.
pub fn required_when(
    needed: bool,
    present: bool,
    condition: &'static str,
    spot: Spot<'_>,
) -> Result<(), Fault> {
    if needed && !present {
        return Err(needed_by(condition, spot));
    }
    Ok(())
}

/// `x-separators`: the text that a separator's code stands for, or that of the parameter which a code without text
/// requires; `condition` tells of that code.
///
/// # Errors
/// Neither is there.
pub fn separator(
    fixed: Option<&'static str>,
    custom: Option<impl Into<String>>,
    condition: &'static str,
    spot: Spot<'_>,
) -> Result<Cow<'static, str>, Fault> {
    match (fixed, custom) {
        (Some(text), _) => Ok(Cow::Borrowed(text)),
        (None, Some(text)) => Ok(Cow::Owned(text.into())),
        (None, None) => Err(needed_by(condition, spot)),
    }
}

/// `not-before`: a value must not lie before its bound when both are sent.
///
/// # Errors
/// It lies before.
pub fn not_before<T: PartialOrd + ToString>(
    value: Option<&T>,
    bound: Option<&T>,
    name: &str,
    spot: Spot<'_>,
) -> Result<(), Fault> {
    match (value, bound) {
        (Some(value), Some(bound)) if value < bound => {
            let expected = format!("be `{name}`, {}, or later", bound.to_string());
            Err(spot.invalid("not-before", expected, Came::words(value.to_string())))
        }
        _ => Ok(()),
    }
}

fn needed_by(condition: &str, spot: Spot<'_>) -> Fault {
    spot.fault(Reason::Missing, "required", format!("be sent when {condition}"), None)
}
