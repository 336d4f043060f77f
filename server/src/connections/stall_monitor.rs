//! Closes connections on which nothing has moved for too long.

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

/// How often the connections are looked at.
const ROUND: Duration = Duration::from_secs(1);

/// With very many connections a round takes long. The pause after it is so many times as long, within bounds: a machine
/// that is busy with other things must not put the deadlines off.
const REST: u32 = 100;
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The task that looks at the connections of a server. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct StallMonitor(JoinHandle<()>);

impl StallMonitor {
    /// Monitors the connections to these local ports: each is closed when for longer than `timeout` it had no
    /// request under way, or had responses under way and read none of them to its end.
    pub(crate) fn start(
        connections: Arc<Connections>,
        ports: Vec<u16>,
        timeout: Duration,
        metrics: Arc<Metrics>,
    ) -> Self {
        let sockets = Sockets::new();
        let mut rounds = Rounds { connections, sockets, ports, timeout, metrics, first_seen: HashMap::new() };
        let begun = Instant::now();
        rounds.connections.set_clock(ROUND);
        Self(tokio::spawn(async move {
            let mut warned = false;
            let mut pause = ROUND;
            loop {
                tokio::time::sleep(pause).await;
                // It calls the system for each connection, which is not for a thread that serves.
                let round = tokio::task::spawn_blocking(move || {
                    let now = begun.elapsed();
                    let failed = rounds.look(now).err();
                    (rounds, failed, begun.elapsed() - now)
                });
                // It fails when the runtime ends.
                let Ok((returned, failed, took)) = round.await else { return };
                rounds = returned;
                if let Some(error) = failed.filter(|_| !warned) {
                    warned = true;
                    tracing::warn!(%error, "cannot enforce connection timeouts: the process cannot list its sockets");
                }
                pause = (took * REST).clamp(ROUND, LONGEST_PAUSE);
                // What happens until the next round counts as of then, so that nothing is closed too early.
                rounds.connections.set_clock(begun.elapsed() + pause);
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
    fn look(&mut self, now: Duration) -> io::Result<()> {
        let open = match &mut self.sockets {
            Ok(sockets) => sockets.open(&self.ports),
            Err(error) => Err(error.kind().into()),
        };
        let open = match open {
            Ok(open) => open,
            Err(error) => {
                let timeout = self.timeout;
                self.connections.forget_all_but(|_, connection| connection.stalled_for() <= timeout);
                return Err(error);
            }
        };
        self.metrics.connections_open(open.len());
        let seen_before = std::mem::take(&mut self.first_seen);
        for (number, address) in open {
            let first_seen = seen_before.get(&address).copied().unwrap_or(now);
            self.first_seen.insert(address, first_seen);
            // An older connection may have had the same address; nothing older than this one counts.
            let age = now.saturating_sub(first_seen);
            let stalled_for = self.connections.stalled_for(&address).map_or(age, |stalled| stalled.min(age));
            if stalled_for > self.timeout {
                sockets::close(number, address);
                // The task that serves it has to notice; until then it counts as a new one.
                self.first_seen.remove(&address);
                self.metrics.connection_timed_out();
                tracing::debug!(peer = %address, "connection closed: idle or stalled for {stalled_for:?}");
            }
        }
        self.connections.forget_all_but(|address, _| self.first_seen.contains_key(address));
        Ok(())
    }
}
