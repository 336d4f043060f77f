//! Spans and metrics of OpenTelemetry, printed: `cargo run -p sallyport-client --features opentelemetry --example telemetry`.
//!
//! A program would set providers that export to a collector; these keep everything in memory.

use opentelemetry::global;
use opentelemetry_sdk::{
    metrics::{InMemoryMetricExporter, SdkMeterProvider},
    propagation::TraceContextPropagator,
    trace::{InMemorySpanExporter, SdkTracerProvider},
};
use sallyport_client::Client;
use sallyport_server::sandbox::Sandbox;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it got")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::start().await?;

    // Set the providers before the client is built.
    let (spans, metrics) = (InMemorySpanExporter::default(), InMemoryMetricExporter::default());
    let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
    let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics.clone()).build();
    global::set_tracer_provider(tracers);
    global::set_meter_provider(meters.clone());
    // Sends `traceparent` with each request.
    global::set_text_map_propagator(TraceContextPropagator::new());

    let client = Client::builder().base_url(sandbox.base_url()).token(sandbox.token().expose()).build()?;
    client.extract(3).await?;
    println!("{} groups", client.groups().await?.len());

    meters.force_flush()?;
    for span in spans.get_finished_spans()? {
        println!("{:?} span {}", span.span_kind, span.name);
        for attribute in &span.attributes {
            println!("    {} = {}", attribute.key, attribute.value);
        }
    }
    for exported in metrics.get_finished_metrics()? {
        for metric in exported.scope_metrics().flat_map(|scope| scope.metrics()) {
            println!("metric {} ({}): {:?}", metric.name(), metric.unit(), metric.data());
        }
    }
    Ok(())
}
