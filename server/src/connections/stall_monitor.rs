//! Closes connections that are idle or stalled for too long.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    Connections,
    sockets::{Identity, Sockets},
};

/// Interval at which the connections are checked.
const INTERVAL: Duration = Duration::from_secs(1);

/// With very many connections a round takes long. The pause after it is this many times as long, up to a maximum, so that a
/// busy machine does not delay timeouts without bound.
const PAUSE_FACTOR: u32 = 100;
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Monitors the connections to these local ports. A connection is closed when for longer than `timeout` it has no request in
/// flight, or has unread responses and reads none of them to its end. `report` gets the numbers of open and of closed connections.
pub(crate) fn monitor(
    connections: Arc<Connections>,
    ports: Vec<u16>,
    timeout: Duration,
    report: impl Fn(usize, usize) + Send + 'static,
) -> impl Future<Output = ()> + Send {
    let sockets = Sockets::new();
    let mut rounds = Rounds { connections, sockets, ports, timeout, first_seen: HashMap::new() };
    let started = Instant::now();
    rounds.connections.set_clock(INTERVAL);
    async move {
        let mut warned = false;
        let mut pause = INTERVAL;
        loop {
            tokio::time::sleep(pause).await;
            // A round makes system calls for each connection, which would block a thread that serves requests.
            let round = tokio::task::spawn_blocking(move || {
                let now = started.elapsed();
                let checked = rounds.check(now);
                (rounds, checked, started.elapsed() - now)
            });
            // It fails when the runtime shuts down.
            let Ok((returned, checked, elapsed)) = round.await else { return };
            rounds = returned;
            match checked {
                Ok((open, closed)) => report(open, closed),
                Err(error) if !warned => {
                    warned = true;
                    tracing::warn!(%error, "cannot enforce connection timeouts: the process cannot list its sockets");
                }
                Err(_) => {}
            }
            pause = (elapsed * PAUSE_FACTOR).clamp(INTERVAL, MAX_PAUSE);
            // Events until the next round get its time, so that nothing is closed too early.
            rounds.connections.set_clock(started.elapsed() + pause);
        }
    }
}

struct Rounds {
    connections: Arc<Connections>,
    sockets: io::Result<Sockets>,
    ports: Vec<u16>,
    timeout: Duration,
    /// The open connection of each peer, and when a round first found it.
    first_seen: HashMap<SocketAddr, (Identity, Duration)>,
}

impl Rounds {
    /// Closes the connections that are stalled. Returns the numbers of open and of closed connections.
    fn check(&mut self, now: Duration) -> io::Result<(usize, usize)> {
        let sockets = self.sockets.as_mut().map_err(|error| error.kind().into());
        let listed = sockets.and_then(|sockets| Ok((sockets.open(&self.ports)?, sockets)));
        let (open, sockets) = match listed {
            Ok(listed) => listed,
            Err(error) => {
                let timeout = self.timeout;
                self.connections.retain(|_, connection| connection.stalled_for() <= timeout);
                return Err(error);
            }
        };
        let (count, mut closed) = (open.len(), 0);
        let seen_before = std::mem::take(&mut self.first_seen);
        for (number, identity) in open {
            let seen = seen_before.get(&identity.peer).filter(|(seen, _)| *seen == identity);
            let first_seen = seen.map_or(now, |(_, first_seen)| *first_seen);
            // An older connection may have had the same address, so no time before this connection counts.
            let age = now.saturating_sub(first_seen);
            let stalled_for =
                self.connections.stalled_for(&identity.peer).map_or(age, |stalled| stalled.min(age));
            // It may take a moment until the task that serves a closed connection ends; until then it counts as a new one. One
            // that ended by itself, or could not be closed for want of a descriptor, is looked at in the next round.
            if stalled_for > self.timeout && sockets.close(number, identity).unwrap_or(false) {
                closed += 1;
                tracing::debug!(peer = %identity.peer, "connection closed: idle or stalled for {stalled_for:?}");
                continue;
            }
            self.first_seen.insert(identity.peer, (identity, first_seen));
        }
        self.connections.retain(|address, _| self.first_seen.contains_key(address));
        Ok((count, closed))
    }
}
