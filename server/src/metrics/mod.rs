//! What the server counts, as Prometheus reads it. No label holds anything that a caller can choose.

mod store;
mod supply;

use std::{fmt, sync::atomic::AtomicU64, time::Instant};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

pub(crate) use self::store::MeasuredStore;
use self::supply::Supplies;
use crate::{
    edge::catalogue::Reason,
    store::{Pool, Store},
};

/// Upper bounds of the histograms, in seconds.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// The counts of one server.
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<Outcome, Counter>,
    call_seconds: Histograms<Operation>,
    in_flight: Gauge<i64, std::sync::atomic::AtomicI64>,
    store_seconds: Histograms<Question>,
    store_failures: Family<Question, Counter<u64, AtomicU64>>,
    pool: PoolGauges,
    supplies: Supplies,
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
    /// Business code of a refusal, else 0.
    code: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Question {
    question: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let histograms = || Histogram::new(BOUNDS);
        let metrics = Self {
            registry: Registry::with_prefix("sallyport"),
            calls: Family::default(),
            call_seconds: Family::new_with_constructor(histograms),
            in_flight: Gauge::default(),
            store_seconds: Family::new_with_constructor(histograms),
            store_failures: Family::default(),
            pool: PoolGauges::default(),
            supplies: Supplies::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    /// Everything in the text format of OpenMetrics, which Prometheus reads, with what `store` has to say of itself.
    ///
    /// # Errors
    /// Writing to a text fails, which it does not.
    pub(crate) async fn of(&self, store: &dyn Store) -> Result<String, fmt::Error> {
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

    /// A call of an operation has begun.
    pub(crate) fn begin(&self, operation: &'static str) -> CallUnderWay<'_> {
        self.in_flight.inc();
        CallUnderWay { metrics: self, operation, begun: Instant::now(), outcome: (LEFT, 0, 0) }
    }

    /// A question to the store was answered, or not.
    fn asked(&self, question: &'static str, begun: Instant, failed: bool) {
        let question = Question { question };
        self.store_seconds.get_or_create(&question).observe(begun.elapsed().as_secs_f64());
        if failed {
            self.store_failures.get_or_create(&question).inc();
        }
    }

    fn registered(mut self) -> Self {
        let registry = &mut self.registry;
        registry.register(
            "calls",
            "Calls by operation, outcome, status and business code",
            self.calls.clone(),
        );
        registry.register_with_unit(
            "call_duration",
            "From the request's head to its answer",
            Unit::Seconds,
            self.call_seconds.clone(),
        );
        registry.register("calls_in_flight", "Calls without an answer yet", self.in_flight.clone());
        registry.register_with_unit(
            "store_duration",
            "Time that the store takes, by question",
            Unit::Seconds,
            self.store_seconds.clone(),
        );
        registry.register(
            "store_failures",
            "Questions that the store could not answer",
            self.store_failures.clone(),
        );
        let pool = &self.pool;
        registry.register("pool_connections", "Most connections to the database", pool.connections.clone());
        registry.register("pool_busy", "Connections to the database in use", pool.busy.clone());
        registry.register("pool_waiting", "Questions that wait for a connection", pool.waiting.clone());
        registry.register(
            "gateways",
            "Gateways left by protocol and region, at most 15 s old; region * is the sum of more regions than are told",
            self.supplies.gateways(),
        );
        self
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

/// The outcome of a call whose caller went away before the answer.
pub(crate) const LEFT: &str = "left";

/// What became of a call, in a word for metrics and the log.
pub(crate) const fn outcome(reason: Option<Reason>) -> &'static str {
    match reason {
        None => "success",
        Some(Reason::Throttled) => "throttled",
        Some(Reason::Overloaded) => "shed",
        Some(Reason::Internal | Reason::Busy | Reason::Unavailable) => "failed",
        Some(_) => "refused",
    }
}

/// A call that has no answer yet. Dropped before it has one, its caller has left.
pub(crate) struct CallUnderWay<'a> {
    metrics: &'a Metrics,
    operation: &'static str,
    begun: Instant,
    outcome: (&'static str, u16, i64),
}

impl CallUnderWay<'_> {
    /// The answer is ready.
    pub(crate) fn answered(&mut self, status: u16, reason: Option<Reason>) {
        self.outcome = (outcome(reason), status, reason.map_or(0, Reason::code));
    }

    /// When it began.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }
}

impl Drop for CallUnderWay<'_> {
    fn drop(&mut self) {
        let Self { metrics, operation, begun, outcome: (outcome, status, code) } = *self;
        metrics.in_flight.dec();
        metrics.calls.get_or_create(&Outcome { operation, outcome, status, code }).inc();
        metrics.call_seconds.get_or_create(&Operation { operation }).observe(begun.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_outcome() {
        let metrics = Metrics::default();
        let mut call = metrics.begin("a");
        assert!(metrics.text().unwrap().contains("sallyport_calls_in_flight 1\n"));
        call.answered(429, Some(Reason::Throttled));
        drop(call);
        drop(metrics.begin("a"));
        let text = metrics.text().unwrap();
        for line in [
            "sallyport_calls_in_flight 0",
            "sallyport_calls_total{operation=\"a\",outcome=\"throttled\",status=\"429\",code=\"42900\"} 1",
            "sallyport_calls_total{operation=\"a\",outcome=\"left\",status=\"0\",code=\"0\"} 1",
            "sallyport_call_duration_seconds_count{operation=\"a\"} 2",
        ] {
            assert!(text.lines().any(|it| it == line), "no {line} in\n{text}");
        }
    }
}
