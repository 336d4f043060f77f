//! Admission: what the server checks before it reads a request and before it works on it.

mod caller_states;
pub mod control;
pub mod rate_limit;
