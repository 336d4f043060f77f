//! Whether time tells what the responses do not: calls that must look alike, taking turns on one connection, and the ratios of their
//! median times. The first ratio of each table is of a call with another of its kind, and shows how much of the others is noise.

use std::{
    io::Write as _,
    net::{IpAddr, SocketAddr, TcpStream},
    time::Instant,
};

use jiff::Timestamp;
use sallyport_server::{
    Config,
    api::generated::{ListStaticGroups, SearchStaticInstances},
    data::import::import,
    domain::token::{Token, TokenKind},
    edge::operation::Operation,
    start,
};

use super::{Backend, figure, median, records, records::ImportFile, rounds, wire};

/// Instances before this one are of other benches.
const FIRST: u64 = 1 << 32;

/// In how many orders four calls can follow each other.
const ORDERS: u64 = 24;

/// Compares the calls of an account that has as many instances as another one.
pub(crate) async fn bench(backend: &Backend, size: u64) {
    let [own, revoked, expired] = [(); 3].map(|()| Token::generate(TokenKind::Api));
    let ended = Some(Timestamp::UNIX_EPOCH);
    let mut file = ImportFile::new();
    file.account("own");
    file.token("own", &own, None, None);
    file.account("other");
    file.token("other", &revoked, None, ended);
    file.token("other", &expired, ended, None);
    for number in 1..=2 * size {
        file.instance(if number <= size { "own" } else { "other" }, FIRST + number);
    }
    let store = backend.open().await;
    import(store.as_ref(), file.finish(), |_| {}).await.unwrap();
    let running = start(Config::loopback(store)).unwrap();
    let server = running.address();
    let name = backend.name;
    let measure = move || {
        // Numbers up to the first bound are ours, up to the second the other account's, and nobody has those above.
        for (batch, filter, how) in [
            (1, "", ""),
            (500, "", ""),
            (1, ",\"orderNo\":\"none\"", " with a filter"),
            (500, ",\"orderNo\":\"none\"", " with a filter"),
        ] {
            let search = |first: u64, filter: &str| {
                let ips: Vec<IpAddr> =
                    (0..batch).map(|n| records::address(FIRST + first + n * (size / batch))).collect();
                let body = format!("{{\"ips\":{}{filter}}}", serde_json::to_string(&ips).unwrap());
                request("POST", SearchStaticInstances::PATH, &own, &body)
            };
            let calls = |round: u64| {
                let round = round % (size / batch) + 1;
                let nobodys = |part| search(part * size + round, filter);
                [nobodys(2), nobodys(3), search(size + round, filter), search(round, ",\"orderNo\":\"none\"")]
            };
            let [_, unknown, foreign, filtered] = compare(server, 200, calls);
            let ratios = format_args!("unknown {unknown:.3}, foreign {foreign:.3}, own {filtered:.3}");
            figure(name, &format!("search of {batch}{how}, of an unknown one"), ratios);
        }
        let groups = |token: &Token| request("GET", ListStaticGroups::PATH, token, "");
        let unknown = || groups(&Token::generate(TokenKind::Api));
        let calls = |_| [unknown(), unknown(), groups(&revoked), groups(&expired)];
        let [_, unknown, revoked, expired] = compare(server, 401, calls);
        let ratios = format_args!("unknown {unknown:.3}, revoked {revoked:.3}, expired {expired:.3}");
        figure(name, "groups, of an unknown token", ratios);
    };
    tokio::task::spawn_blocking(measure).await.unwrap();
}

/// The median times of four calls, as parts of the first one's. They go through all their orders, since a call profits from the one
/// before it, or suffers.
fn compare(server: SocketAddr, status: u16, calls: impl Fn(u64) -> [String; 4]) -> [f64; 4] {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut times: [Vec<f64>; 4] = Default::default();
    for round in 0..ORDERS * rounds(42) {
        let calls = calls(round);
        for which in order(round as usize) {
            let begun = Instant::now();
            stream.write_all(calls[which].as_bytes()).unwrap();
            let response = wire::read(&mut stream);
            times[which].push(begun.elapsed().as_secs_f64());
            assert_eq!(response.status, status, "{response:?}");
            assert!(status != 200 || response.body.contains("\"total\":0"), "{response:?}");
        }
    }
    let medians = times.map(median);
    medians.map(|median| median / medians[0])
}

/// One of the [`ORDERS`] of four.
fn order(mut number: usize) -> [usize; 4] {
    let mut left = vec![0, 1, 2, 3];
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
