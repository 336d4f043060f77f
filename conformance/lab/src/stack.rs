use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::context::{Backend, Context};
use super::exchange::{ProxiedRequest, Reply};
use super::journal::{Journal, JournaledServer, Layer};
use super::rows::row::{Row, variations};
use super::scenario::{ScenarioServer, Scenarios};
use super::upstream::{Handler, Upstream};

/// Faults, variations and scenarios, one in front of the other.
///
/// The layer that is added last is the nearest to the caller. What they change stands in the journal.
#[must_use]
#[derive(Debug)]
pub struct Lab {
    backend: Arc<Backend>,
    upstream: Upstream,
    journal: Arc<Journal>,
}

impl Lab {
    /// A lab in front of a backend that changes nothing yet.
    pub fn new(backend: Arc<Backend>) -> Self {
        Self { upstream: backend.upstream.clone(), backend, journal: Arc::default() }
    }

    /// Has this fault, or decides unspecified behaviour as this variation.
    pub fn row(self, row: &'static Row) -> Self {
        let layer = row.layer(&self.upstream, &self.backend);
        Self { upstream: Upstream::new(layer), ..self }
    }

    /// Chooses a variation of its operation at random for each request. The same seed chooses the same ones, in the order in which requests
    /// arrive. Variations that a server has to keep up for all of its responses are left out.
    pub fn pedantic(self, seed: u64) -> Self {
        let legal = variations().iter().filter(|one| !one.is_consistent() && !one.has_capitals());
        let layers = legal.map(|one| (one, one.layer(&self.upstream, &self.backend))).collect();
        let context = Context::before(self.upstream.clone(), &self.backend);
        let server = PedanticServer { layers, seed, count: AtomicU64::new(0), context };
        Self { upstream: Upstream::new(server), ..self }
    }

    /// Plays scenarios.
    pub fn scenarios(self, scenarios: &Arc<Scenarios>) -> Self {
        let context = Context::before(self.upstream.clone(), &self.backend);
        let server = ScenarioServer { scenarios: Arc::clone(scenarios), context };
        Self { upstream: Upstream::new(server), ..self }
    }

    /// Writes what is changed to this journal.
    pub fn journal(self, journal: &Arc<Journal>) -> Self {
        Self { journal: Arc::clone(journal), ..self }
    }

    /// All of it, for a [`Proxy`](super::Proxy).
    pub fn into_upstream(self) -> Upstream {
        let Self { backend, upstream, journal } = self;
        Upstream::new(JournaledServer { journal, upstream, backend })
    }
}

struct PedanticServer {
    layers: Vec<(&'static Row, Layer)>,
    seed: u64,
    count: AtomicU64,
    context: Context,
}

impl Handler for PedanticServer {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        // The choice follows from the number alone, whatever other requests do meanwhile.
        let mut random = fastrand::Rng::with_seed(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let fitting = self.context.operation(&request).map(|operation| {
            let fits = |(variation, _): &&(&Row, Layer)| variation.concerns(Some(operation));
            self.layers.iter().filter(fits).collect::<Vec<_>>()
        });
        match random.choice(fitting.unwrap_or_default()) {
            Some((_, layer)) => layer.handle(request).await,
            None => self.context.upstream.call(&request).await,
        }
    }
}
