//! The place where the generated client meets ours: every request leaves through here.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use progenitor_client::{ClientHooks, ClientInfo, OperationInfo};
use reqwest::{Request, Response, StatusCode, header::HeaderMap};

use crate::{
    Error, contract, generated,
    transport::Transport,
    verdict::{Answer, not_understood},
};

/// What the generated client carries for one call.
#[derive(Clone, Debug)]
pub struct Hooks {
    transport: Arc<Transport>,
    /// Head of the last answer: the generated client drops it when it cannot read the body.
    head: Arc<Mutex<Option<(StatusCode, HeaderMap)>>>,
}

impl Hooks {
    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self { transport, head: Arc::default() }
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
            Ok(Answer { status, headers, body }) => {
                *self.inner().head.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some((status, headers.clone()));
                respond(status, headers, body)
            }
            Err(error) => {
                let mut response = respond(StatusCode::BAD_GATEWAY, HeaderMap::new(), Bytes::new());
                response.extensions_mut().insert(error);
                response
            }
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
            generated::Error::InvalidResponsePayload(body, error) => {
                self.unreadable(&format!("not the document's JSON: {error}"), body)
            }
            generated::Error::InvalidRequest(reason) => Error::Configuration(reason),
            // `exec` returns no error of reqwest, so this one is of a request that could not be made.
            generated::Error::CommunicationError(error) => {
                Error::configuration(format!("the request cannot be made: {}", error.without_url()))
            }
            // The generated code makes none of the others: bodies are read before it sees them, nothing is upgraded.
            other => self.odd(other.status().unwrap_or_default(), "an error without a cause"),
        }
    }

    /// An answer whose head was good and whose body is not what it should be.
    pub(crate) fn unreadable(&self, reason: &str, body: Bytes) -> Error {
        let head = self.inner().head.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (status, headers) = head.unwrap_or_default();
        not_understood(reason, &Answer { status, headers, body }, &self.inner().transport.token)
    }

    fn odd(&self, status: StatusCode, reason: &str) -> Error {
        let answer = Answer { status, headers: HeaderMap::new(), body: Bytes::new() };
        not_understood(reason, &answer, &self.inner().transport.token)
    }
}

fn respond(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response {
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response.into()
}
