//! Compares a call with reqwest and serde_json alone, on the same server in the same run:
//! `cargo bench -p sallyport-client --bench overhead`. `cargo test --bench overhead` only shows that it still runs.
//!
//! The server sends a constant response over kept-alive connections, so that little else is measured. Rounds of both alternate;
//! printed are the medians of the ratios of time and of allocations on the calling thread. It measures the client as it comes, and
//! with a token file and a middleware; retries and their budget are those of every client.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that measures and prints")]

use std::{fs, sync::mpsc, time::Instant};

use allocation_counter::measure;
use futures_util::{StreamExt, stream};
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
    let base = serve(page());
    let file = std::env::temp_dir().join(format!("sallyport-bench-token-{}", std::process::id()));
    fs::write(&file, TOKEN).unwrap();
    // The pool of connections belongs to the runtime that they were opened on.
    let (clients, raw) = runtime.block_on(async {
        let builder = || Client::builder().base_url(&base);
        let full = builder().token_file(&file).middleware(Passthrough).build().unwrap();
        let clients = [
            ("as it comes", builder().token(TOKEN).build().unwrap()),
            ("with token file and middleware", full),
        ];
        (clients, reqwest::Client::new())
    });
    let theirs = async || raw_search(&raw, &base).await;
    for ((name, client), in_flight) in clients.iter().flat_map(|client| [(client, 1), (client, 64)]) {
        let ours = async || drop(client.search(["203.0.113.7"]).page(1).await.unwrap());
        let ratios = (0..rounds).map(|_| {
            let (ours, theirs) = (cost(&runtime, in_flight, &ours), cost(&runtime, in_flight, &theirs));
            [0, 1, 2].map(|which| ours[which] / theirs[which])
        });
        let ratios: Vec<_> = ratios.collect();
        let [time, allocations, bytes] = [0, 1, 2].map(|which| median(&ratios, which));
        println!(
            "{name}: search of 100 instances, {in_flight} in flight, as a multiple of raw reqwest: time {time:.3}, \
             allocations {allocations:.3}, bytes allocated {bytes:.3}"
        );
    }
    fs::remove_file(file).unwrap();
}

/// Does nothing, so that only the way through it is measured.
struct Passthrough;

impl Middleware for Passthrough {
    fn handle<'a>(&'a self, request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a> {
        next.run(request)
    }
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

/// Seconds, allocations and bytes allocated of some calls.
fn cost(runtime: &Runtime, in_flight: usize, call: &impl AsyncFn()) -> [f64; 3] {
    let started = Instant::now();
    let counted = measure(|| {
        runtime.block_on(stream::iter(0..CALLS).for_each_concurrent(in_flight, |_| call()));
    });
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a ratio needs no more digits than this keeps")]
    [seconds, counted.count_total as f64, counted.bytes_total as f64]
}

/// A page of 100 instances.
fn page() -> String {
    let item = |id: usize| {
        serde_json::json!({
            "instanceId": 9001 + id, "offerId": 31, "status": "active", "ip": "203.0.113.7", "port": 20001,
            "protocols": ["http", "socks5"], "countryCode": "USA", "cityCode": "NYC", "ispType": 1,
            "expiresAt": "2026-12-31T23:59:59Z", "activatedAt": null,
            "capabilities": {"renew": {"allowedDays": [30, 90]}, "trialDays": 0}, "groupId": null,
        })
    };
    let items: Vec<_> = (0..100).map(item).collect();
    let data = serde_json::json!({"items": items, "page": 1, "pageSize": 100, "total": 100});
    serde_json::json!({"code": 200, "message": "ok", "requestId": "r", "data": data}).to_string()
}

/// Starts a server that responds to every request with this body, on a thread of its own.
fn serve(body: String) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length";
    let response: &'static str = format!("{head}: {}\r\n\r\n{body}", body.len()).leak();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(format!("http://{}", listener.local_addr().unwrap())).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream, response));
            }
        });
    });
    told.recv().unwrap()
}

async fn connection(mut stream: TcpStream, response: &str) {
    stream.set_nodelay(true).unwrap();
    let (mut buffer, mut filled) = (vec![0; 1 << 16], 0);
    loop {
        match stream.read(&mut buffer[filled..]).await {
            Ok(count) if count > 0 => filled += count,
            _ => return,
        }
        // Every request here is small and ends with its JSON body.
        if buffer[..filled].ends_with(b"}") && buffer[..filled].windows(4).any(|four| four == b"\r\n\r\n") {
            filled = 0;
            if stream.write_all(response.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}
