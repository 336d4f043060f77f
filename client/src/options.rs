//! Settings of one call.

use std::{pin::Pin, time::Duration};

use crate::{Error, RetryPolicy, Separator};

/// A call that was sent.
pub(crate) type PendingCall<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// Settings of one call that replace those of its client; `None` keeps the setting of the client.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallOptions {
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) total_timeout: Option<Duration>,
    pub(crate) retry: Option<Box<RetryPolicy>>,
    /// What separates the entries of a text response.
    pub(crate) separator: Option<Separator>,
}

impl CallOptions {
    /// Rejects timeouts with which no call could succeed.
    pub(crate) fn check(&self) -> Result<(), Error> {
        not_zero("request_timeout", self.request_timeout == Some(Duration::ZERO))?;
        not_zero("total_timeout", self.total_timeout == Some(Duration::ZERO))
    }
}

/// Rejects a setting of zero, with which no call could succeed.
pub(crate) fn not_zero(name: &str, is_zero: bool) -> Result<(), Error> {
    if is_zero {
        return Err(Error::configuration(format!("invalid `{name}`: expected more than 0, found 0")));
    }
    Ok(())
}

/// The methods of a call that set its options; `$field` leads to its [`CallOptions`].
macro_rules! call_options {
    ($name:ident, $($field:ident).+) => {
        impl $name {
            /// Maximum time for one request of this call, in place of the client's
            /// [`request_timeout`](crate::ClientBuilder::request_timeout). Zero is an
            /// [`Error::Configuration`](crate::Error::Configuration) when the call is sent.
            pub fn request_timeout(mut self, limit: std::time::Duration) -> Self {
                self.$($field).+.request_timeout = Some(limit);
                self
            }

            /// Maximum time for this call with all its retries and waits, in place of the client's
            /// [`total_timeout`](crate::ClientBuilder::total_timeout). For a search it counts for each page.
            /// Zero is an [`Error::Configuration`](crate::Error::Configuration) when the call is sent.
            pub fn total_timeout(mut self, limit: std::time::Duration) -> Self {
                self.$($field).+.total_timeout = Some(limit);
                self
            }

            /// When and how often this call is retried, in place of the client's [`retry`](crate::ClientBuilder::retry).
            pub fn retry(mut self, policy: crate::RetryPolicy) -> Self {
                self.$($field).+.retry = Some(Box::new(policy));
                self
            }
        }
    };
}

pub(crate) use call_options;
