//! Connects the generated client to [`Transport`], through which every request is sent.

use std::sync::Arc;

use progenitor_client::{ClientHooks, ClientInfo, OperationInfo, ResponseValue};
use reqwest::{Request, Response, ResponseBuilderExt as _, StatusCode, Url};
use serde::de::DeserializeOwned;

use crate::{
    Error, Separator, contract, generated,
    options::CallOptions,
    response::{RawResponse, bare_unexpected_response, unexpected_response},
    secret::Token,
    transport::{SuccessResponse, Transport},
    with_response::Recorder,
};

/// State of the generated client: the connections and settings that it shares with [`Client`](crate::Client).
#[derive(Clone, Debug)]
pub struct Hooks {
    pub(crate) transport: Arc<Transport>,
    /// Separator of a text response.
    pub(crate) separator: Option<Separator>,
    pub(crate) options: CallOptions,
    /// Keeps the response of a success.
    pub(crate) recorder: Option<Recorder>,
}

impl ClientHooks<Hooks> for generated::Client {
    /// Sends with the settings of the client. A failure is returned as a response with an error status that carries our error, because
    /// an error of reqwest can neither be constructed nor hold one; see [`generated::Client::failure`].
    async fn exec(&self, request: Request, info: &OperationInfo) -> reqwest::Result<Response> {
        let hooks = self.inner();
        let outcome = match contract::operation(info.operation_id) {
            Some(operation) => hooks.transport.send(request, operation, hooks).await,
            None => Err(Error::configuration(format!("unknown operation `{}`", info.operation_id))),
        };
        Ok(match outcome {
            Ok(SuccessResponse { response, token, attempts }) => {
                if let Some(recorder) = &hooks.recorder {
                    recorder.keep(&response, attempts);
                }
                let mut response = into_response(response, &hooks.transport.url);
                response.extensions_mut().insert(token);
                response
            }
            Err(error) => failed(error, &hooks.transport.url),
        })
    }
}

impl generated::Client {
    /// Converts an error of the generated client into [`Error`].
    pub fn failure(&self, error: generated::Error<()>) -> Error {
        match error {
            generated::Error::UnexpectedResponse(mut response) => {
                response.extensions_mut().remove::<Error>().unwrap_or_else(|| {
                    bare_unexpected_response("the response carries no error", response.status(), None)
                })
            }
            generated::Error::InvalidRequest(reason) => Error::Configuration(reason),
            // `exec` returns no error of reqwest, so the request could not be built.
            generated::Error::CommunicationError(error) => {
                Error::configuration(format!("cannot build the request: {}", error.without_url()))
            }
            // The generated code returns no other variant: the hooks read bodies, and no connection is upgraded.
            other => bare_unexpected_response(
                "the generated client failed without a cause",
                other.status().unwrap_or_default(),
                None,
            ),
        }
    }
}

/// Reads the body of a success. The generated code calls it for every JSON response. The error for a body that does not
/// match the document keeps status and headers, as the failures of [`ClientHooks::exec`] do.
pub(crate) async fn read<T: DeserializeOwned>(
    mut response: Response,
) -> Result<ResponseValue<T>, generated::Error<()>> {
    let token = response.extensions_mut().remove::<Arc<Token>>();
    let (status, url) = (response.status(), response.url().clone());
    let headers = std::mem::take(response.headers_mut());
    let body = response.bytes().await.map_err(generated::Error::ResponseBodyError)?;
    match (parse(&body), token) {
        (Ok(value), _) => Ok(ResponseValue::new(value, status, headers)),
        (Err(error), Some(token)) => {
            let reason = format!("expected the JSON that the document describes: {error}");
            let error = unexpected_response(&reason, &RawResponse::new(status, headers, body), &token);
            Err(generated::Error::UnexpectedResponse(failed(error, &url)))
        }
        (Err(error), None) => Err(generated::Error::InvalidResponsePayload(body, error)),
    }
}

/// Validates UTF-8 once, which is faster than for each string. Invalid bytes are replaced, so that a message in another
/// encoding does not lose the rest of the response.
fn parse<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<T> {
    match std::str::from_utf8(body) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_str(&String::from_utf8_lossy(body)),
    }
}

/// A response that carries `error`.
fn failed(error: Error, url: &Url) -> Response {
    let status = StatusCode::BAD_GATEWAY;
    let mut response = into_response(RawResponse { status, ..RawResponse::default() }, url);
    response.extensions_mut().insert(error);
    response
}

/// `url` is never read, but without one reqwest parses a constant for each response, which dominates the time of this function.
fn into_response(RawResponse { status, headers, body, .. }: RawResponse, url: &Url) -> Response {
    // Without a header there is nothing in it that could be invalid.
    let empty = http::Response::builder().url(url.clone()).body(()).unwrap_or_default();
    let mut response = empty.map(|()| body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response.into()
}
