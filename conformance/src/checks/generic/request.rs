use crate::check::{Probe, Stop};
use crate::contract::{Credential, OtherOperation, Place};
use crate::target::Secret;
use crate::wire::{Request, is_loopback};

/// A request with the document's example for everything that is required. A conforming service accepts it if the examples
/// exist there.
pub(crate) fn valid_request(other: &OtherOperation, token: &Secret) -> Request {
    request_with(other, token, None)
}

/// The same with another value of one path parameter.
pub(super) fn request_with(
    other: &OtherOperation,
    token: &Secret,
    replaced: Option<(&str, &str)>,
) -> Request {
    let mut request = Request::to(&other.operation);
    for parameter in other.own_parameters() {
        let values = match replaced {
            Some((name, value)) if parameter.place == Place::Path && parameter.name == name => {
                vec![value.to_owned()]
            }
            _ => parameter.example(),
        };
        match parameter.place {
            Place::Path => {
                request = request.path_parameter(&parameter.name, values.first().map_or("", String::as_str));
            }
            Place::Query if parameter.required => {
                for value in &values {
                    request = request.add_query(&parameter.name, value);
                }
            }
            Place::Header if parameter.required => {
                request = request.header(&parameter.name, values.first().map_or("", String::as_str));
            }
            Place::Query | Place::Header => {}
        }
    }
    for (name, value) in other.body.as_ref().and_then(serde_json::Value::as_object).into_iter().flatten() {
        request = request.field(name, value.clone());
    }
    with_token(other, request, token.expose())
}

pub(crate) fn with_token(other: &OtherOperation, request: Request, token: &str) -> Request {
    match &other.credential {
        Credential::Query(name) => request.query(name, token),
        Credential::Header(name, before) => {
            request.without_header(name).header(name, format!("{before}{token}"))
        }
    }
}

pub(crate) fn without_token(other: &OtherOperation, request: Request) -> Request {
    match &other.credential {
        Credential::Query(name) => request.without_query(name),
        Credential::Header(name, _) => request.without_header(name),
    }
}

/// The token for valid requests. Requests that change data use the second account where one is known, so that facts about
/// the first one, such as its groups, remain true.
pub(crate) fn token_for<'a>(probe: &Probe<'a>, other: &OtherOperation) -> &'a Secret {
    let second = probe.facts().second_token.as_ref().filter(|_| !other.is_read);
    second.unwrap_or(probe.token())
}

/// Skips valid requests that change data, except on this machine, where a sandbox runs.
pub(crate) fn skip_changes(probe: &Probe<'_>, other: &OtherOperation) -> Result<(), Stop> {
    if other.is_read || is_loopback(probe.base()) {
        return Ok(());
    }
    Err(probe.skip(
        "the operation changes data, and generic checks send it to a sandbox on this machine only; write a check of its own",
    ))
}
