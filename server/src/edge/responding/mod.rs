//! Responding: error codes, API errors, and the envelopes of responses.

pub mod api_error;
pub mod error_code;
pub mod response;
