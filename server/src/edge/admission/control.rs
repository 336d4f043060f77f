//! Request limits, which are checked before a request is parsed and before it is worked on.

use std::{net::IpAddr, sync::Arc, time::Duration};

use http::HeaderMap;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::rate_limit::RateLimits;
use crate::{
    connections::{Connection, Connections},
    edge::{
        reading::caller,
        responding::{api_error::ApiError, error_code::ErrorCode},
    },
    metrics::Metrics,
    proxies::TrustedProxies,
};

/// The request limits of one server.
pub struct AdmissionControl {
    pub(crate) proxies: TrustedProxies,
    /// Whether connections are encrypted.
    pub(crate) is_encrypted: bool,
    pub(crate) rate_limits: RateLimits,
    /// Maximum number of concurrent requests. One more is rejected at once, because callers may give up while they wait in a
    /// queue. A request whose body is still being received does not count, so slow callers do not block others.
    pub(crate) work: Semaphore,
    pub(crate) connections: Arc<Connections>,
    /// Maximum time for receiving a request body.
    pub(crate) body_timeout: Duration,
    pub(crate) metrics: Arc<Metrics>,
}

impl AdmissionControl {
    /// The address that the request comes from.
    ///
    /// # Errors
    /// The request came over plain HTTP from another machine that is not a declared proxy, or the proxies do not identify the
    /// caller.
    pub(crate) fn caller(&self, peer: IpAddr, headers: &HeaderMap) -> Result<IpAddr, ApiError> {
        let is_near = peer.to_canonical().is_loopback() || self.proxies.contains(peer);
        if !self.is_encrypted && !is_near {
            return Err(ErrorCode::NotEncrypted.into());
        }
        Ok(caller::caller(&self.proxies, peer, headers)?)
    }

    /// Counts a request of this connection as concurrent until the permit is dropped.
    ///
    /// # Errors
    /// There are too many concurrent requests, or the connection has too many unread responses.
    pub(crate) fn start_work(&self, connection: &Connection) -> Result<SemaphorePermit<'_>, ApiError> {
        if !connection.can_send_response() {
            return Err(ErrorCode::Overloaded.into());
        }
        self.work.try_acquire().map_err(|_| ErrorCode::Overloaded.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_accepted_from_this_machine_and_from_proxies() {
        const NONE: crate::connections::Limit = crate::connections::Limit { total: 0, of_connection: 0 };
        let control = |is_encrypted| AdmissionControl {
            proxies: ["10.0.0.0/8".parse().unwrap()].into_iter().collect(),
            is_encrypted,
            rate_limits: RateLimits::default(),
            work: Semaphore::new(1),
            connections: Arc::new(Connections::new(NONE, NONE, TrustedProxies::default())),
            body_timeout: Duration::ZERO,
            metrics: Arc::new(Metrics::new(&[])),
        };
        let code = |encrypted, peer: &str| {
            control(encrypted).caller(peer.parse().unwrap(), &HeaderMap::new()).err().map(|error| error.code)
        };
        for near in ["127.0.0.1", "::1", "::ffff:127.0.0.2", "10.1.1.1", "::ffff:10.1.1.1"] {
            assert_eq!(code(false, near), None, "{near}");
        }
        for far in ["203.0.113.9", "2001:db8::1", "::ffff:203.0.113.9"] {
            assert_eq!(code(false, far), Some(ErrorCode::NotEncrypted), "{far}");
            assert_eq!(code(true, far), None, "{far}");
        }
    }
}
