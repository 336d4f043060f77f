//! Whether a connection is in use, and since when it is idle or stalled.

use std::time::Duration;

/// Requests and responses under way on one connection. Times are durations since the server's start.
#[derive(Debug)]
pub(super) struct Activity {
    /// Requests that have no response yet.
    requests: u32,
    /// Responses that are not sent in full.
    responses: u32,
    /// Bytes of those responses that are not reserved in the budget.
    pub(super) unreserved: usize,
    /// When the connection became idle or, while responses are being sent, when the last one was sent in full.
    since: Duration,
}

impl Activity {
    pub(super) const fn new(now: Duration) -> Self {
        Self { requests: 0, responses: 0, unreserved: 0, since: now }
    }

    pub(super) fn request_begun(&mut self) {
        self.requests += 1;
    }

    pub(super) fn request_ended(&mut self, now: Duration) {
        self.requests -= 1;
        if self.requests == 0 && self.responses == 0 {
            self.since = now;
        }
    }

    /// Counts a response that is being sent, with its bytes that are not reserved in the budget.
    pub(super) fn response_begun(&mut self, unreserved: usize, now: Duration) {
        if self.responses == 0 {
            self.since = now;
        }
        self.responses += 1;
        self.unreserved += unreserved;
    }

    /// Counts the same response as sent or abandoned.
    pub(super) fn response_sent(&mut self, unreserved: usize, now: Duration) {
        self.responses -= 1;
        self.unreserved -= unreserved;
        self.since = now;
    }

    /// How long the peer has neither sent a request nor read a response. Zero while the server works on a request and no
    /// response is unread: then the peer waits for the server.
    pub(super) fn stalled_for(&self, now: Duration) -> Duration {
        if self.responses == 0 && self.requests > 0 { Duration::ZERO } else { now.saturating_sub(self.since) }
    }
}
