//! Timeouts and memory limits of connections. Dropshot owns the sockets. It has no timeout before the first request, between two
//! requests over HTTP/2, or while a response is not read, and no limit on unread responses. So requests and responses are
//! counted here by connection, and [`monitor`] closes connections that are idle or stalled for too long.

mod activity;
mod budget;
mod sockets;
mod stall_monitor;

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use dashmap::DashMap;

use self::activity::Activity;
pub(crate) use self::{
    budget::{Budget, BudgetExceeded, Reservation},
    sockets::limit_receive_buffers,
    stall_monitor::monitor,
};
use crate::proxies::{TrustedProxies, network};

/// The connections of one server that have made a request.
#[derive(Debug)]
pub(crate) struct Connections {
    shared: Arc<SharedState>,
    known: DashMap<SocketAddr, Arc<Connection>>,
    peers: DashMap<IpAddr, Weak<Peer>>,
    proxies: TrustedProxies,
}

#[derive(Debug)]
struct SharedState {
    /// The time of the monitor's next round, in milliseconds since the start. Timeouts need no finer clock, and reading the
    /// clock costs more than the rest of the counting.
    now: AtomicU64,
    /// By [`MemoryUse`].
    budgets: [Budget; 2],
}

/// One connection, from its first request on.
#[derive(Debug)]
pub(crate) struct Connection {
    shared: Arc<SharedState>,
    peer: Arc<Peer>,
    activity: Mutex<Activity>,
    reserved: ReservedBytes,
}

/// All connections from one address.
#[derive(Debug)]
struct Peer {
    reserved: ReservedBytes,
    /// A declared proxy sends the requests of many callers, so the limit for one address does not apply.
    is_proxy: bool,
}

/// Bytes that are reserved, by [`MemoryUse`].
type ReservedBytes = [AtomicUsize; 2];

/// What the memory of a connection is used for.
#[derive(Clone, Copy, Debug)]
enum MemoryUse {
    /// A request body that is being received.
    RequestBody,
    /// A response that is being sent.
    Response,
}

/// Maximum number of bytes that connections may hold for one [`MemoryUse`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// For all connections together.
    pub(crate) total: usize,
    /// For one connection, which may also hold a single body or response of any size.
    pub(crate) of_connection: usize,
}

/// Bytes of responses that a connection may send without a reservation. Most responses are smaller, so other connections of an
/// address are served when one has used up what the address may reserve.
const MAX_UNRESERVED: usize = 16 << 10;

impl Connections {
    pub(crate) fn new(bodies: Limit, responses: Limit, proxies: TrustedProxies) -> Self {
        let shared = SharedState { now: AtomicU64::new(0), budgets: [bodies, responses].map(Budget::new) };
        Self { shared: Arc::new(shared), known: DashMap::new(), peers: DashMap::new(), proxies }
    }

    pub(crate) fn connection(&self, address: SocketAddr) -> Arc<Connection> {
        if let Some(connection) = self.known.get(&address) {
            return Arc::clone(&connection);
        }
        let peer = self.peer(address.ip());
        let connection = self.known.entry(address).or_insert_with(|| {
            let activity = Mutex::new(Activity::new(self.shared.now()));
            let shared = Arc::clone(&self.shared);
            Arc::new(Connection { shared, peer, activity, reserved: ReservedBytes::default() })
        });
        Arc::clone(&connection)
    }

    fn peer(&self, ip: IpAddr) -> Arc<Peer> {
        let mut slot = self.peers.entry(network(ip)).or_default();
        slot.upgrade().unwrap_or_else(|| {
            let peer =
                Arc::new(Peer { reserved: ReservedBytes::default(), is_proxy: self.proxies.contains(ip) });
            *slot = Arc::downgrade(&peer);
            peer
        })
    }

    fn set_clock(&self, now: Duration) {
        let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        self.shared.now.store(millis, Ordering::Relaxed);
    }

    /// Removes connections that are not in use and for which `exists` is false.
    fn retain(&self, exists: impl Fn(&SocketAddr, &Connection) -> bool) {
        self.known
            .retain(|address, connection| Arc::strong_count(connection) > 1 || exists(address, connection));
        self.peers.retain(|_, peer| peer.strong_count() > 0);
        // A burst of connections must not keep its memory.
        if self.known.capacity() > 4 * self.known.len() {
            self.known.shrink_to_fit();
            self.peers.shrink_to_fit();
        }
    }

    /// How long the connection from `address` has been idle or stalled; `None` if it never sent a request.
    fn stalled_for(&self, address: &SocketAddr) -> Option<Duration> {
        self.known.get(address).map(|connection| connection.stalled_for())
    }
}

impl Connection {
    /// Counts a request as in flight until the guard is dropped.
    pub(crate) fn begin_request(self: &Arc<Self>) -> RequestUnderWay {
        self.activity().request_begun();
        RequestUnderWay(Arc::clone(self))
    }

    /// An empty reservation for a request body, which grows as it is received.
    pub(crate) fn receive_body(self: &Arc<Self>) -> Reservation {
        Reservation::new(Arc::clone(self), MemoryUse::RequestBody)
    }

    /// Whether the unread responses leave memory for another one.
    pub(crate) fn can_send_response(&self) -> bool {
        let response = MemoryUse::Response as usize;
        let reserved = self.reserved[response].load(Ordering::Relaxed);
        reserved < self.shared.budgets[response].limit.of_connection
    }

    /// The bytes of a response, counted until they are sent.
    pub(crate) fn send(self: &Arc<Self>, bytes: Vec<u8>) -> Result<Bytes, BudgetExceeded> {
        let mut activity = self.activity();
        if activity.unreserved + bytes.len() <= MAX_UNRESERVED {
            activity.response_begun(bytes.len(), self.shared.now());
            drop(activity);
            return Ok(self.counted(bytes, None));
        }
        drop(activity);
        let mut reservation = Reservation::new(Arc::clone(self), MemoryUse::Response);
        reservation.grow(bytes.len())?;
        self.activity().response_begun(0, self.shared.now());
        Ok(self.counted(bytes, Some(reservation)))
    }

    /// The same for the few bytes of a rejection, to which no limit applies.
    pub(crate) fn send_rejection(self: &Arc<Self>, bytes: Vec<u8>) -> Bytes {
        self.activity().response_begun(bytes.len(), self.shared.now());
        self.counted(bytes, None)
    }

    fn counted(self: &Arc<Self>, bytes: Vec<u8>, reservation: Option<Reservation>) -> Bytes {
        Bytes::from_owner(ResponseUnderWay { bytes, connection: Arc::clone(self), reservation })
    }

    fn stalled_for(&self) -> Duration {
        self.activity().stalled_for(self.shared.now())
    }

    fn activity(&self) -> std::sync::MutexGuard<'_, Activity> {
        // A panic while the lock is held leaves the numbers consistent.
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedState {
    fn now(&self) -> Duration {
        Duration::from_millis(self.now.load(Ordering::Relaxed))
    }
}

/// A request that has no response yet.
#[derive(Debug)]
pub(crate) struct RequestUnderWay(Arc<Connection>);

impl Drop for RequestUnderWay {
    fn drop(&mut self) {
        let now = self.0.shared.now();
        self.0.activity().request_ended(now);
    }
}

/// The bytes of a response. hyper drops them when they are sent, or when their connection or stream ends.
struct ResponseUnderWay {
    bytes: Vec<u8>,
    connection: Arc<Connection>,
    reservation: Option<Reservation>,
}

impl AsRef<[u8]> for ResponseUnderWay {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for ResponseUnderWay {
    fn drop(&mut self) {
        let now = self.connection.shared.now();
        let unreserved = if self.reservation.is_some() { 0 } else { self.bytes.len() };
        self.connection.activity().response_sent(unreserved, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1 << 10;
    const LIMIT: Limit = Limit { total: 3200 * KIB, of_connection: 100 * KIB };

    fn connections() -> Connections {
        Connections::new(LIMIT, LIMIT, ["10.0.0.0/8".parse().unwrap()].into_iter().collect())
    }

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_response_counts_until_its_last_copy_is_dropped() {
        let connections = connections();
        let connection = connections.connection(at("192.0.2.1:1"));
        let sent = connection.send(vec![7; 100 * KIB]).unwrap();
        let part = sent.slice(10..20);
        drop(sent);
        assert!(!connection.can_send_response());
        assert_eq!(connection.send(vec![7; 20 * KIB]), Err(BudgetExceeded), "one connection has its share");
        drop(part);
        assert!(connection.can_send_response());
        assert!(connection.send(vec![7; KIB]).is_ok());
    }

    #[test]
    fn one_response_of_any_size_fits_where_nothing_else_waits() {
        let connections = connections();
        let connection = connections.connection(at("192.0.2.1:1"));
        let large = connection.send(vec![7; 3200 * KIB]).unwrap();
        assert_eq!(
            connections.connection(at("192.0.2.2:1")).send(vec![7; 20 * KIB]),
            Err(BudgetExceeded),
            "the budget is used up"
        );
        drop(large);
        assert!(connection.send(vec![7; 9999 * KIB]).is_ok(), "larger than the budget, but alone");
    }

    #[test]
    fn one_address_may_take_half_of_what_is_left_and_a_proxy_all() {
        let connections = connections();
        let held = |ip: &str| {
            let responses = (1..=40).map(|port| {
                let connection = connections.connection(at(&format!("{ip}:{port}")));
                connection.send(vec![7; 100 * KIB])
            });
            responses.filter_map(Result::ok).collect::<Vec<_>>()
        };
        let first = held("192.0.2.1");
        assert_eq!(first.len(), 16);
        let second = held("192.0.2.2");
        assert_eq!(second.len(), 8, "half of what the first one left");
        assert_eq!(held("10.0.0.1").len(), 8, "all that is left");
        drop((first, second));
        assert_eq!(held("10.0.0.1").len(), 32);
    }

    #[test]
    fn connections_that_ended_are_removed_and_busy_ones_are_not() {
        let connections = connections();
        let (busy, idle) = (at("192.0.2.1:1"), at("192.0.2.1:2"));
        let request = connections.connection(busy).begin_request();
        drop(connections.connection(idle).begin_request());
        assert!(connections.stalled_for(&idle).is_some());
        connections.retain(|_, _| false);
        assert!(connections.stalled_for(&busy).is_some() && connections.stalled_for(&idle).is_none());
        drop(request);
        connections.retain(|_, _| false);
        assert!(connections.stalled_for(&busy).is_none());
        assert!(connections.peers.is_empty());
    }
}
