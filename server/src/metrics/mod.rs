//! What the server counts, as Prometheus reads it. No label holds anything that a caller can choose.

mod store;

use std::{fmt, sync::atomic::AtomicU64, time::Instant};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

pub(crate) use self::store::MeasuredStore;
use crate::edge::catalogue::Reason;

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
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    operation: &'static str,
    /// `success`, `refused`, or `left` when the caller went away before the answer.
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
        };
        metrics.registered()
    }
}

impl Metrics {
    /// Everything in the text format of OpenMetrics, which Prometheus reads.
    ///
    /// # Errors
    /// Writing to a text fails, which it does not.
    pub(crate) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// A call of an operation has begun.
    pub(crate) fn begin(&self, operation: &'static str) -> CallUnderWay<'_> {
        self.in_flight.inc();
        CallUnderWay { metrics: self, operation, begun: Instant::now(), outcome: ("left", 0, 0) }
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
        self
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
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
        self.outcome = match reason {
            None => ("success", status, 0),
            Some(reason) => ("refused", status, reason.code()),
        };
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
            "sallyport_calls_total{operation=\"a\",outcome=\"refused\",status=\"429\",code=\"42900\"} 1",
            "sallyport_calls_total{operation=\"a\",outcome=\"left\",status=\"0\",code=\"0\"} 1",
            "sallyport_call_duration_seconds_count{operation=\"a\"} 2",
        ] {
            assert!(text.lines().any(|it| it == line), "no {line} in\n{text}");
        }
    }
}
