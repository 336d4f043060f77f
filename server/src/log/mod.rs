//! The log. No line holds text that a caller sent: this crate does not write any, and of what other crates write only
//! their place in the source and numbers are shown, at every level.
//!
//! Events go to `tracing`; the feature `admin` has what writes them.

mod dropshot;
#[cfg(feature = "admin")]
mod format;
#[cfg(feature = "admin")]
mod panics;
#[cfg(feature = "admin")]
mod subscriber;

pub(crate) use self::dropshot::logger;
#[cfg(feature = "admin")]
pub use self::{
    format::Format,
    subscriber::{start, to},
};
