//! Compares a call with reqwest and serde_json alone, on the same server in the same run:
//! `cargo bench -p sallyport-client --bench overhead`. `cargo test --bench overhead` only shows that it still runs.
//!
//! The server sends a constant response over kept-alive connections, so that little else is measured. Rounds of both
//! alternate; printed are the medians of the ratios of time and of allocations on the calling thread, and the ratio of the
//! least processor time of that thread, which depends less on what else the machine does (Linux only). It measures the client
//! as it comes, and with a token file and a middleware; retries and their budget are those of every client. With the feature
//! `opentelemetry` these two have no providers, and a third one has providers that throw its spans and metrics away. The last line
//! is the memory that streaming a million instances takes.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that measures and prints")]

use std::{fs, sync::mpsc, time::Instant};

use allocation_counter::measure;
use futures_util::{StreamExt, TryStreamExt, stream};
use sallyport_client::{Client, Middleware, MiddlewareFuture, Next, bytes::Bytes, generated::types, http};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::{self, Runtime},
};

const ROUNDS: usize = 15;
const CALLS: usize = 400;
const TOKEN: &str = "bench-token";

fn main() {
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let rounds = if is_measuring { ROUNDS } else { 1 };
    // One thread, so that every allocation of a call is one of the thread that counts.
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let base = serve(vec![page(0, 100, 100)]);
    let file = std::env::temp_dir().join(format!("sallyport-bench-token-{}", std::process::id()));
    fs::write(&file, TOKEN).unwrap();
    // The pool of connections belongs to the runtime that they were opened on.
    let (clients, raw) = runtime.block_on(async {
        let builder = || Client::builder().base_url(&base);
        let full = || builder().token_file(&file).middleware(Passthrough).build().unwrap();
        let mut clients = vec![
            ("as it comes", builder().token(TOKEN).build().unwrap()),
            ("with token file and middleware", full()),
        ];
        // A client takes the providers that are set when it is built.
        if set_telemetry() {
            clients.push(("with token file, middleware and telemetry", full()));
        }
        (clients, reqwest::Client::new())
    });
    let theirs = async || raw_search(&raw, &base).await;
    for ((name, client), in_flight) in clients.iter().flat_map(|client| [(client, 1), (client, 64)]) {
        let ours = async || drop(client.search(["203.0.113.7"]).page(1).await.unwrap());
        let mut least = [f64::INFINITY; 2];
        let ratios = (0..rounds).map(|_| {
            let (ours, theirs) = (cost(&runtime, in_flight, &ours), cost(&runtime, in_flight, &theirs));
            least = [least[0].min(ours.processor), least[1].min(theirs.processor)];
            [ours.seconds / theirs.seconds, ours.allocations / theirs.allocations, ours.bytes / theirs.bytes]
        });
        let ratios: Vec<_> = ratios.collect();
        let [time, allocations, bytes] = [0, 1, 2].map(|which| median(&ratios, which));
        let processor = least[0] / least[1];
        println!(
            "{name}: search of 100 instances, {in_flight} in flight, as a multiple of raw reqwest: time {time:.3}, \
             processor time {processor:.3}, allocations {allocations:.3}, bytes allocated {bytes:.3}"
        );
    }
    fs::remove_file(file).unwrap();
    runtime.block_on(stream_a_million());
}

/// Does nothing, so that only the way through it is measured.
struct Passthrough;

impl Middleware for Passthrough {
    fn handle<'a>(&'a self, request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a> {
        next.run(request)
    }
}

/// Sets providers where the feature is on, and says whether it is.
#[cfg(feature = "opentelemetry")]
fn set_telemetry() -> bool {
    use opentelemetry::global;
    use opentelemetry_sdk::{
        metrics::SdkMeterProvider, propagation::TraceContextPropagator, testing::trace::NoopSpanExporter,
        trace::SdkTracerProvider,
    };

    global::set_tracer_provider(
        SdkTracerProvider::builder().with_simple_exporter(NoopSpanExporter::new()).build(),
    );
    global::set_meter_provider(SdkMeterProvider::builder().build());
    global::set_text_map_propagator(TraceContextPropagator::new());
    true
}

#[cfg(not(feature = "opentelemetry"))]
fn set_telemetry() -> bool {
    false
}

fn median(ratios: &[[f64; 3]], which: usize) -> f64 {
    let mut one: Vec<f64> = ratios.iter().map(|round| round[which]).collect();
    one.sort_by(f64::total_cmp);
    one[one.len() / 2]
}

/// The same request and the same types, without anything around them.
async fn raw_search(http: &reqwest::Client, base: &str) {
    let response = http
        .post(format!("{base}/openapi/v1/static/instances/search"))
        .query(&[("api_key", TOKEN)])
        .json(&serde_json::json!({"ips": ["203.0.113.7"], "page": 1}))
        .send()
        .await
        .unwrap();
    assert!(response.status().is_success());
    let body = response.bytes().await.unwrap();
    let page: types::SearchSuccess = serde_json::from_slice(&body).unwrap();
    assert_eq!(page.code, 200);
}

/// What some calls took.
struct Cost {
    seconds: f64,
    /// Nanoseconds of processor time.
    processor: f64,
    allocations: f64,
    bytes: f64,
}

fn cost(runtime: &Runtime, in_flight: usize, call: &impl AsyncFn()) -> Cost {
    let (started, before) = (Instant::now(), processor_time());
    let counted = measure(|| {
        runtime.block_on(stream::iter(0..CALLS).for_each_concurrent(in_flight, |_| call()));
    });
    let (seconds, spent) = (started.elapsed().as_secs_f64(), processor_time() - before);
    #[expect(clippy::cast_precision_loss, reason = "a ratio needs no more digits than this keeps")]
    let [processor, allocations, bytes] =
        [spent, counted.count_total, counted.bytes_total].map(|count| count as f64);
    Cost { seconds, processor, allocations, bytes }
}

/// Processor time of this thread so far, in nanoseconds.
fn processor_time() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    status.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0)
}

async fn stream_a_million() {
    const TOTAL: usize = 1_000_000;
    // Two pages that follow each other must not share an instance.
    let base = serve(vec![page(0, 1000, TOTAL), page(1000, 1000, TOTAL)]);
    let client = Client::builder().base_url(base).token(TOKEN).build().unwrap();
    let mut instances = client.search(["203.0.113.7"]).stream();
    let (mut count, mut early) = (0usize, 0);
    while instances.try_next().await.unwrap().is_some() {
        count += 1;
        if count == TOTAL / 10 {
            early = peak_memory();
        }
    }
    println!(
        "streamed {count} instances: peak memory {early} KiB after a tenth, {} KiB at the end",
        peak_memory()
    );
}

/// `VmHWM` of Linux, in KiB; 0 elsewhere.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|value| value.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// A page of `count` instances out of `total`, which follows after `before` others.
fn page(before: usize, count: usize, total: usize) -> String {
    let items: Vec<_> = (0..count)
        .map(|id| {
            serde_json::json!({
                "instanceId": 9001 + before + id, "offerId": 31, "status": "active", "ip": "203.0.113.7", "port": 20001,
                "protocols": ["http", "socks5"], "countryCode": "USA", "cityCode": "NYC", "ispType": 1,
                "expiresAt": "2026-12-31T23:59:59Z", "activatedAt": null,
                "capabilities": {"renew": {"allowedDays": [30, 90]}, "trialDays": 0}, "groupId": null,
            })
        })
        .collect();
    let data = serde_json::json!({"items": items, "page": 1, "pageSize": count, "total": total});
    serde_json::json!({"code": 200, "message": "ok", "requestId": "r", "data": data}).to_string()
}

/// Starts a server that responds to the requests of each connection with these bodies in turn, on a thread of its own.
fn serve(bodies: Vec<String>) -> String {
    let response = |body: String| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length";
        format!("{head}: {}\r\n\r\n{body}", body.len())
    };
    let responses: Vec<String> = bodies.into_iter().map(response).collect();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(format!("http://{}", listener.local_addr().unwrap())).unwrap();
            let responses: &'static [String] = responses.leak();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream, responses));
            }
        });
    });
    told.recv().unwrap()
}

async fn connection(mut stream: TcpStream, responses: &[String]) {
    stream.set_nodelay(true).unwrap();
    let (mut buffer, mut filled) = (vec![0; 1 << 16], 0);
    let mut responses = responses.iter().cycle();
    loop {
        match stream.read(&mut buffer[filled..]).await {
            Ok(count) if count > 0 => filled += count,
            _ => return,
        }
        // Every request here is small and ends with its JSON body.
        if buffer[..filled].ends_with(b"}") && buffer[..filled].windows(4).any(|four| four == b"\r\n\r\n") {
            filled = 0;
            let Some(response) = responses.next() else { return };
            if stream.write_all(response.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}
