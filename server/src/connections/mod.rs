//! What each connection holds, and for how long. Dropshot owns the sockets and gives them no deadline before the first
//! request, between two requests over HTTP/2, or while a response is not read; it does not bound the responses that wait
//! to be read either. So requests and responses are counted here by connection, and [`StallMonitor`] closes the connections on
//! which nothing has moved for too long.

mod activity;
mod budget;
mod sockets;
mod stall_monitor;

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError, RwLock, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;

use self::activity::Activity;
pub(crate) use self::{
    budget::{Budget, BudgetExceeded, Reservation},
    stall_monitor::StallMonitor,
};
use crate::proxies::{TrustedProxies, network};

/// The connections of one server that have made a request.
#[derive(Debug)]
pub(crate) struct Connections {
    shared: Arc<SharedState>,
    /// In parts, so that two threads seldom wait for one another.
    known: [RwLock<Known>; PARTS],
    peers: Mutex<HashMap<IpAddr, Weak<Peer>>>,
    proxies: TrustedProxies,
}

type Known = HashMap<SocketAddr, Arc<Connection>>;

const PARTS: usize = 64;

/// What all connections share.
#[derive(Debug)]
struct SharedState {
    /// When the monitor looks at the connections next, in milliseconds since the start. Deadlines need no finer clock, and
    /// reading one costs more than the rest of the counting.
    now: AtomicU64,
    bodies: Budget,
    responses: Budget,
}

/// One connection, from its first request on.
#[derive(Debug)]
pub(crate) struct Connection {
    shared: Arc<SharedState>,
    peer: Arc<Peer>,
    activity: Mutex<Activity>,
    held: BytesInUse,
}

/// All connections from one address.
#[derive(Debug)]
struct Peer {
    held: BytesInUse,
    /// A declared proxy speaks for many callers, so it has no share of its own.
    is_proxy: bool,
}

/// Bytes that request bodies and responses take.
#[derive(Debug, Default)]
struct BytesInUse {
    bodies: AtomicUsize,
    responses: AtomicUsize,
}

/// What the memory of a connection is used for.
#[derive(Clone, Copy, Debug)]
enum MemoryUse {
    /// A request body that is being received.
    RequestBody,
    /// A response that is being sent.
    Response,
}

/// What bounds the bytes that connections hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Request bodies that are being received.
    pub(crate) bodies: Limit,
    /// Responses that are being sent.
    pub(crate) responses: Limit,
}

/// A maximum number of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Of all connections.
    pub(crate) total: usize,
    /// Of one connection, which may also hold a single body or response of any size.
    pub(crate) of_connection: usize,
}

/// So many bytes of responses a connection may have under way before they count for the shared budget. Most responses
/// are smaller, and counting them there is what two threads would wait for each other for.
const UNRESERVED: usize = 16 << 10;

impl Connections {
    pub(crate) fn new(limits: Limits, proxies: TrustedProxies) -> Self {
        let budget = |limit: Limit| Budget::new(limit.total, limit.of_connection);
        let shared = SharedState {
            now: AtomicU64::new(0),
            bodies: budget(limits.bodies),
            responses: budget(limits.responses),
        };
        let known = std::array::from_fn(|_| RwLock::default());
        Self { shared: Arc::new(shared), known, peers: Mutex::default(), proxies }
    }

    /// The connection from `address`.
    pub(crate) fn connection(&self, address: SocketAddr) -> Arc<Connection> {
        let part = self.part(&address);
        // Maps of shared values are whole, whatever panicked while they were locked.
        let known = part.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = known.get(&address) {
            return Arc::clone(connection);
        }
        drop(known);
        let peer = self.peer(address.ip());
        let mut known = part.write().unwrap_or_else(PoisonError::into_inner);
        let connection = known.entry(address).or_insert_with(|| {
            let activity = Mutex::new(Activity::new(self.shared.now()));
            let shared = Arc::clone(&self.shared);
            Arc::new(Connection { shared, peer, activity, held: BytesInUse::default() })
        });
        Arc::clone(connection)
    }

    fn part(&self, address: &SocketAddr) -> &RwLock<Known> {
        &self.known[usize::from(address.port()) % PARTS]
    }

    fn peer(&self, ip: IpAddr) -> Arc<Peer> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = peers.entry(network(ip)).or_default();
        slot.upgrade().unwrap_or_else(|| {
            let peer = Arc::new(Peer { held: BytesInUse::default(), is_proxy: self.proxies.contains(ip) });
            *slot = Arc::downgrade(&peer);
            peer
        })
    }

    /// Sets the clock of all connections.
    fn set_clock(&self, now: Duration) {
        self.shared.now.store(millis(now), Ordering::Relaxed);
    }

    /// Forgets connections that have nothing under way and do not exist any more.
    fn forget_all_but(&self, exists: impl Fn(&SocketAddr, &Connection) -> bool) {
        for part in &self.known {
            let mut known = part.write().unwrap_or_else(PoisonError::into_inner);
            known.retain(|address, connection| {
                Arc::strong_count(connection) > 1 || exists(address, connection)
            });
            let spare = 2 * known.len();
            known.shrink_to(spare);
        }
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|_, peer| peer.strong_count() > 0);
        let spare = 2 * peers.len();
        peers.shrink_to(spare);
    }

    /// For how long nothing has moved on the connection from `address`; `None` if it never made a request.
    fn stalled_for(&self, address: &SocketAddr) -> Option<Duration> {
        let known = self.part(address).read().unwrap_or_else(PoisonError::into_inner);
        known.get(address).map(|connection| connection.stalled_for())
    }
}

impl Connection {
    /// A request is under way until the guard is dropped.
    pub(crate) fn begin_request(self: &Arc<Self>) -> RequestUnderWay {
        self.activity().request_begun();
        RequestUnderWay(Arc::clone(self))
    }

    /// An empty reservation for a request body, which grows as it is received.
    pub(crate) fn receive_body(self: &Arc<Self>) -> Reservation {
        Reservation::new(Arc::clone(self), MemoryUse::RequestBody)
    }

    /// Whether the responses that wait to be read leave memory for another one.
    pub(crate) fn can_send_response(&self) -> bool {
        let held = self.held.counter(MemoryUse::Response).load(Ordering::Relaxed);
        held < self.shared.responses.connection_share()
    }

    /// The bytes of a response, counted until they are sent.
    ///
    /// # Errors
    /// The responses that wait to be read take too much memory.
    pub(crate) fn send(self: &Arc<Self>, bytes: Vec<u8>) -> Result<Bytes, BudgetExceeded> {
        let mut activity = self.activity();
        if activity.unreserved() + bytes.len() <= UNRESERVED {
            activity.response_made(bytes.len(), self.shared.now());
            drop(activity);
            return Ok(self.counted(bytes, None));
        }
        drop(activity);
        let mut reservation = Reservation::new(Arc::clone(self), MemoryUse::Response);
        reservation.grow(bytes.len())?;
        self.activity().response_made(0, self.shared.now());
        Ok(self.counted(bytes, Some(reservation)))
    }

    /// The same for the few bytes of a rejection, which no limit applies to.
    pub(crate) fn send_rejection(self: &Arc<Self>, bytes: Vec<u8>) -> Bytes {
        self.activity().response_made(bytes.len(), self.shared.now());
        self.counted(bytes, None)
    }

    fn counted(self: &Arc<Self>, bytes: Vec<u8>, reservation: Option<Reservation>) -> Bytes {
        Bytes::from_owner(ResponseUnderWay { bytes, connection: Arc::clone(self), reservation })
    }

    fn stalled_for(&self) -> Duration {
        self.activity().stalled_for(self.shared.now())
    }

    fn activity(&self) -> std::sync::MutexGuard<'_, Activity> {
        // Numbers are whole, whatever panicked while they were locked.
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedState {
    fn now(&self) -> Duration {
        Duration::from_millis(self.now.load(Ordering::Relaxed))
    }

    fn budget(&self, usage: MemoryUse) -> &Budget {
        match usage {
            MemoryUse::RequestBody => &self.bodies,
            MemoryUse::Response => &self.responses,
        }
    }
}

impl BytesInUse {
    fn counter(&self, usage: MemoryUse) -> &AtomicUsize {
        match usage {
            MemoryUse::RequestBody => &self.bodies,
            MemoryUse::Response => &self.responses,
        }
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

/// The bytes of a response. HTTP drops them when they are sent, or when their connection or stream ends.
struct ResponseUnderWay {
    bytes: Vec<u8>,
    connection: Arc<Connection>,
    /// None for bytes that no budget knows of.
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

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1 << 10;
    const LIMIT: Limit = Limit { total: 3200 * KIB, of_connection: 100 * KIB };
    const LIMITS: Limits = Limits { bodies: LIMIT, responses: LIMIT };

    fn connections() -> Connections {
        Connections::new(LIMITS, ["10.0.0.0/8".parse().unwrap()].into_iter().collect())
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
            "nothing is left"
        );
        drop(large);
        assert!(connection.send(vec![7; 9999 * KIB]).is_ok(), "larger than all that there is, and alone");
    }

    #[test]
    fn one_address_leaves_half_to_the_others_and_a_proxy_need_not() {
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
    fn connections_that_ended_are_forgotten_and_busy_ones_are_not() {
        let connections = connections();
        let (busy, idle) = (at("192.0.2.1:1"), at("192.0.2.1:2"));
        let request = connections.connection(busy).begin_request();
        drop(connections.connection(idle).begin_request());
        assert!(connections.stalled_for(&idle).is_some());
        connections.forget_all_but(|_, _| false);
        assert!(connections.stalled_for(&busy).is_some() && connections.stalled_for(&idle).is_none());
        drop(request);
        connections.forget_all_but(|_, _| false);
        assert!(connections.stalled_for(&busy).is_none());
        assert!(connections.peers.lock().unwrap().is_empty());
    }
}
