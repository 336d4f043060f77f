use crate::embedded::ReferenceError;

/// Why no case ran.
#[derive(Debug, thiserror::Error)]
pub enum ClientSuiteError {
    /// A pattern fits nothing.
    #[error("`{0}` matches no case; see `conformance client --list`")]
    Idle(String),
    /// No command.
    #[error("missing command; expected `conformance client -- COMMAND`")]
    NoCommand,
    /// The program does not start.
    #[error("cannot start `{0}`: {1}")]
    Command(String, std::io::Error),
    /// The embedded server is missing.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The embedded contract is incomplete, a proxy cannot listen, or TLS cannot be initialised.
    #[error("cannot start the local test server: {0}")]
    Lab(String),
}

impl ClientSuiteError {
    pub(super) fn lab(error: impl std::fmt::Display) -> Self {
        Self::Lab(error.to_string())
    }
}
