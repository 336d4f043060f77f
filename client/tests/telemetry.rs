//! What the feature `opentelemetry` sends to a collector.
#![allow(clippy::unwrap_used, reason = "providers that cannot be set up fail the test")]

mod faulty;

use std::{collections::BTreeMap, time::Duration};

use faulty::{CANARY, FaultyServer, Reply, no_groups, one_gateway, reply};
use opentelemetry::{
    KeyValue, global,
    trace::{SpanKind, Status, TraceContextExt, Tracer, TracerProvider},
};
use opentelemetry_sdk::{
    metrics::{
        InMemoryMetricExporter, SdkMeterProvider,
        data::{AggregatedMetrics, MetricData},
    },
    propagation::TraceContextPropagator,
    trace::{InMemorySpanExporter, SdkTracerProvider, SpanData},
};
use sallyport_client::RetryPolicy;

fn groups_path() -> &'static str {
    &sallyport_contract::operation("listStaticGroups").unwrap().path
}

type Attributes = BTreeMap<String, String>;

fn attributes<'a>(pairs: impl IntoIterator<Item = &'a KeyValue>) -> Attributes {
    pairs.into_iter().map(|pair| (pair.key.to_string(), pair.value.to_string())).collect()
}

/// The points of a metric: attributes, and the count of each.
fn points(exporter: &InMemoryMetricExporter, name: &str) -> Vec<(Attributes, u64)> {
    let exported = exporter.get_finished_metrics().unwrap();
    let scopes = exported.last().unwrap().scope_metrics();
    let metric = scopes.flat_map(|scope| scope.metrics()).find(|metric| metric.name() == name).unwrap();
    match metric.data() {
        AggregatedMetrics::U64(MetricData::Sum(sum)) => {
            sum.data_points().map(|point| (attributes(point.attributes()), point.value())).collect()
        }
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
            histogram.data_points().map(|point| (attributes(point.attributes()), point.count())).collect()
        }
        other => panic!("{name}: {other:?}"),
    }
}

fn has(attributes: &Attributes, name: &str, value: &str) -> bool {
    attributes.get(name).is_some_and(|found| found == value)
}

/// One test, because the providers are global.
#[tokio::test]
async fn calls_are_spans_metrics_and_trace_context() {
    let (spans, metrics) = (InMemorySpanExporter::default(), InMemoryMetricExporter::default());
    let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
    let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics.clone()).build();
    global::set_tracer_provider(tracers.clone());
    global::set_meter_provider(meters.clone());
    global::set_text_map_propagator(TraceContextPropagator::new());

    let server = FaultyServer::start(vec![
        reply(503, &[], CANARY),
        no_groups(),
        one_gateway(),
        reply(400, &[], "{}"),
        Reply::Hang,
    ])
    .await;
    let client = server.builder().request_timeout(Duration::from_secs(60)).build().unwrap();
    let root = tracers.tracer("test").start("job");
    let context = opentelemetry::Context::current_with_span(root);
    let trace = context.span().span_context().trace_id().to_string();
    {
        let future = opentelemetry::context::FutureExt::with_context(client.groups().into_future(), context);
        future.await.unwrap();
    }
    client.extract(1).await.unwrap();
    client.groups().await.unwrap_err();
    tokio::select! {
        outcome = client.groups().retry(RetryPolicy::none()).into_future() => panic!("{outcome:?}"),
        () = until(|| server.requests().len() == 5) => {}
    }

    let finished = spans.get_finished_spans().unwrap();
    let own: Vec<&SpanData> =
        finished.iter().filter(|span| span.instrumentation_scope.name() == "sallyport-client").collect();
    let requests: Vec<&&SpanData> = own.iter().filter(|span| span.span_kind == SpanKind::Client).collect();
    let calls: Vec<&&SpanData> = own.iter().filter(|span| span.span_kind == SpanKind::Internal).collect();
    assert_eq!((requests.len(), calls.len()), (5, 4));
    assert_eq!(calls[0].name, "listStaticGroups");
    assert_eq!(calls[0].span_context.trace_id().to_string(), trace, "the caller's trace goes on");
    for span in &requests[..2] {
        assert_eq!(span.name, format!("GET {}", groups_path()));
        assert_eq!(span.parent_span_id, calls[0].span_context.span_id());
        let attributes = attributes(&span.attributes);
        assert!(has(&attributes, "http.request.method", "GET"));
        assert!(has(&attributes, "server.address", "127.0.0.1"));
        let url = format!("{}{}", server.base_url(), groups_path());
        assert!(has(&attributes, "url.full", &url), "{attributes:?}");
    }
    let [first, second] = [requests[0], requests[1]].map(|span| attributes(&span.attributes));
    assert!(has(&first, "http.response.status_code", "503"), "{first:?}");
    assert!(has(&first, "error.type", "rejected"), "{first:?}");
    assert!(matches!(requests[0].status, Status::Error { .. }) && requests[1].status == Status::Unset);
    assert!(has(&second, "http.request.resend_count", "1"));
    assert!(!first.contains_key("http.request.resend_count"));
    assert!(has(&attributes(&calls[2].attributes), "error.type", "rejected"));
    assert!(has(&attributes(&calls[3].attributes), "error.type", "cancelled"), "a dropped call has its end");

    // EachRequest request carries the context of its own span.
    for (request, span) in server.requests().iter().zip(&requests) {
        let (trace, span) = (span.span_context.trace_id(), span.span_context.span_id());
        assert!(request.contains(&format!("traceparent: 00-{trace}-{span}-01\r\n")), "{request}");
    }

    meters.force_flush().unwrap();
    let calls = points(&metrics, "sallyport.client.calls");
    let of = |operation: &str, error: Option<&str>| {
        let is_it = |(attributes, _): &&(Attributes, u64)| {
            has(attributes, "sallyport.operation", operation)
                && attributes.get("error.type").map(String::as_str) == error
        };
        calls.iter().find(is_it).map(|(_, count)| *count)
    };
    assert_eq!(of("listStaticGroups", None), Some(1), "{calls:?}");
    assert_eq!(of("listStaticGroups", Some("rejected")), Some(1));
    assert_eq!(of("listStaticGroups", Some("cancelled")), Some(1));
    assert_eq!(of("extractProxies", None), Some(1));
    let retries = points(&metrics, "sallyport.client.retries");
    assert!(retries.len() == 1, "{retries:?}");
    assert!(has(&retries[0].0, "error.type", "rejected"), "{retries:?}");
    assert!(retries[0].1 == 1, "{retries:?}");
    assert_eq!(
        points(&metrics, "sallyport.client.retry.wait").iter().map(|(_, count)| count).sum::<u64>(),
        1
    );
    let durations = points(&metrics, "http.client.request.duration");
    assert_eq!(durations.iter().map(|(_, count)| count).sum::<u64>(), 5, "{durations:?}");

    let text = format!("{finished:?} {:?}", metrics.get_finished_metrics().unwrap());
    assert!(!text.contains("T0ken") && !text.contains("api_key"), "{text}");
}

/// Waits until `is_so`, and fails after a time that no machine needs.
async fn until(is_so: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("it does not become true");
}
