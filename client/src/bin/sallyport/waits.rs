//! Reports waits before retries on standard error.

use std::time::Duration;

use sallyport_client::{Error, Middleware, MiddlewareFuture, Next, bytes::Bytes, http};

use crate::print_error;

/// Writes a line for each wait.
pub(crate) struct WaitReporter {
    pub(crate) max_retries: u32,
}

impl Middleware for WaitReporter {
    fn handle<'a>(&'a self, request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a> {
        next.run(request)
    }

    fn retrying(&self, error: &Error, retry: u32, wait: Duration) {
        let (seconds, max_retries) = (wait.as_secs_f64(), self.max_retries);
        print_error(&format!("sallyport: {error}; retry {retry} of {max_retries} in {seconds:.1} s"));
    }
}
