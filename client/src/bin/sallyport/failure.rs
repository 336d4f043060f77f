use std::io;

use sallyport_client::{BusinessCode, Error, printable};
use serde_json::{Value, json};

use crate::signals::Signal;

/// Why the program fails: what is said of it, and its exit code.
#[derive(Default)]
pub(crate) struct Failure {
    /// One word for the cause.
    pub(crate) kind: &'static str,
    /// One of the codes that `--help` lists.
    pub(crate) exit_code: u8,
    pub(crate) message: String,
    /// One line for each invalid value; empty when the message names it.
    pub(crate) details: Vec<String>,
    /// The error that the client returned.
    pub(crate) error: Option<Box<Error>>,
    /// Request id of an extraction that was sent.
    pub(crate) request_id: Option<String>,
    /// Whether the service may have extracted gateways that nobody has received.
    pub(crate) may_have_extracted: bool,
    /// Whether the reader closed the pipe early, as `head` does.
    pub(crate) is_broken_pipe: bool,
}

/// Library messages that name functions, and the options of this program that replace them.
const OPTIONS: [(&str, &str); 6] = [
    ("call allow_http(true)", "pass --allow-http"),
    ("to ca_file()", "with --ca-file"),
    ("to client_certificate()", "with --client-certificate and --client-key"),
    ("pass the token to token()", "pass the token with SALLYPORT_API_KEY or --api-key-file"),
    ("call `in_batches()`, and `pages()` or `stream()`, to", "leave out --page to"),
    ("set it to the API token", "set it to the API token, or pass --api-key-file"),
];

impl Failure {
    fn new(kind: &'static str, exit_code: u8, message: impl Into<String>) -> Self {
        Self { kind, exit_code, message: message.into(), ..Self::default() }
    }

    /// An argument is missing or invalid.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new("usage", 2, message)
    }

    /// The extraction returned no gateway.
    pub(crate) fn empty(message: String) -> Self {
        Self::new("empty", 3, message)
    }

    /// A signal during the extraction with this request id.
    pub(crate) fn interrupted((name, code): Signal, request_id: &str) -> Self {
        let request_id = Some(request_id.to_owned());
        Self { request_id, may_have_extracted: true, ..Self::new("interrupted", code, name) }
    }

    /// Lines for a person.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut message = self.message.clone();
        if let Some(advice) = self.advice() {
            // The advice repeats the id.
            message = format!("{}; {advice}", without(&message, "request id", self.request_id.as_deref()));
        }
        let details = self.details.iter().map(|detail| format!("  {detail}"));
        std::iter::once(format!("sallyport: {message}")).chain(details).collect()
    }

    /// One JSON object; unknown fields are omitted.
    pub(crate) fn json(&self) -> Value {
        let error = self.error.as_deref();
        let message = without(&self.message, "request id", self.request_id.as_deref());
        let message = without(&message, "trace id", error.and_then(Error::trace_id));
        let code = error.and_then(Error::code).map(|code| match code {
            BusinessCode::Number(number) => json!(number),
            text => json!(text.to_string()),
        });
        let mut fields = json!({
            "kind": self.kind,
            "message": message,
            "status": error.and_then(Error::status).map(|status| status.as_u16()),
            "code": code,
            "retryAfter": error.and_then(Error::retry_after).map(|wait| wait.as_secs()),
            "traceId": error.and_then(Error::trace_id),
            "details": Some(&self.details).filter(|details| !details.is_empty()),
            "requestId": self.request_id,
            "advice": self.advice(),
        });
        if let Value::Object(fields) = &mut fields {
            fields.retain(|_, value| !value.is_null());
        }
        json!({ "error": fields })
    }

    /// How to receive gateways that the service may have extracted.
    fn advice(&self) -> Option<String> {
        let id = self.request_id.as_ref().filter(|_| self.may_have_extracted)?;
        Some(format!("to receive the gateways of this extraction, repeat it with --request-id {id}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit_code = match &error {
            Error::Configuration(_) | Error::InvalidArgument(_) => 2,
            error if error.is_retryable() => 3,
            _ => 1,
        };
        let may_have_extracted = match &error {
            Error::Timeout(_) | Error::Transport(_) | Error::UnexpectedResponse(_) => true,
            Error::Rejected(_) => error.is_retryable(),
            _ => false,
        };
        let replaced = |text: String, (function, option): (&str, &str)| text.replace(function, option);
        let message = OPTIONS.into_iter().fold(error.to_string(), replaced);
        let (kind, request_id) = (error.kind(), error.request_id().map(str::to_owned));
        Self {
            request_id,
            may_have_extracted,
            error: Some(error.into()),
            ..Self::new(kind, exit_code, message)
        }
    }
}

/// The output could not be written; of an extraction, the request id returns its gateways again.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let is_broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        let message = format!("cannot write the output: {error}");
        Self { is_broken_pipe, may_have_extracted: true, ..Self::new("output", 4, message) }
    }
}

/// The message of an error without an id that is shown elsewhere.
fn without(message: &str, name: &str, id: Option<&str>) -> String {
    id.map_or_else(|| message.to_owned(), |id| message.replace(&format!(" [{name} {}]", printable(id)), ""))
}
