//! Closes connections that are idle or stalled for too long.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinHandle;

use super::{Connections, sockets, sockets::Sockets};
use crate::metrics::Metrics;

/// Interval at which the connections are checked.
const INTERVAL: Duration = Duration::from_secs(1);

/// With very many connections a round takes long. The pause after it is this many times as long, up to a maximum, so that a
/// busy machine does not delay timeouts without bound.
const PAUSE_FACTOR: u32 = 100;
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// The task that checks the connections of a server. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct StallMonitor(JoinHandle<()>);

impl StallMonitor {
    /// Monitors the connections to these local ports. A connection is closed when for longer than `timeout` it has no request in
    /// flight, or has unread responses and reads none of them to its end.
    pub(crate) fn start(
        connections: Arc<Connections>,
        ports: Vec<u16>,
        timeout: Duration,
        metrics: Arc<Metrics>,
    ) -> Self {
        let sockets = Sockets::new();
        let mut rounds = Rounds { connections, sockets, ports, timeout, metrics, first_seen: HashMap::new() };
        let started = Instant::now();
        rounds.connections.set_clock(INTERVAL);
        Self(tokio::spawn(async move {
            let mut warned = false;
            let mut pause = INTERVAL;
            loop {
                tokio::time::sleep(pause).await;
                // A round makes system calls for each connection, which would block a thread that serves requests.
                let round = tokio::task::spawn_blocking(move || {
                    let now = started.elapsed();
                    let failed = rounds.check(now).err();
                    (rounds, failed, started.elapsed() - now)
                });
                // It fails when the runtime shuts down.
                let Ok((returned, failed, elapsed)) = round.await else { return };
                rounds = returned;
                if let Some(error) = failed.filter(|_| !warned) {
                    warned = true;
                    tracing::warn!(%error, "cannot enforce connection timeouts: the process cannot list its sockets");
                }
                pause = (elapsed * PAUSE_FACTOR).clamp(INTERVAL, MAX_PAUSE);
                // Events until the next round get its time, so that nothing is closed too early.
                rounds.connections.set_clock(started.elapsed() + pause);
            }
        }))
    }
}

impl Drop for StallMonitor {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Rounds {
    connections: Arc<Connections>,
    sockets: io::Result<Sockets>,
    ports: Vec<u16>,
    timeout: Duration,
    metrics: Arc<Metrics>,
    /// When a round first found each open connection.
    first_seen: HashMap<SocketAddr, Duration>,
}

impl Rounds {
    fn check(&mut self, now: Duration) -> io::Result<()> {
        let open = match &mut self.sockets {
            Ok(sockets) => sockets.open(&self.ports),
            Err(error) => Err(error.kind().into()),
        };
        let open = match open {
            Ok(open) => open,
            Err(error) => {
                let timeout = self.timeout;
                self.connections.retain(|_, connection| connection.stalled_for() <= timeout);
                return Err(error);
            }
        };
        self.metrics.connections_open(open.len());
        let seen_before = std::mem::take(&mut self.first_seen);
        for (number, address) in open {
            let first_seen = seen_before.get(&address).copied().unwrap_or(now);
            self.first_seen.insert(address, first_seen);
            // An older connection may have had the same address, so no time before this connection counts.
            let age = now.saturating_sub(first_seen);
            let stalled_for = self.connections.stalled_for(&address).map_or(age, |stalled| stalled.min(age));
            if stalled_for > self.timeout {
                sockets::close(number, address);
                // It may take a moment until the task that serves it ends; until then it counts as a new connection.
                self.first_seen.remove(&address);
                self.metrics.connection_timed_out();
                tracing::debug!(peer = %address, "connection closed: idle or stalled for {stalled_for:?}");
            }
        }
        self.connections.retain(|address, _| self.first_seen.contains_key(address));
        Ok(())
    }
}
