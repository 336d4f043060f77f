//! Admission: what the server checks before it reads a request and before it works on it.

pub mod control;
pub mod rate_limit;
