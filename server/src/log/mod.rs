//! The log. No line holds text that a caller sent, at any level: this crate does not log any, and of other crates' events only the
//! source location and numbers are shown.
//!
//! Events go to `tracing`; the feature `admin` has what writes them.

mod dropshot;
#[cfg(feature = "admin")]
mod format;
#[cfg(feature = "admin")]
mod subscriber;

pub(crate) use self::dropshot::logger;
#[cfg(feature = "admin")]
pub use self::{
    format::Format,
    subscriber::{start, to},
};
