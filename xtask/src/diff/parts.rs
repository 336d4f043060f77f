//! Parts that only one document has: parameters, bodies, statuses, headers, media types and properties.

use serde_json::json;

use super::{
    change::Direction,
    document_pair::{DocumentPair, Place},
    elements::{self, Element},
    extensions,
    rules::{self, Rule},
};
use crate::model::{Operation, Parameter, Response};

/// Reports what was added to or removed from the requests or the responses of an operation.
pub(super) fn compare(
    documents: &mut DocumentPair<'_>,
    place: Place<'_>,
    (before, after): (&Operation, &Operation),
    (old, new): (&[Element<'_>], &[Element<'_>]),
) {
    let is_request = place.direction == Direction::Request;
    for element in elements::missing(new, old) {
        let rule = if is_request { added_to_request(element) } else { of_response(element).0 };
        let found =
            (None, documents.after(elements::definition_pointer(after, new, element), element.kind()));
        documents.report(rule, Place { at: element.at, ..place }, "", found, element.clauses());
    }
    for element in elements::missing(old, new) {
        let rule = if is_request { removed_from_request(element) } else { of_response(element).1 };
        let pointer = elements::definition_pointer(before, old, element);
        let rule = documents.removal(&pointer, rule);
        let found = (documents.before(pointer, element.kind()), None);
        documents.report(rule, Place { at: element.at, ..place }, "", found, element.clauses());
    }
}

/// What both documents say of the deprecation of the parameters that they have in common.
pub(super) fn deprecations(
    documents: &mut DocumentPair<'_>,
    place: Place<'_>,
    old: &Operation,
    new: &Operation,
) {
    for parameter in &new.parameters {
        let at = at(parameter);
        if let Some(before) = old.parameters.iter().find(|before| self::at(before).eq_ignore_ascii_case(&at))
        {
            let place = Place { at: &at, ..place };
            extensions::deprecation(documents, place, (&before.pointer, &parameter.pointer));
        }
    }
}

fn at(parameter: &Parameter) -> String {
    format!("{} {}", parameter.location, parameter.name)
}

fn added_to_request(element: &Element<'_>) -> &'static Rule {
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

fn removed_from_request(element: &Element<'_>) -> &'static Rule {
    match element.at.split_once(' ') {
        Some(("body", _)) => &rules::REQUEST_PROPERTY_REMOVED,
        None => &rules::REQUEST_BODY_REMOVED,
        Some(_) if element.get("x-alias-of").is_some() => &rules::ALIAS_REMOVED,
        Some(_) => &rules::PARAMETER_REMOVED,
    }
}

/// Compares the statuses, and returns those that only one document has: their parts are no changes of their own.
pub(super) fn statuses(
    documents: &mut DocumentPair<'_>,
    place: Place<'_>,
    old: &Operation,
    new: &Operation,
) -> Vec<String> {
    let mut gone = Vec::new();
    let clauses = |response: &Response| response.citation.all().map(str::to_owned).collect::<Vec<_>>();
    if old.success.status != new.success.status {
        let found = (
            documents.before(&old.success.pointer, json!(old.success.status)),
            documents.after(&new.success.pointer, json!(new.success.status)),
        );
        documents.report(&rules::SUCCESS_STATUS_CHANGED, place, "", found, clauses(&new.success));
        gone.extend([old.success.status.clone(), new.success.status.clone()]);
    }
    let lacks =
        |list: &[Response], response: &Response| list.iter().all(|other| other.status != response.status);
    for response in new.errors.iter().filter(|response| lacks(&old.errors, response)) {
        let place = Place { at: &response.status, ..place };
        let found = (None, documents.after(&response.pointer, json!(response.status)));
        documents.report(&rules::RESPONSE_STATUS_ADDED, place, "", found, clauses(response));
        gone.push(response.status.clone());
    }
    for response in old.errors.iter().filter(|response| lacks(&new.errors, response)) {
        let place = Place { at: &response.status, ..place };
        let found = (documents.before(&response.pointer, json!(response.status)), None);
        documents.report(&rules::RESPONSE_STATUS_REMOVED, place, "", found, clauses(response));
        gone.push(response.status.clone());
    }
    gone
}

/// The rules for a part of a response that was added and for one that was removed: for `200 header Retry-After`, `200 text`
/// or `200 body data.items`.
fn of_response(element: &Element<'_>) -> (&'static Rule, &'static Rule) {
    let (_, part) = element.at.split_once(' ').unwrap_or_default();
    match (part.split_once(' '), element.is_required()) {
        (Some(("header", _)), true) => {
            (&rules::RESPONSE_HEADER_ADDED_REQUIRED, &rules::RESPONSE_HEADER_REMOVED_REQUIRED)
        }
        (Some(("header", _)), false) => (&rules::RESPONSE_HEADER_ADDED, &rules::RESPONSE_HEADER_REMOVED),
        (Some(_), true) => {
            (&rules::RESPONSE_PROPERTY_ADDED_REQUIRED, &rules::RESPONSE_PROPERTY_REMOVED_REQUIRED)
        }
        (Some(_), false) => (&rules::RESPONSE_PROPERTY_ADDED, &rules::RESPONSE_PROPERTY_REMOVED),
        (None, _) => (&rules::RESPONSE_MEDIA_TYPE_ADDED, &rules::RESPONSE_MEDIA_TYPE_REMOVED),
    }
}
