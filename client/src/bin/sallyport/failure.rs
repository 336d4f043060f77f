use std::{fmt, io, process::ExitCode};

use sallyport_client::Error;

/// Why the program fails.
pub(crate) enum Failure {
    /// The client returned an error.
    Client(Error),
    /// An argument is missing or invalid.
    Usage(String),
    /// The output could not be written.
    Output(io::Error),
    /// The extraction returned no gateway.
    Empty(String),
    /// Ctrl-C during the extraction with this request id.
    Interrupted {
        /// Repeats the extraction.
        request_id: String,
    },
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::Usage(message.into())
    }

    /// The codes that `--help` lists.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Usage(_) | Failure::Client(Error::Configuration(_) | Error::InvalidArgument(_)) => 2,
            Failure::Client(error) if error.is_retryable() => 3,
            Failure::Empty(_) => 3,
            Failure::Client(_) => 1,
            Failure::Output(_) => 4,
            Failure::Interrupted { .. } => 130,
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Client(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Client(error) => error.fmt(out),
            Failure::Usage(message) | Failure::Empty(message) => out.write_str(message),
            Failure::Output(error) => write!(out, "cannot write the output: {error}"),
            Failure::Interrupted { request_id } => write!(
                out,
                "interrupted; to receive the gateways of this extraction, repeat it with --request-id {request_id}"
            ),
        }
    }
}
