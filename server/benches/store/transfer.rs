//! Import, export and opening.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write},
    process::{Command, Stdio},
    time::Instant,
};

use jiff::Timestamp;
use sallyport_server::{
    data::{export::export, import::import},
    domain::{
        instance::{Capabilities, Id, Status},
        token::{Token, TokenKind},
    },
    store::record::{AccountRecord, InstanceRecord, Record, TokenRecord},
};

use super::{Backend, figure, median};
use crate::searching::address;

/// The sample data has its ids below this one.
const SAMPLE_IDS: i64 = 1 << 40;

/// Fills the database with an account of that many instances, and gives its token.
pub(crate) async fn bench(backend: &Backend, size: u64) -> Token {
    let token = Token::generate(TokenKind::Api);
    let mut file = tempfile::tempfile().unwrap();
    write_records(&mut file, &token, size);
    std::io::Seek::rewind(&mut file).unwrap();

    let store = backend.open().await;
    let before = memory("VmRSS");
    // Forgets the highest memory so far.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let begun = Instant::now();
    let loaded = import(store.as_ref(), BufReader::with_capacity(1 << 16, file), |_| {}).await.unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(loaded.instances, size);
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
    export(store.as_ref(), std::io::sink(), |_| {}).await.unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    figure(backend.name, "export, instances a second", format_args!("{:.0}", size as f64 / seconds));
    drop(store);

    let starts = (0..9).map(|_| start_up(backend)).collect();
    figure(backend.name, "start-up, ms", format_args!("{:.1}", median(starts)));
    token
}

/// Milliseconds from the start of the program until it listens.
fn start_up(backend: &Backend) -> f64 {
    let begun = Instant::now();
    let mut server = Command::new(env!("CARGO_BIN_EXE_server"))
        .args(["run", "--listen", "127.0.0.1:0", "--log", "off"])
        .env("SALLYPORT_DB", &backend.location)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let time = begun.elapsed();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(line.starts_with("listening"), "{line}");
    time.as_secs_f64() * 1e3
}

/// A line of what Linux tells of this process's memory, in MiB.
fn memory(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

fn write_records(file: &mut std::fs::File, token: &Token, size: u64) {
    let mut output = std::io::BufWriter::with_capacity(1 << 16, file);
    let mut write = |record: Record| {
        serde_json::to_writer(&mut output, &record).unwrap();
        output.write_all(b"\n").unwrap();
    };
    write(Record::Account(AccountRecord { name: "big".to_owned(), real_name_verified: true }));
    write(Record::Token(TokenRecord {
        account: "big".to_owned(),
        sha256: token.digest(),
        kind: TokenKind::Api,
        created_at: Timestamp::UNIX_EPOCH,
        expires_at: None,
        revoked_at: None,
    }));
    for n in 1..=size {
        write(Record::Instance(Box::new(InstanceRecord {
            account: "big".to_owned(),
            order_no: Some(format!("SO-{}", n / 100)),
            instance_id: Id::new(SAMPLE_IDS + n.cast_signed()).unwrap(),
            offer_id: Id::new(1).unwrap(),
            status: Status::Active,
            ip: address(n),
            port: 20_001,
            protocols: vec!["http".to_owned(), "socks5".to_owned()],
            country_code: "USA".to_owned(),
            city_code: "NYC".to_owned(),
            isp_type: 1,
            expires_at: None,
            activated_at: Some(Timestamp::UNIX_EPOCH),
            capabilities: Capabilities::default(),
            group_id: None,
            username: Some("user".to_owned()),
            password: None,
        })));
    }
    output.flush().unwrap();
}
