//! The counts of one server and their text.

use std::{
    fmt,
    sync::atomic::AtomicI64,
    time::{Duration, Instant},
};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use super::{LEFT, outcome, supply::GatewaySupply};
use crate::{
    edge::responding::error_code::ErrorCode,
    store::{Pool, Upkeep},
};

/// Upper bounds of the histograms, in seconds.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// The counts of one server.
pub(crate) struct Metrics {
    registry: Registry,
    operations: Vec<OperationMetrics>,
    calls: Family<Outcome, Counter>,
    in_flight: Gauge<i64, AtomicI64>,
    /// Open connections, counted in each round of the stall monitor.
    connections: Gauge<i64, AtomicI64>,
    /// Connections that were closed because they were idle or stalled.
    connections_timed_out: Counter,
    /// One for each of [`Query::ALL`], in their order.
    queries: [QueryMetrics; Query::ALL.len()],
    cached: Counter,
    pool: PoolGauges,
    supplies: GatewaySupply,
}

/// What is counted with every call of an operation, cached to save the lookup by labels.
struct OperationMetrics {
    operation: &'static str,
    successes: Counter,
    seconds: Histogram,
}

/// What is counted of a query to the repository.
struct QueryMetrics {
    seconds: Histogram,
    failures: Counter,
}

#[derive(Default)]
struct PoolGauges {
    connections: Gauge,
    busy: Gauge,
    waiting: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    operation: &'static str,
    /// As [`outcome`] says, or [`LEFT`].
    outcome: &'static str,
    status: u16,
    /// Business code of an error, else 0.
    code: i64,
}

impl Outcome {
    fn success(operation: &'static str, status: u16) -> Self {
        Self { operation, outcome: outcome(None), status, code: 0 }
    }

    fn rejected(operation: &'static str, code: ErrorCode) -> Self {
        let status = code.status().as_u16();
        Self { operation, outcome: outcome(Some(code)), status, code: code.number() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabel {
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueryLabel {
    query: &'static str,
}

/// A query to the repository while a caller waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Query {
    Extraction,
    Remember,
    Groups,
    Search,
    Credential,
}

impl Query {
    const ALL: [Self; 5] = [Self::Extraction, Self::Remember, Self::Groups, Self::Search, Self::Credential];

    const fn name(self) -> &'static str {
        match self {
            Self::Extraction => "extraction",
            Self::Remember => "remember",
            Self::Groups => "groups",
            Self::Search => "search",
            Self::Credential => "credential",
        }
    }
}

impl Metrics {
    /// Counts of these operations, by their `operationId`, each with the status of its success. No others are counted.
    pub(crate) fn new(operations: &[&'static str], statuses: &[u16]) -> Self {
        let histograms = || Histogram::new(BOUNDS);
        let calls = Family::<Outcome, Counter>::default();
        let call_seconds = Histograms::new_with_constructor(histograms);
        let operation_metrics = |(&operation, &status): (&&'static str, &u16)| OperationMetrics {
            operation,
            successes: calls.get_or_create_owned(&Outcome::success(operation, status)),
            seconds: call_seconds.get_or_create_owned(&OperationLabel { operation }),
        };
        let operations = operations.iter().zip(statuses).map(operation_metrics).collect();
        let store_seconds = Histograms::new_with_constructor(histograms);
        let store_failures = Family::<QueryLabel, Counter>::default();
        let queries = Query::ALL.map(|query| {
            let label = QueryLabel { query: query.name() };
            QueryMetrics {
                seconds: store_seconds.get_or_create_owned(&label),
                failures: store_failures.get_or_create_owned(&label),
            }
        });
        let (in_flight, cached) = (Gauge::default(), Counter::default());
        let (connections, connections_timed_out) = (Gauge::default(), Counter::default());
        let (pool, supplies) = (PoolGauges::default(), GatewaySupply::default());

        let mut registry = Registry::with_prefix("sallyport");
        registry.register("calls", "Calls by operation, outcome, status and business code", calls.clone());
        let help = "From the request's head to its response";
        registry.register_with_unit("call_duration", help, Unit::Seconds, call_seconds);
        registry.register("calls_in_flight", "Calls without a response", in_flight.clone());
        let help = "Open connections to both addresses, as of at most a second ago";
        registry.register("connections", help, connections.clone());
        let help = "Connections that were closed because they were idle or stalled";
        registry.register("connections_timed_out", help, connections_timed_out.clone());
        let help = "Time that queries to the database take, by query";
        registry.register_with_unit("store_duration", help, Unit::Seconds, store_seconds);
        registry.register("store_failures", "Queries to the database that failed", store_failures);
        let help = "Extractions served from the cache, without a query to the database";
        registry.register("store_cache_hits", help, cached.clone());
        registry.register(
            "pool_connections",
            "Maximum number of connections to the database",
            pool.connections.clone(),
        );
        registry.register("pool_busy", "Connections to the database in use", pool.busy.clone());
        registry.register("pool_waiting", "Queries that wait for a connection", pool.waiting.clone());
        registry.register(
            "gateways",
            "Gateways by protocol and region, at most 15 s old; region * is the sum of the regions that are not listed",
            supplies.gateways(),
        );
        Self {
            registry,
            operations,
            calls,
            in_flight,
            connections,
            connections_timed_out,
            queries,
            cached,
            pool,
            supplies,
        }
    }

    /// All metrics in the text format of OpenMetrics, which Prometheus reads, with the figures of `store`.
    ///
    /// # Errors
    /// None in practice: writing to a `String` does not fail.
    pub(crate) async fn render(&self, store: &dyn Upkeep) -> Result<String, fmt::Error> {
        let Pool { connections, busy, waiting } = store.pool();
        let tell = |gauge: &Gauge, number: usize| gauge.set(i64::try_from(number).unwrap_or(i64::MAX));
        tell(&self.pool.connections, connections);
        tell(&self.pool.busy, busy);
        tell(&self.pool.waiting, waiting);
        self.supplies.refresh(store).await;
        self.text()
    }

    fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// A call of one of the operations has begun.
    pub(crate) fn begin(&self, operation: &'static str) -> CallInFlight<'_> {
        self.in_flight.inc();
        let counts = self.operations.iter().find(|it| it.operation == operation);
        CallInFlight { metrics: self, counts, started: Instant::now(), finished: None }
    }

    /// Sets the number of open connections.
    pub(crate) fn connections_open(&self, count: usize) {
        self.connections.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Counts a connection that was closed because it was idle or stalled.
    pub(crate) fn connection_timed_out(&self) {
        self.connections_timed_out.inc();
    }

    /// Counts an extraction that was served from the cache.
    pub(super) fn count_cache_hit(&self) {
        self.cached.inc();
    }

    /// A query to the repository has returned.
    pub(super) fn queried(&self, query: Query, begun: Instant, failed: bool) {
        let QueryMetrics { seconds, failures } = &self.queries[query as usize];
        seconds.observe(begun.elapsed().as_secs_f64());
        if failed {
            failures.inc();
        }
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// A call without a response. If it is dropped before it has one, the caller has disconnected.
pub(crate) struct CallInFlight<'a> {
    metrics: &'a Metrics,
    counts: Option<&'a OperationMetrics>,
    started: Instant,
    /// The error code of the response, if it is one, and the time that it took.
    finished: Option<(Option<ErrorCode>, Duration)>,
}

impl CallInFlight<'_> {
    /// The response is ready. Returns the time that it took.
    pub(crate) fn finish(&mut self, code: Option<ErrorCode>) -> Duration {
        let after = self.started.elapsed();
        self.finished = Some((code, after));
        after
    }

    /// When it started.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }
}

impl Drop for CallInFlight<'_> {
    fn drop(&mut self) {
        self.metrics.in_flight.dec();
        let Some(OperationMetrics { operation, successes, seconds }) = self.counts else { return };
        let (outcome, after) = match self.finished {
            None => (Outcome { operation, outcome: LEFT, status: 0, code: 0 }, self.started.elapsed()),
            Some((None, after)) => {
                successes.inc();
                return seconds.observe(after.as_secs_f64());
            }
            Some((Some(code), after)) => (Outcome::rejected(operation, code), after),
        };
        self.metrics.calls.get_or_create(&outcome).inc();
        seconds.observe(after.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_outcome() {
        let metrics = Metrics::new(&["a", "b"], &[200, 204]);
        let mut call = metrics.begin("a");
        assert!(metrics.text().unwrap().contains("sallyport_calls_in_flight 1\n"));
        call.finish(Some(ErrorCode::Throttled));
        drop(call);
        drop(metrics.begin("a"));
        metrics.begin("b").finish(None);
        let text = metrics.text().unwrap();
        for line in [
            "sallyport_calls_in_flight 0",
            "sallyport_calls_total{operation=\"a\",outcome=\"throttled\",status=\"429\",code=\"42900\"} 1",
            "sallyport_calls_total{operation=\"a\",outcome=\"left\",status=\"0\",code=\"0\"} 1",
            "sallyport_calls_total{operation=\"a\",outcome=\"success\",status=\"200\",code=\"0\"} 0",
            "sallyport_calls_total{operation=\"b\",outcome=\"success\",status=\"204\",code=\"0\"} 1",
            "sallyport_call_duration_seconds_count{operation=\"a\"} 2",
        ] {
            assert!(text.lines().any(|it| it == line), "no {line} in\n{text}");
        }
    }
}
