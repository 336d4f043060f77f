//! What every call passes before it is read and before it is worked on.

use std::{net::IpAddr, sync::Arc, time::Duration};

use http::HeaderMap;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{caller::TrustedProxies, catalogue::Reason, limit::Limits, refused::Refused};
use crate::{
    connections::{Connection, Connections},
    metrics::Metrics,
};

/// How long a caller waits when there is too much work under way.
const OVERLOADED_RETRY_AFTER: Duration = Duration::from_secs(1);

/// The gate of one server.
#[derive(Debug)]
pub struct Gate {
    pub(crate) proxies: TrustedProxies,
    /// Whether connections are encrypted.
    pub(crate) encrypted: bool,
    pub(crate) limits: Limits,
    /// How many calls may be worked on at once. One more is refused at once: waiting in line helps nobody who gives up
    /// while waiting. A body that is still arriving is no work, so slow callers keep nobody out.
    pub(crate) work: Semaphore,
    /// What connections hold, and how much of it they may.
    pub(crate) connections: Arc<Connections>,
    /// Maximum time for receiving a request body.
    pub(crate) body_timeout: Duration,
    pub(crate) metrics: Arc<Metrics>,
}

impl Gate {
    /// Where the call comes from.
    ///
    /// # Errors
    /// It came over plain http from another machine that is no declared proxy, or the proxies do not tell.
    pub(crate) fn caller(&self, peer: IpAddr, headers: &HeaderMap) -> Result<IpAddr, Refused> {
        let near = peer.to_canonical().is_loopback() || self.proxies.contains(peer);
        if !self.encrypted && !near {
            return Err(Reason::NotEncrypted.into());
        }
        Ok(self.proxies.caller(peer, headers)?)
    }

    /// Begins to work on a request of this connection.
    ///
    /// # Errors
    /// Too much work is under way, or the connection does not read the responses that it already has.
    pub(crate) fn begin(&self, connection: &Connection) -> Result<SemaphorePermit<'_>, Refused> {
        if !connection.has_room_for_response() {
            return Err(overloaded());
        }
        self.work.try_acquire().map_err(|_| overloaded())
    }
}

/// There is too much to do.
pub(crate) fn overloaded() -> Refused {
    Refused { retry_after: Some(OVERLOADED_RETRY_AFTER), ..Reason::Overloaded.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_comes_from_here_or_through_a_proxy() {
        const NONE: crate::connections::Limit = crate::connections::Limit { total: 0, of_connection: 0 };
        let gate = |encrypted| Gate {
            proxies: ["10.0.0.0/8".parse().unwrap()].into_iter().collect(),
            encrypted,
            limits: Limits::default(),
            work: Semaphore::new(1),
            connections: Arc::new(Connections::new(
                crate::connections::Limits { bodies: NONE, responses: NONE },
                TrustedProxies::default(),
            )),
            body_timeout: Duration::ZERO,
            metrics: Arc::new(Metrics::new(&[])),
        };
        let reason = |encrypted, peer: &str| {
            gate(encrypted).caller(peer.parse().unwrap(), &HeaderMap::new()).err().map(|it| it.reason)
        };
        for near in ["127.0.0.1", "::1", "::ffff:127.0.0.2", "10.1.1.1", "::ffff:10.1.1.1"] {
            assert_eq!(reason(false, near), None, "{near}");
        }
        for far in ["203.0.113.9", "2001:db8::1", "::ffff:203.0.113.9"] {
            assert_eq!(reason(false, far), Some(Reason::NotEncrypted), "{far}");
            assert_eq!(reason(true, far), None, "{far}");
        }
    }
}
