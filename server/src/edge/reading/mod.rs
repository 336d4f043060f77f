//! Reading: raw requests become values of [`types`](super::types), or the first request error.

pub mod body;
pub mod caller;
pub mod credential;
pub mod fields;
mod forwarded;
pub mod headers;
mod parts;
pub mod path;
mod percent;
pub mod query;
pub mod rules;

pub use self::parts::RequestParts;
