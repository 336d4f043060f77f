//! Servers that misbehave: the right error, no hang, no second extraction.

mod arguments;
#[path = "../faulty/mod.rs"]
mod faulty;
mod responses;
mod retries;
