//! Spans and metrics of OpenTelemetry, by its semantic conventions for HTTP clients, with the feature `opentelemetry`. They go to the
//! global providers, and the trace context goes out by the global propagator. No attribute holds the query of a URL.

#[cfg(feature = "opentelemetry")]
pub(crate) use on::{CallTelemetry, Telemetry};

#[cfg(not(feature = "opentelemetry"))]
pub(crate) use off::{CallTelemetry, Telemetry};

#[cfg(feature = "opentelemetry")]
mod on {
    use std::{
        fmt,
        time::{Duration, Instant},
    };

    use opentelemetry::{
        Context, KeyValue,
        global::{self, BoxedTracer},
        metrics::{Counter, Histogram},
        propagation::Injector,
        trace::{SpanKind, Status, TraceContextExt as _, Tracer as _},
    };
    use reqwest::{
        Request, StatusCode, Url,
        header::{HeaderMap, HeaderName, HeaderValue},
    };

    use crate::{Error, operation::Operation, telemetry::path};

    /// Scope of spans and metrics.
    const SCOPE: &str = env!("CARGO_PKG_NAME");

    /// Bounds that the conventions advise for durations in seconds.
    const BOUNDS: [f64; 14] =
        [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

    /// `error.type` of what was dropped before its end.
    const CANCELLED: &str = "cancelled";

    /// The instruments of a client. They belong to the providers that are set when the client is built.
    pub(crate) struct Telemetry {
        tracer: BoxedTracer,
        calls: Counter<u64>,
        retries: Counter<u64>,
        waits: Histogram<f64>,
        durations: Histogram<f64>,
    }

    /// A call with its span, which end where it is dropped; before [`end`](Self::end) it counts as cancelled.
    pub(crate) struct CallTelemetry<'a> {
        telemetry: &'a Telemetry,
        operation: &'static Operation,
        url: &'a Url,
        context: Context,
        error: Option<&'static str>,
    }

    /// One request of a call, with its span.
    pub(crate) struct AttemptTelemetry<'a> {
        call: &'a CallTelemetry<'a>,
        context: Context,
        started: Instant,
        status: Option<StatusCode>,
        error: Option<&'static str>,
    }

    impl Telemetry {
        pub(crate) fn new() -> Self {
            let meter = global::meter(SCOPE);
            let seconds = |name, description| {
                let histogram = meter.f64_histogram(name).with_unit("s").with_description(description);
                histogram.with_boundaries(BOUNDS.to_vec()).build()
            };
            let count = |name, unit, description| {
                meter.u64_counter(name).with_unit(unit).with_description(description).build()
            };
            Self {
                tracer: global::tracer(SCOPE),
                calls: count("sallyport.client.calls", "{call}", "Calls, each with all its retries."),
                retries: count("sallyport.client.retries", "{retry}", "Retries, by the error before them."),
                waits: seconds("sallyport.client.retry.wait", "Waits before retries."),
                durations: seconds("http.client.request.duration", "Duration of HTTP client requests."),
            }
        }

        pub(crate) fn start<'a>(&'a self, operation: &'static Operation, url: &'a Url) -> CallTelemetry<'a> {
            let builder = self.tracer.span_builder(operation.id).with_kind(SpanKind::Internal);
            let parent = Context::current();
            let span = self.tracer.build_with_context(builder, &parent);
            let context = parent.with_span(span);
            CallTelemetry { telemetry: self, operation, url, context, error: Some(CANCELLED) }
        }
    }

    impl CallTelemetry<'_> {
        /// Starts the span of request number `number` and adds its trace context to the headers.
        pub(crate) fn attempt(&self, request: &mut Request, number: u32) -> AttemptTelemetry<'_> {
            let mut attributes = self.attributes();
            attributes.push(KeyValue::new("url.full", self.full_url()));
            if number > 1 {
                attributes.push(KeyValue::new("http.request.resend_count", i64::from(number - 1)));
            }
            let name = format!("{} {}", self.operation.method, self.operation.path);
            let tracer = &self.telemetry.tracer;
            let builder = tracer.span_builder(name).with_kind(SpanKind::Client).with_attributes(attributes);
            let span = tracer.build_with_context(builder, &self.context);
            let context = self.context.with_span(span);
            global::get_text_map_propagator(|propagator| {
                propagator.inject_context(&context, &mut Headers(request.headers_mut()));
            });
            AttemptTelemetry {
                call: self,
                context,
                started: Instant::now(),
                status: None,
                error: Some(CANCELLED),
            }
        }

        pub(crate) fn retrying(&self, wait: Duration, error: &Error) {
            let operation = KeyValue::new("sallyport.operation", self.operation.id);
            let reason = KeyValue::new("error.type", error.kind());
            self.telemetry.retries.add(1, &[operation.clone(), reason]);
            self.telemetry.waits.record(wait.as_secs_f64(), &[operation]);
        }

        pub(crate) fn end(mut self, error: Option<&Error>) {
            self.error = error.map(Error::kind);
        }

        /// Attributes of the span and the metric of one request.
        fn attributes(&self) -> Vec<KeyValue> {
            let mut attributes = vec![
                KeyValue::new("http.request.method", self.operation.method),
                KeyValue::new("url.template", self.operation.path),
                KeyValue::new("server.address", self.url.host_str().unwrap_or_default().to_owned()),
            ];
            let port = self.url.port_or_known_default();
            attributes.extend(port.map(|port| KeyValue::new("server.port", i64::from(port))));
            attributes
        }

        /// The URL without its query, which may hold the token.
        fn full_url(&self) -> String {
            let mut url = self.url.clone();
            url.set_path(&path(self.url, self.operation));
            url.into()
        }
    }

    impl Drop for CallTelemetry<'_> {
        fn drop(&mut self) {
            let mut attributes = vec![KeyValue::new("sallyport.operation", self.operation.id)];
            attributes.extend(self.error.map(|error| KeyValue::new("error.type", error)));
            self.telemetry.calls.add(1, &attributes);
            close(&self.context, self.error);
        }
    }

    impl AttemptTelemetry<'_> {
        pub(crate) fn responded(&mut self, status: StatusCode) {
            self.status = Some(status);
            let status = KeyValue::new("http.response.status_code", i64::from(status.as_u16()));
            self.context.span().set_attribute(status);
        }

        pub(crate) fn end(mut self, error: Option<&Error>) {
            self.error = error.map(Error::kind);
        }
    }

    impl Drop for AttemptTelemetry<'_> {
        fn drop(&mut self) {
            let mut attributes = self.call.attributes();
            let status = self.status.map(|status| i64::from(status.as_u16()));
            attributes.extend(status.map(|status| KeyValue::new("http.response.status_code", status)));
            attributes.extend(self.error.map(|error| KeyValue::new("error.type", error)));
            self.call.telemetry.durations.record(self.started.elapsed().as_secs_f64(), &attributes);
            close(&self.context, self.error);
        }
    }

    impl fmt::Debug for Telemetry {
        fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("Telemetry")
        }
    }

    fn close(context: &Context, error: Option<&'static str>) {
        let span = context.span();
        if let Some(error) = error {
            span.set_attribute(KeyValue::new("error.type", error));
            span.set_status(Status::error(error));
        }
        span.end();
    }

    struct Headers<'a>(&'a mut HeaderMap);

    impl Injector for Headers<'_> {
        fn set(&mut self, key: &str, value: String) {
            if let (Ok(key), Ok(value)) = (HeaderName::try_from(key), HeaderValue::try_from(value)) {
                self.0.insert(key, value);
            }
        }
    }
}

#[cfg(not(feature = "opentelemetry"))]
mod off {
    use std::{marker::PhantomData, time::Duration};

    use reqwest::{Request, StatusCode, Url};

    use crate::{Error, operation::Operation};

    #[derive(Debug)]
    pub(crate) struct Telemetry;

    pub(crate) struct CallTelemetry<'a>(PhantomData<&'a ()>);

    pub(crate) struct AttemptTelemetry;

    impl Telemetry {
        pub(crate) fn new() -> Self {
            Self
        }

        #[expect(clippy::unused_self, reason = "as with the feature")]
        pub(crate) fn start<'a>(&'a self, _: &'static Operation, _: &'a Url) -> CallTelemetry<'a> {
            CallTelemetry(PhantomData)
        }
    }

    impl CallTelemetry<'_> {
        pub(crate) fn attempt(&self, _: &mut Request, _: u32) -> AttemptTelemetry {
            AttemptTelemetry
        }

        pub(crate) fn retrying(&self, _: Duration, _: &Error) {}

        pub(crate) fn end(self, _: Option<&Error>) {}
    }

    impl AttemptTelemetry {
        pub(crate) fn responded(&mut self, _: StatusCode) {}

        pub(crate) fn end(self, _: Option<&Error>) {}
    }
}
