//! Import, export and opening.

use std::{fs, process::Command, time::Instant};

use sallyport_server::{
    data::import::import,
    domain::token::{Token, TokenKind},
    store::RecordKind,
};

use super::{Backend, figure, median, rounds};
use crate::{records::import_file, server_process::ServerProcess};

/// Fills the database with an account of that many instances, and gives its token.
pub(crate) async fn bench(backend: &Backend, size: u64) -> Token {
    let token = Token::generate(TokenKind::Api);
    let file = import_file("big", &token, size);
    let store = backend.open().await;
    let before = memory("VmRSS");
    // Forgets the highest memory so far.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let begun = Instant::now();
    let loaded = import(store.as_ref(), file).await.unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(loaded[RecordKind::Instance as usize], size);
    figure(
        backend.name,
        "import, instances a second",
        format_args!(
            "{:.0} ({:.0} MiB more memory at most)",
            size as f64 / seconds,
            memory("VmHWM") - before
        ),
    );

    let begun = Instant::now();
    store.export(std::io::sink()).await.unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    figure(backend.name, "export, instances a second", format_args!("{:.0}", size as f64 / seconds));
    drop(store);

    let starts = (0..rounds(9)).map(|_| start_up(backend)).collect();
    figure(backend.name, "start-up, ms", format_args!("{:.1}", median(starts)));
    token
}

/// Milliseconds from the start of the program until it listens.
fn start_up(backend: &Backend) -> f64 {
    let begun = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_server"));
    command.args(["run", "--listen", "127.0.0.1:0", "--log", "off"]).env("SALLYPORT_DB", &backend.location);
    let server = ServerProcess::start(&mut command);
    let time = begun.elapsed();
    assert!(server.address.port() > 0 && server.printed.is_empty());
    time.as_secs_f64() * 1e3
}

/// A line of what Linux tells of this process's memory, in MiB.
fn memory(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}
