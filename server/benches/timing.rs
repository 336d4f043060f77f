//! Whether time tells what the responses do not: calls that must look alike, taking turns on one connection, and the
//! ratios of their median times. Figures of one run are compared with each other only. The first ratio of each table is
//! of a call with another of its kind, and shows how much of the others is noise.
//!
//! `cargo bench -p sallyport-server --bench timing`; `cargo test --bench timing` only shows that it still runs.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench ends at the first fault, and prints its figures"
)]

#[path = "../tests/store/cluster.rs"]
#[expect(dead_code, reason = "no bench kills its database")]
mod cluster;
#[path = "support/records.rs"]
mod records;

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, SocketAddr, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use sallyport_server::{
    Config,
    api::generated::{ListStaticGroups, SearchStaticInstances},
    data::import::import,
    domain::token::{Token, TokenKind},
    edge::operation::Operation,
    start,
    store::{Location, OpenMode, Store, sqlite::SqliteStore},
};

use self::records::ImportFile;

/// How often four calls take turns, and the instances of each account.
#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    instances: u64,
}

impl Extent {
    /// The rounds are a multiple of the number of orders.
    const MEASURED: Self = Self { rounds: 42 * ORDERS, instances: 100_000 };
    const SMALL: Self = Self { rounds: ORDERS, instances: 1000 };
}

/// In how many orders four calls can follow each other.
const ORDERS: usize = 24;

/// Our own token, one that was revoked and one that has expired; the last two are of another account.
struct Tokens {
    own: Token,
    revoked: Token,
    expired: Token,
}

fn main() {
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let extent = if is_measuring { Extent::MEASURED } else { Extent::SMALL };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(bench("SQLite", Arc::new(SqliteStore::temporary().unwrap()), extent));
    match cluster::Cluster::start() {
        Some(cluster) => {
            let location: Location = cluster.url("postgres").parse().unwrap();
            let open = cluster::eventually(async || location.open(OpenMode::Create).await);
            let store = runtime.block_on(open);
            runtime.block_on(bench("PostgreSQL", store, extent));
        }
        None => println!("SKIPPED on PostgreSQL: it is not installed"),
    }
}

async fn bench(name: &str, store: Arc<dyn Store>, extent: Extent) {
    let tokens = fill(store.as_ref(), extent.instances).await;
    let running = start(Config::loopback(store)).unwrap();
    let address = running.address();
    let measured = tokio::task::spawn_blocking(move || measure(address, &tokens, extent));
    println!("\n{name}");
    for line in measured.await.unwrap() {
        println!("  {line}");
    }
}

fn measure(address: SocketAddr, tokens: &Tokens, extent: Extent) -> Vec<String> {
    let Extent { rounds, instances } = extent;
    let mut lines = Vec::new();
    // Numbers up to the first bound are ours, up to the second the other account's, and nobody has those above.
    for batch in [1, 500] {
        let search = move |first: u64, filter: &str| {
            let numbers = (0..batch).map(move |n| first + n * (instances / batch));
            let ips: Vec<IpAddr> = numbers.map(records::address).collect();
            let body = format!("{{\"ips\":{}{filter}}}", serde_json::to_string(&ips).unwrap());
            request("POST", SearchStaticInstances::PATH, &tokens.own, &body)
        };
        let none = ",\"orderNo\":\"none\"";
        for (filter, name) in [("", ""), (none, " with a filter")] {
            let ratios = compare(address, rounds, 200, |round| {
                let round = round as u64 % (instances / batch) + 1;
                let nobodys = |part| search(part * instances + round, filter);
                [nobodys(2), nobodys(3), search(instances + round, filter), search(round, none)]
            });
            lines.push(format!(
                "search of {batch:>3}{name}, to unknown addresses: unknown {:.3}, foreign {:.3}, own that do not \
                 match {:.3}",
                ratios[1], ratios[2], ratios[3]
            ));
        }
    }
    let ratios = compare(address, rounds, 401, |_| {
        let unknown = || Token::generate(TokenKind::Api);
        let groups = |token: &Token| request("GET", ListStaticGroups::PATH, token, "");
        [groups(&unknown()), groups(&unknown()), groups(&tokens.revoked), groups(&tokens.expired)]
    });
    lines.push(format!(
        "groups, to an unknown token: unknown {:.3}, revoked {:.3}, expired {:.3}",
        ratios[1], ratios[2], ratios[3]
    ));
    lines
}

/// The medians of four calls that take turns, as parts of the first one's. They go through all their orders, since a
/// call profits from the one before it, or suffers.
fn compare(
    address: SocketAddr,
    rounds: usize,
    status: u16,
    calls: impl Fn(usize) -> [String; 4],
) -> [f64; 4] {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut times: [Vec<Duration>; 4] = Default::default();
    for round in 0..rounds {
        let calls = calls(round);
        for which in order(round) {
            let begun = Instant::now();
            stream.write_all(calls[which].as_bytes()).unwrap();
            let response = response(&mut stream);
            times[which].push(begun.elapsed());
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
            assert!(status != 200 || response.contains("\"total\":0"), "{response}");
        }
    }
    let medians = times.map(|mut times| {
        times.sort();
        times[times.len() / 2].as_secs_f64()
    });
    medians.map(|median| median / medians[0])
}

/// One of the [`ORDERS`] of four.
fn order(number: usize) -> [usize; 4] {
    let (mut left, mut number) = (vec![0, 1, 2, 3], number % ORDERS);
    [4, 3, 2, 1].map(|choices| {
        let next = left.remove(number % choices);
        number /= choices;
        next
    })
}

fn request(method: &str, path: &str, token: &Token, body: &str) -> String {
    format!(
        "{method} {path}?api_key={} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        token.expose(),
        body.len()
    )
}

fn response(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "the connection ended");
        bytes.extend_from_slice(&buffer[..count]);
        let text = std::str::from_utf8(&bytes).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() >= length.parse().unwrap() {
            return text.to_owned();
        }
    }
}

/// Two accounts with as many instances each.
async fn fill(store: &dyn Store, instances: u64) -> Tokens {
    let token = || Token::generate(TokenKind::Api);
    let tokens = Tokens { own: token(), revoked: token(), expired: token() };
    let mut file = ImportFile::new();
    let ended = Some(Timestamp::UNIX_EPOCH);
    file.account("own");
    file.token("own", &tokens.own, None, None);
    file.account("other");
    file.token("other", &tokens.revoked, None, ended);
    file.token("other", &tokens.expired, ended, None);
    for number in 1..=2 * instances {
        file.instance(if number <= instances { "own" } else { "other" }, number);
    }
    import(store, file.finish(), |_| {}).await.unwrap();
    tokens
}
