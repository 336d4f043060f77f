//! Import, export and opening.

use std::{
    io::{BufReader, Write},
    time::Instant,
};

use jiff::Timestamp;
use sallyport_server::{
    data::{export::export, import::import},
    domain::{
        instance::{Capabilities, Id, Status},
        token::{Token, TokenKind},
    },
    store::record::{Account, InstanceRecord, Record, TokenRecord},
};

use super::{Backend, say};
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
    let begun = Instant::now();
    let loaded = import(store.as_ref(), BufReader::with_capacity(1 << 16, file), |_| {}).await.unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(loaded.instances, size);
    say(backend, "import, instances a second", format_args!("{:.0}", size as f64 / seconds));

    let begun = Instant::now();
    export(store.as_ref(), std::io::sink(), |_| {}).await.unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    say(backend, "export, instances a second", format_args!("{:.0}", size as f64 / seconds));
    drop(store);

    let begun = Instant::now();
    drop(backend.open().await);
    say(
        backend,
        "opening an existing database, ms",
        format_args!("{:.1}", begun.elapsed().as_secs_f64() * 1e3),
    );
    token
}

fn write_records(file: &mut std::fs::File, token: &Token, size: u64) {
    let mut output = std::io::BufWriter::with_capacity(1 << 16, file);
    let mut write = |record: Record| {
        serde_json::to_writer(&mut output, &record).unwrap();
        output.write_all(b"\n").unwrap();
    };
    write(Record::Account(Account { name: "big".to_owned(), real_name_verified: true }));
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
