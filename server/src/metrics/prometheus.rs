//! The metrics of one server, in the text format of OpenMetrics.

use std::{
    fmt::{self, Debug},
    hash::Hash,
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant},
};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Metric, Registry, Unit},
};

use sallyport_contract::table;
use strum::VariantArray as _;

use super::{DISCONNECTED, micros, outcome};
use crate::{
    domain::ports::{Observer, Query},
    edge::responding::error_code::ErrorCode,
    store::{Pool, Store},
};

/// Upper bounds of the histograms, in seconds.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<Outcome, Counter>,
    operations: Vec<OperationMetrics>,
    in_flight: Gauge<i64, AtomicI64>,
    /// Open connections, counted in each round of the stall monitor.
    connections: Gauge<i64, AtomicI64>,
    /// Connections that were closed because they were idle or stalled.
    connections_timed_out: Counter,
    /// By query.
    store_seconds: Vec<Histogram>,
    store_failures: Family<QueryLabel, Counter>,
    cached: Counter,
    /// Connections to the database: all, in use, and queries that wait for one.
    pool: [Gauge; 3],
}

/// What every call of an operation counts. It is found once, because a search by labels takes longer than the rest of counting.
struct OperationMetrics {
    id: &'static str,
    /// Successes with the status that the document declares.
    succeeded: Counter,
    status: u16,
    seconds: Histogram,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    operation: &'static str,
    /// As [`outcome`] says, or [`DISCONNECTED`].
    outcome: &'static str,
    status: u16,
    /// Business code of an error, else 0.
    code: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabel {
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueryLabel {
    query: &'static str,
}

impl Metrics {
    /// Metrics of these operations, by `operationId`, each with the status of its success.
    pub(crate) fn new(operations: &'static [table::Operation]) -> Self {
        let mut registry = Registry::with_prefix("sallyport");
        let help = "Calls by operation, outcome, status and business code";
        let calls: Family<Outcome, Counter> = registered(&mut registry, "calls", help);
        let help = "Time from the head of a request to its response, in seconds";
        let call_seconds: Histograms<OperationLabel> =
            registered_histograms(&mut registry, "call_duration", help);
        let help = "Time that queries to the database take, by query";
        let store_seconds: Histograms<QueryLabel> =
            registered_histograms(&mut registry, "store_duration", help);
        let help = "Queries to the database that failed";
        let store_failures: Family<QueryLabel, Counter> = registered(&mut registry, "store_failures", help);
        // What has not happened yet is there, as zero.
        let operations = operations.iter().map(|table::Operation { id, status, .. }| {
            let success = Outcome { operation: id, outcome: outcome(None), status: *status, code: 0 };
            OperationMetrics {
                id,
                succeeded: calls.get_or_create(&success).clone(),
                status: *status,
                seconds: call_seconds.get_or_create(&OperationLabel { operation: id }).clone(),
            }
        });
        let operations = operations.collect();
        let store_seconds = Query::VARIANTS.iter().map(|query| {
            let query = QueryLabel { query: query.into() };
            drop(store_failures.get_or_create(&query));
            store_seconds.get_or_create(&query).clone()
        });
        let store_seconds = store_seconds.collect();
        Self {
            in_flight: registered(&mut registry, "calls_in_flight", "Calls without a response"),
            connections: registered(
                &mut registry,
                "connections",
                "Open connections to both addresses, as of at most a second ago",
            ),
            connections_timed_out: registered(
                &mut registry,
                "connections_timed_out",
                "Connections that were closed because they were idle or stalled",
            ),
            cached: registered(
                &mut registry,
                "store_cache_hits",
                "Extractions served from the cache, without a query to the database",
            ),
            pool: [
                ("pool_connections", "Maximum number of connections to the database"),
                ("pool_busy", "Connections to the database in use"),
                ("pool_waiting", "Queries that wait for a connection"),
            ]
            .map(|(name, help)| registered(&mut registry, name, help)),
            calls,
            operations,
            store_seconds,
            store_failures,
            registry,
        }
    }

    /// All metrics in the text format of OpenMetrics, which Prometheus reads, with the figures of `store`.
    pub(crate) fn render(&self, store: &Store) -> Result<String, fmt::Error> {
        let Pool { connections, busy, waiting } = store.pool();
        for (gauge, number) in self.pool.iter().zip([connections, busy, waiting]) {
            gauge.set(i64::try_from(number).unwrap_or(i64::MAX));
        }
        self.cached.inner().store(store.cache_hits(), Ordering::Relaxed);
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// Counts a call of an operation as in flight.
    pub(crate) fn begin(&self, operation: &'static str) -> CallInFlight<'_> {
        self.in_flight.inc();
        CallInFlight { metrics: self, operation, started: Instant::now(), finished: None }
    }

    /// Sets the number of open connections, and counts those that were closed because they were idle or stalled.
    pub(crate) fn connections_checked(&self, open: usize, closed: usize) {
        self.connections.set(i64::try_from(open).unwrap_or(i64::MAX));
        self.connections_timed_out.inc_by(closed as u64);
    }
}

impl Observer for Metrics {
    fn queried(&self, query: Query, time: Duration, has_failed: bool) {
        self.store_seconds[query as usize].observe(time.as_secs_f64());
        if has_failed {
            self.store_failures.get_or_create(&QueryLabel { query: query.into() }).inc();
        }
    }
}

/// Registers a metric, and returns it to be counted.
fn registered<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// The same for durations, by label.
fn registered_histograms<L: EncodeLabelSet + Clone + Debug + Eq + Hash + Send + Sync + 'static>(
    registry: &mut Registry,
    name: &str,
    help: &str,
) -> Histograms<L> {
    let histograms = Histograms::new_with_constructor(|| Histogram::new(BOUNDS));
    registry.register_with_unit(name, help, Unit::Seconds, histograms.clone());
    histograms
}

/// A call without a response. If it is dropped before it has one, the caller has disconnected, which is counted and logged.
pub(crate) struct CallInFlight<'a> {
    metrics: &'a Metrics,
    operation: &'static str,
    started: Instant,
    /// The status of the response, the error code if it is an error, and the time that the call took.
    finished: Option<(u16, Option<ErrorCode>, Duration)>,
}

impl CallInFlight<'_> {
    /// Records that the response is ready. Returns the time that the call took.
    pub(crate) fn finish(&mut self, status: u16, code: Option<ErrorCode>) -> Duration {
        let after = self.started.elapsed();
        self.finished = Some((status, code, after));
        after
    }
}

impl Drop for CallInFlight<'_> {
    fn drop(&mut self) {
        let Self { metrics, operation, started, finished } = *self;
        metrics.in_flight.dec();
        let counted = metrics.operations.iter().find(|it| it.id == operation);
        let after = finished.map_or_else(|| started.elapsed(), |(_, _, after)| after);
        if let Some(counted) = counted {
            counted.seconds.observe(after.as_secs_f64());
        }
        let (outcome, status, code) = match (finished, counted) {
            (Some((status, None, _)), Some(counted)) if status == counted.status => {
                counted.succeeded.inc();
                return;
            }
            (Some((status, code, _)), _) => (outcome(code), status, code.map_or(0, ErrorCode::number)),
            (None, _) => {
                tracing::info!(outcome = DISCONNECTED, micros = micros(after), "the caller disconnected");
                (DISCONNECTED, 0, 0)
            }
        };
        metrics.calls.get_or_create(&Outcome { operation, outcome, status, code }).inc();
    }
}
