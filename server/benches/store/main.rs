//! What the server costs above what it stands on: a bare Dropshot handler, and the bare SQL statement. Figures of one run
//! are compared with each other only; a machine's speed is in both sides of a ratio.
//!
//! `cargo bench -p sallyport-server --bench store -- [INSTANCES]…`
//!
//! `cargo test --bench store` only shows that it still runs: a small account, and one round of each.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench ends at the first fault, and prints its figures"
)]

#[path = "../../tests/store/cluster.rs"]
#[expect(dead_code, reason = "no bench kills its database")]
mod cluster;
mod extraction;
mod records;
mod searching;
#[path = "../../tests/support/server_process.rs"]
mod server_process;
mod transfer;

use std::{fmt::Display, path::Path, sync::Arc};

use sallyport_server::store::{Location, OpenMode, Store};

/// Instances of an account, unless others are asked for.
const SIZES: [u64; 2] = [100_000, 1_000_000];

/// Instances of a run that only shows that the bench works: as many as its largest page.
const SMALL: u64 = 1000;

/// A database of the bench.
pub(crate) struct Backend {
    pub(crate) name: &'static str,
    /// What `--db` would be given.
    pub(crate) location: String,
}

impl Backend {
    pub(crate) async fn open(&self) -> Arc<Store> {
        let location: Location = self.location.parse().unwrap();
        cluster::eventually(async || location.open(OpenMode::Create).await).await
    }

    /// Waits for what PostgreSQL does by itself, but not at once, after many rows came: it notes which pages everybody
    /// sees whole, so that an index-only scan is possible.
    pub(crate) async fn settle(&self) {
        if let Location::Postgres(_) = self.location.parse().unwrap() {
            let connect = async || tokio_postgres::connect(&self.location, tokio_postgres::NoTls).await;
            let (client, connection) = cluster::eventually(connect).await;
            tokio::spawn(connection);
            client.batch_execute("VACUUM ANALYZE instances").await.unwrap();
        }
    }
}

fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = match sizes {
        _ if !is_measuring() => vec![SMALL],
        sizes if sizes.is_empty() => SIZES.to_vec(),
        sizes => sizes,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name(extraction::SERVER_THREAD)
        .enable_all()
        .build()
        .unwrap();
    for size in &sizes {
        let folder = tempfile::tempdir().unwrap();
        let cluster = cluster::Cluster::start();
        let sqlite =
            Backend { name: "SQLite", location: folder.path().join("bench.db").to_str().unwrap().to_owned() };
        let postgres =
            cluster.as_ref().map(|cluster| Backend { name: "PostgreSQL", location: cluster.url("postgres") });
        if postgres.is_none() {
            println!("SKIPPED on PostgreSQL: it is not installed");
        }
        println!("\n{size} instances");
        for backend in [Some(sqlite), postgres].into_iter().flatten() {
            let token = runtime.block_on(transfer::bench(&backend, *size));
            runtime.block_on(searching::bench(&backend, &token, *size));
            let extraction = extraction::Bench::start(&runtime, &backend);
            extraction.run(1, "");
            extraction.run(100, "");
            extraction.stop();
        }
    }
    // A log can be begun once in a process, and not be ended.
    tracing_subscriber::fmt().with_writer(std::io::sink).with_max_level(tracing::Level::INFO).init();
    println!();
    let folder = tempfile::tempdir().unwrap();
    let location = folder.path().join("log.db").to_str().unwrap().to_owned();
    let backend = Backend { name: "SQLite", location };
    let extraction = extraction::Bench::start(&runtime, &backend);
    extraction.run(1, " with a line of log");
    extraction.stop();
}

/// Whether this is `cargo bench`, which passes this argument, and not `cargo test`.
fn is_measuring() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// The rounds of a measurement: so many, or one where nothing is measured.
pub(crate) fn rounds(measured: u64) -> u64 {
    if is_measuring() { measured } else { 1 }
}

/// One line of figures.
pub(crate) fn figure(backend: &str, what: &str, figure: impl Display) {
    println!("{backend:<10} {what:<52} {figure}");
}

/// Microseconds of CPU that the thread of this folder has used, if it is still there.
pub(crate) fn cpu_of(thread: &Path) -> Option<f64> {
    let times = std::fs::read_to_string(thread.join("schedstat")).ok()?;
    // The first number is the time on the processor, in nanoseconds.
    Some(times.split_whitespace().next()?.parse::<f64>().ok()? / 1e3)
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
