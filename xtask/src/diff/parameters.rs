//! What a request consists of: parameters, the body and its properties, added or removed.

use super::{
    elements::{self, Element},
    extensions,
    rules::{self, Rule},
    sides::{DocumentPair, Place},
};
use crate::model::{Operation, Parameter};

pub(super) fn compare(
    sides: &mut DocumentPair<'_>,
    place: Place<'_>,
    (before, after): (&Operation, &Operation),
    (old, new): (&[Element<'_>], &[Element<'_>]),
) {
    for element in elements::missing(new, old) {
        let pointer = elements::located(after, new, element);
        let found = (None, sides.after(pointer, element.kind()));
        let place = Place { at: element.at, ..place };
        sides.report(added(element), place, "", found, element.clauses());
    }
    for element in elements::missing(old, new) {
        let pointer = elements::located(before, old, element);
        let rule = sides.removal(&pointer, removed(element));
        let found = (sides.before(pointer, element.kind()), None);
        sides.report(rule, Place { at: element.at, ..place }, "", found, element.clauses());
    }
}

/// What both documents say of the deprecation of the parameters that they have in common.
pub(super) fn deprecations(sides: &mut DocumentPair<'_>, place: Place<'_>, old: &Operation, new: &Operation) {
    for parameter in &new.parameters {
        let at = at(parameter);
        if let Some(before) = old.parameters.iter().find(|before| self::at(before).eq_ignore_ascii_case(&at))
        {
            let place = Place { at: &at, ..place };
            extensions::deprecation(sides, place, (&before.pointer, &parameter.pointer));
        }
    }
}

fn at(parameter: &Parameter) -> String {
    format!("{} {}", parameter.location, parameter.name)
}

fn added(element: &Element<'_>) -> &'static Rule {
    let required = element.is_required();
    match element.at.split_once(' ') {
        Some(("body", _)) if required => &rules::REQUEST_PROPERTY_ADDED_REQUIRED,
        Some(("body", _)) => &rules::REQUEST_PROPERTY_ADDED,
        None if required => &rules::REQUEST_BODY_ADDED_REQUIRED,
        None => &rules::REQUEST_BODY_ADDED,
        Some(_) if required => &rules::PARAMETER_ADDED_REQUIRED,
        Some(_) if element.get("x-alias-of").is_some() => &rules::ALIAS_ADDED,
        Some(_) => &rules::PARAMETER_ADDED,
    }
}

fn removed(element: &Element<'_>) -> &'static Rule {
    match element.at.split_once(' ') {
        Some(("body", _)) => &rules::REQUEST_PROPERTY_REMOVED,
        None => &rules::REQUEST_BODY_REMOVED,
        Some(_) if element.get("x-alias-of").is_some() => &rules::ALIAS_REMOVED,
        Some(_) => &rules::PARAMETER_REMOVED,
    }
}
