//! Many connections at once: a server in a process of its own, mixed operations at a steady rate, and how long responses
//! take, counted from the moment at which a call was due. Ends with an error when one call does not succeed.
//!
//! `cargo bench -p sallyport-server --bench load -- [--minutes N] [--rate N] [CONNECTIONS]…`; `cargo test --bench load` only
//! shows that it still runs.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench ends at the first fault, and prints its figures"
)]

mod calls;
#[path = "../../tests/store/cluster.rs"]
#[expect(dead_code, reason = "no bench kills its database")]
mod cluster;
#[path = "../../tests/support/server_process.rs"]
mod server_process;

use std::{
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Parser;
use sallyport_server::{
    data::seed::seed,
    store::{Location, OpenMode},
};
use tokio::{io::BufStream, net::TcpStream};

use self::{calls::Calls, server_process::ServerProcess};

#[derive(Parser)]
struct Arguments {
    /// Connections at once; one run for each number.
    #[arg(default_values_t = [64, 512, 4096])]
    connections: Vec<u32>,
    /// Length of a run; without it ten seconds.
    #[arg(long)]
    minutes: Option<u64>,
    /// Calls a second, of all connections together.
    #[arg(long, default_value_t = 1000)]
    rate: u32,
    /// What cargo adds.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let (arguments, span) = match is_measuring {
        true => {
            let arguments = Arguments::parse();
            let span = arguments.minutes.map_or(10, |minutes| 60 * minutes);
            (arguments, Duration::from_secs(span))
        }
        false => (Arguments::parse_from(["load", "64"]), Duration::from_secs(1)),
    };
    let folder = tempfile::tempdir().unwrap();
    let cluster = cluster::Cluster::start();
    if cluster.is_none() {
        println!("SKIPPED on PostgreSQL: it is not installed");
    }
    let file = folder.path().join("load.db").to_str().unwrap().to_owned();
    let postgres = cluster.as_ref().map(|cluster| ("PostgreSQL", cluster.url("postgres")));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!(
        "{:<10} {:>11} {:>8} p50, p99, p99.9, longest in ms; memory in MiB: begin, end",
        "", "connections", "calls"
    );
    for (name, database) in [Some(("SQLite", file)), postgres].into_iter().flatten() {
        runtime.block_on(async {
            let location: Location = database.parse().unwrap();
            let store = cluster::eventually(async || location.open(OpenMode::Create).await).await;
            let calls = Arc::new(Calls::new(seed(store.as_ref()).await.unwrap()));
            drop(store);
            for connections in &arguments.connections {
                run(name, &database, &calls, *connections, arguments.rate, span).await;
            }
        });
    }
}

async fn run(name: &str, database: &str, calls: &Arc<Calls>, connections: u32, rate: u32, span: Duration) {
    let server = start(database);
    let mut streams = Vec::new();
    for _ in 0..connections {
        streams.push(BufStream::new(TcpStream::connect(server.address).await.unwrap()));
    }
    // Each connection in its turn, so that together they keep the rate.
    let gap = Duration::from_secs(1) / rate;
    // A warm-up of a few calls for each kind, or one turn of the connections.
    let warm = gap * connections.max(100);
    let begun = Instant::now() + Duration::from_millis(100);
    let callers: Vec<_> = streams
        .into_iter()
        .zip(0_u32..)
        .map(|(mut stream, place)| {
            let calls = Arc::clone(calls);
            tokio::spawn(async move {
                let mut times = Vec::new();
                let mut due = begun + gap * place;
                while due < begun + warm + span {
                    tokio::time::sleep_until(due.into()).await;
                    calls.next(&mut stream).await;
                    if due >= begun + warm {
                        times.push(due.elapsed());
                    }
                    due += gap * connections;
                }
                times
            })
        })
        .collect();
    tokio::time::sleep_until((begun + warm).into()).await;
    let before = memory(&server);
    let mut times = Vec::new();
    for caller in callers {
        times.extend(caller.await.unwrap());
    }
    times.sort();
    let [half, most, nearly_all, longest] = [0.5, 0.99, 0.999, 1.0].map(|part| {
        let within = (times.len() as f64 * part).ceil() as usize;
        times[within.max(1) - 1].as_secs_f64() * 1e3
    });
    println!(
        "{name:<10} {connections:>11} {:>8} {half:.2}, {most:.2}, {nearly_all:.2}, {longest:.2}; {before:.1}, {:.1}",
        times.len(),
        memory(&server),
    );
}

fn start(database: &str) -> ServerProcess {
    let mut command = Command::new(env!("CARGO_BIN_EXE_server"));
    command.args(["run", "--listen", "127.0.0.1:0", "--log", "off", "--max-in-flight", "8192"]);
    let server = ServerProcess::start(command.env("SALLYPORT_DB", database));
    assert_eq!(server.printed, "");
    server
}

/// What the server has in memory, in MiB.
fn memory(server: &ServerProcess) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
}
