//! The place where the generated client meets ours: every request leaves through here.

use std::sync::Arc;

use bytes::Bytes;
use progenitor_client::{ClientHooks, ClientInfo, OperationInfo, ResponseValue};
use reqwest::{Request, Response, StatusCode, header::HeaderMap};
use serde::de::DeserializeOwned;

use crate::{
    Error, contract, generated,
    transport::Transport,
    verdict::{Answer, not_understood},
};

/// What the generated client carries for one call.
#[derive(Clone, Debug)]
pub struct Hooks {
    transport: Arc<Transport>,
}

impl Hooks {
    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self { transport }
    }
}

impl ClientHooks<Hooks> for generated::Client {
    /// Sends through [`Transport`]. A failure comes back as a response of another status than success that carries our
    /// error, because an error of reqwest can neither be made nor hold one; see [`generated::Client::failure`].
    async fn exec(&self, request: Request, info: &OperationInfo) -> reqwest::Result<Response> {
        let outcome = match contract::operation(info.operation_id) {
            Some(operation) => self.inner().transport.send(request, operation).await,
            None => Err(Error::configuration(format!("no operation is called {}", info.operation_id))),
        };
        Ok(match outcome {
            Ok(answer) => {
                let mut response = respond(answer);
                response.extensions_mut().insert(self.inner().transport.clone());
                response
            }
            Err(error) => failed(error),
        })
    }
}

impl generated::Client {
    /// Our error behind one of the generated client.
    pub fn failure(&self, error: generated::Error<()>) -> Error {
        match error {
            generated::Error::UnexpectedResponse(mut response) => response
                .extensions_mut()
                .remove::<Error>()
                .unwrap_or_else(|| self.odd(response.status(), "no error")),
            generated::Error::InvalidRequest(reason) => Error::Configuration(reason),
            // `exec` returns no error of reqwest, so this one is of a request that could not be made.
            generated::Error::CommunicationError(error) => {
                Error::configuration(format!("the request cannot be made: {}", error.without_url()))
            }
            // The generated code makes none of the others: bodies are read by the hooks, nothing is upgraded.
            other => self.odd(other.status().unwrap_or_default(), "an error without a cause"),
        }
    }

    /// An answer whose head was good and whose body is not what it should be.
    pub(crate) fn unreadable(&self, reason: &str, answer: &Answer) -> Error {
        not_understood(reason, answer, &self.inner().transport.token)
    }

    fn odd(&self, status: StatusCode, reason: &str) -> Error {
        let answer = Answer { status, headers: HeaderMap::new(), body: Bytes::new() };
        not_understood(reason, &answer, &self.inner().transport.token)
    }
}

/// Reads the body of a success. The generated code calls it for every JSON answer; a body that is not what the document
/// says keeps its status and headers, in the same way as the failures of [`ClientHooks::exec`].
pub(crate) async fn read<T: DeserializeOwned>(
    mut response: Response,
) -> Result<ResponseValue<T>, generated::Error<()>> {
    let transport = response.extensions_mut().remove::<Arc<Transport>>();
    let status = response.status();
    let headers = std::mem::take(response.headers_mut());
    let body = response.bytes().await.map_err(generated::Error::ResponseBodyError)?;
    match (serde_json::from_slice(&body), transport) {
        (Ok(value), _) => Ok(ResponseValue::new(value, status, headers)),
        (Err(error), Some(transport)) => {
            let reason = format!("not the document's JSON: {error}");
            let error = not_understood(&reason, &Answer { status, headers, body }, &transport.token);
            Err(generated::Error::UnexpectedResponse(failed(error)))
        }
        (Err(error), None) => Err(generated::Error::InvalidResponsePayload(body, error)),
    }
}

/// A response that carries our error.
fn failed(error: Error) -> Response {
    let status = StatusCode::BAD_GATEWAY;
    let mut response = respond(Answer { status, headers: HeaderMap::new(), body: Bytes::new() });
    response.extensions_mut().insert(error);
    response
}

fn respond(answer: Answer) -> Response {
    let mut response = http::Response::new(answer.body);
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response.into()
}
