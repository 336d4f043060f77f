//! The log. No line holds text that a caller sent, at any level: this package does not log any, of Dropshot's own log only what cannot hold
//! such a text is passed on, and events of all other crates are left out.
//!
//! Events go to `tracing`; the feature `admin` has what writes them.

mod dropshot;
#[cfg(feature = "admin")]
mod subscriber;

pub(crate) use self::dropshot::logger;
#[cfg(feature = "admin")]
pub use self::subscriber::{Format, start, to};
