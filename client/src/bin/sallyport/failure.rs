use std::{fmt, io};

use sallyport_client::{BusinessCode, Error, printable};
use serde_json::{Value, json};

use crate::signals::Signal;

/// Why the program fails.
pub(crate) enum Failure {
    /// The client returned an error.
    Client(Error),
    /// An argument is missing or invalid.
    Usage {
        /// What is wrong.
        message: String,
        /// One line for each invalid value; empty when the message names it.
        details: Vec<String>,
    },
    /// The output could not be written.
    Output {
        /// Why.
        error: io::Error,
        /// Request id of the extraction whose gateways could not be written.
        request_id: Option<String>,
    },
    /// The extraction returned no gateway.
    Empty(String),
    /// A signal during the extraction with this request id.
    Interrupted {
        /// The signal.
        signal: Signal,
        /// Repeats the extraction.
        request_id: String,
    },
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
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::Usage { message: message.into(), details: Vec::new() }
    }

    /// The failure with the request id of the extraction whose gateways could not be written.
    pub(crate) fn of_extraction(self, id: &str) -> Self {
        match self {
            Failure::Output { error, request_id: None } => {
                Failure::Output { error, request_id: Some(id.to_owned()) }
            }
            other => other,
        }
    }

    /// The codes that `--help` lists.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage { .. } | Failure::Client(Error::Configuration(_) | Error::InvalidArgument(_)) => 2,
            Failure::Client(error) if error.is_retryable() => 3,
            Failure::Empty(_) => 3,
            Failure::Client(_) => 1,
            Failure::Output { .. } => 4,
            Failure::Interrupted { signal: (_, code), .. } => *code,
        }
    }

    /// Lines for a person.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut message = self.to_string();
        if let Some(advice) = self.advice() {
            // The advice repeats the id.
            message = format!("{}; {advice}", without(&message, "request id", self.request_id()));
        }
        let details = match self {
            Failure::Usage { details, .. } => details.as_slice(),
            _ => &[],
        };
        let details = details.iter().map(|detail| format!("  {detail}"));
        std::iter::once(format!("sallyport: {message}")).chain(details).collect()
    }

    /// One JSON object; unknown fields are omitted.
    pub(crate) fn json(&self) -> Value {
        let error = match self {
            Failure::Client(error) => Some(error),
            _ => None,
        };
        let message = without(&self.to_string(), "request id", self.request_id());
        let message = without(&message, "trace id", error.and_then(Error::trace_id));
        let code = error.and_then(Error::code).map(|code| match code {
            BusinessCode::Number(number) => json!(number),
            text => json!(text.to_string()),
        });
        let details = match self {
            Failure::Usage { details, .. } if !details.is_empty() => Some(details),
            _ => None,
        };
        let mut fields = json!({
            "kind": self.kind(),
            "message": message,
            "status": error.and_then(Error::status).map(|status| status.as_u16()),
            "code": code,
            "retryAfter": error.and_then(Error::retry_after).map(|wait| wait.as_secs()),
            "traceId": error.and_then(Error::trace_id),
            "details": details,
            "requestId": self.request_id(),
            "advice": self.advice(),
        });
        if let Value::Object(fields) = &mut fields {
            fields.retain(|_, value| !value.is_null());
        }
        json!({ "error": fields })
    }

    /// One word for each cause.
    fn kind(&self) -> &'static str {
        match self {
            Failure::Usage { .. } => "usage",
            Failure::Output { .. } => "output",
            Failure::Empty(_) => "empty",
            Failure::Interrupted { .. } => "interrupted",
            Failure::Client(error) => error.kind(),
        }
    }

    /// Request id of an extraction that was sent.
    fn request_id(&self) -> Option<&str> {
        match self {
            Failure::Client(error) => error.request_id(),
            Failure::Output { request_id, .. } => request_id.as_deref(),
            Failure::Interrupted { request_id, .. } => Some(request_id),
            Failure::Usage { .. } | Failure::Empty(_) => None,
        }
    }

    /// How to receive gateways that the service may have extracted.
    fn advice(&self) -> Option<String> {
        let is_unknown = match self {
            Failure::Client(Error::Timeout(_) | Error::Transport(_) | Error::UnexpectedResponse(_)) => true,
            Failure::Client(error @ Error::Rejected(_)) => error.is_retryable(),
            Failure::Client(_) => false,
            _ => true,
        };
        let id = self.request_id().filter(|_| is_unknown)?;
        Some(format!("to receive the gateways of this extraction, repeat it with --request-id {id}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Client(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output { error, request_id: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Client(error) => {
                let replaced =
                    |text: String, (function, option): (&str, &str)| text.replace(function, option);
                out.write_str(&OPTIONS.into_iter().fold(error.to_string(), replaced))
            }
            Failure::Usage { message, .. } | Failure::Empty(message) => out.write_str(message),
            Failure::Output { error, .. } => write!(out, "cannot write the output: {error}"),
            Failure::Interrupted { signal: (name, _), .. } => out.write_str(name),
        }
    }
}

/// The message of an error without an id that is shown elsewhere.
fn without(message: &str, name: &str, id: Option<&str>) -> String {
    id.map_or_else(|| message.to_owned(), |id| message.replace(&format!(" [{name} {}]", printable(id)), ""))
}
