//! Settings of one call.

use std::{fmt, pin::Pin, time::Duration};

use reqwest::{
    Request,
    header::{HeaderMap, HeaderName, HeaderValue},
};

use crate::{
    Error, RetryPolicy, Separator,
    contract::{OPERATIONS, REQUEST_ID_HEADER},
    operation::Credential,
};

/// Headers that control the connection, authentication or the format of request and response.
const RESERVED: [&str; 11] = [
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "proxy-authorization",
    "te",
    "transfer-encoding",
];

/// A call that was sent.
pub(crate) type PendingCall<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// Settings of one call that replace those of its client; `None` keeps the setting of the client.
#[derive(Clone, Default)]
pub(crate) struct CallOptions {
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) total_timeout: Option<Duration>,
    pub(crate) retry: Option<Box<RetryPolicy>>,
    /// What separates the entries of a text response.
    pub(crate) separator: Option<Separator>,
    headers: Option<Box<HeaderMap>>,
    /// Name of a header that cannot be sent.
    invalid: Option<Box<str>>,
}

impl CallOptions {
    pub(crate) fn add_header(&mut self, name: &str, value: &str) {
        match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            (Ok(name), Ok(value)) => {
                self.headers.get_or_insert_default().append(name, value);
            }
            // The value is not kept: it may be a secret.
            _ => self.invalid = Some(name.into()),
        }
    }

    /// Checks the options, and adds the headers to a request.
    pub(crate) fn apply(&self, request: &mut Request) -> Result<(), Error> {
        not_zero("request_timeout", self.request_timeout == Some(Duration::ZERO))?;
        not_zero("total_timeout", self.total_timeout == Some(Duration::ZERO))?;
        if let Some(name) = &self.invalid {
            return Err(Error::configuration(format!(
                "invalid header `{name}`: expected a name and a value that HTTP allows"
            )));
        }
        let Some(headers) = &self.headers else { return Ok(()) };
        for (name, value) in headers.iter() {
            if is_reserved(name) {
                return Err(Error::configuration(format!(
                    "invalid header `{name}`: it belongs to the client; choose another name"
                )));
            }
            request.headers_mut().append(name, value.clone());
        }
        Ok(())
    }
}

/// Rejects a setting of zero, with which no call could succeed.
pub(crate) fn not_zero(name: &str, is_zero: bool) -> Result<(), Error> {
    if is_zero {
        return Err(Error::configuration(format!("invalid `{name}`: expected more than 0, found 0")));
    }
    Ok(())
}

/// Without the values of headers, which may be secrets.
impl fmt::Debug for CallOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&HeaderName> = self.headers.iter().flat_map(|headers| headers.keys()).collect();
        out.debug_struct("CallOptions")
            .field("request_timeout", &self.request_timeout)
            .field("total_timeout", &self.total_timeout)
            .field("retry", &self.retry)
            .field("headers", &headers)
            .finish()
    }
}

/// A header that carries the token or the request id of any operation is reserved for all of them.
fn is_reserved(name: &HeaderName) -> bool {
    let is_token = OPERATIONS.iter().any(|operation| match operation.credential {
        Credential::Header(own) => name.as_str().eq_ignore_ascii_case(own),
        Credential::Query(_) | Credential::Bearer => false,
    });
    is_token || name.as_str().eq_ignore_ascii_case(REQUEST_ID_HEADER) || RESERVED.contains(&name.as_str())
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

            /// Sends a further header with each request of this call; may be called several times.
            ///
            /// A name or value that HTTP does not allow, and a header that belongs to the client (`X-API-Key`, `Authorization`,
            /// `X-Request-Id`, `Host`, `Accept` and those of bodies and connections, for every operation), is an
            /// [`Error::Configuration`](crate::Error::Configuration) when the call is sent. For an id of your own use another
            /// name, such as `X-Correlation-Id`; an extraction takes its request id with
            /// [`request_id`](crate::Extract::request_id), and other operations have none.
            pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
                self.$($field).+.add_header(name.as_ref(), value.as_ref());
                self
            }
        }
    };
}

pub(crate) use call_options;
