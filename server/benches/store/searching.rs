//! A search of 500 addresses, against the bare statement on the same database.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex},
    time::Instant,
};

use sallyport_server::{
    domain::{
        address::Address,
        search::{Filters, SearchCommand},
        service::Service,
        token::Token,
    },
    store::Location,
};

use super::{Backend, figure, median};
use crate::cluster::eventually;

const ROUNDS: u64 = 200;
const ADDRESSES: u64 = 500;
const PAGES: [u32; 2] = [20, 1000];

/// Address of the instance of this number; neighbours in number lie far apart.
pub(crate) fn address(number: u64) -> IpAddr {
    Ipv6Addr::from((0x2001_0db8 << 96) | u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))).into()
}

pub(crate) async fn bench(backend: &Backend, token: &Token, size: u64) {
    let service = Service::new(backend.open().await);
    for page_size in PAGES {
        let mut ours = Vec::new();
        let mut bare = Vec::new();
        let mut bare_search = Bare::open(backend).await;
        for round in 0..ROUNDS {
            let numbers: Vec<u64> =
                (0..ADDRESSES).map(|n| 1 + (round * 7919 + n * (size / ADDRESSES)) % size).collect();
            let addresses: Vec<IpAddr> = numbers.into_iter().map(address).collect();
            let command = SearchCommand {
                addresses: addresses.iter().map(|ip| Address { ip: *ip, port: None }).collect(),
                filters: Filters::default(),
                page: 1,
                page_size,
            };
            let mut found = [0; 2];
            // Now this one first, now the other: who comes second finds what is needed nearby.
            for turn in [round % 2, 1 - round % 2] {
                let begun = Instant::now();
                if turn == 0 {
                    let page = service.search(token, command.clone()).await.unwrap();
                    ours.push(begun.elapsed().as_secs_f64());
                    assert_eq!(page.total, ADDRESSES);
                    found[0] = page.items.len();
                } else {
                    found[1] = bare_search.search(token, &addresses, page_size).await;
                    bare.push(begun.elapsed().as_secs_f64());
                }
            }
            assert_eq!(found[0], found[1]);
        }
        let ratio = median(ours.iter().zip(&bare).map(|(ours, bare)| ours / bare).collect());
        let (ours, bare) = (median(ours) * 1e3, median(bare) * 1e3);
        figure(
            backend.name,
            &format!("search of {ADDRESSES}, page of {page_size}, ms"),
            format_args!("{ours:.2} ({ratio:.2} of the bare statement, {bare:.2})"),
        );
    }
}

/// The statement by itself: bound, stepped and its columns looked at, but nothing made of them.
enum Bare {
    Sqlite(Arc<Mutex<rusqlite::Connection>>),
    Postgres(tokio_postgres::Client, tokio_postgres::Statement),
}

impl Bare {
    async fn open(backend: &Backend) -> Self {
        match backend.location.parse().unwrap() {
            Location::File(path) => {
                Self::Sqlite(Arc::new(Mutex::new(rusqlite::Connection::open(path).unwrap())))
            }
            Location::Postgres(_) => {
                let connect =
                    async || tokio_postgres::connect(&backend.location, tokio_postgres::NoTls).await;
                let (client, connection) = eventually(connect).await;
                tokio::spawn(connection);
                client.batch_execute("SET plan_cache_mode = force_generic_plan").await.unwrap();
                let sql = include_str!("../../src/store/postgres/search.sql");
                let statement = client.prepare(sql).await.unwrap();
                Self::Postgres(client, statement)
            }
        }
    }

    /// How many rows there are.
    async fn search(&mut self, token: &Token, addresses: &[IpAddr], page_size: u32) -> usize {
        let octets = addresses.iter().map(|ip| match ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        });
        match self {
            Self::Sqlite(db) => {
                let wanted: Vec<_> =
                    octets.map(|it| (format!("{:032x}", u128::from_be_bytes(it)), 0, u16::MAX)).collect();
                let db = Arc::clone(db);
                // On another thread, as every question that may block.
                let search = move || rows(&db.lock().unwrap(), &wanted, page_size);
                tokio::task::spawn_blocking(search).await.unwrap()
            }
            Self::Postgres(client, statement) => {
                let ips: Vec<Vec<u8>> = octets.map(|it| it.to_vec()).collect();
                let (lowest, highest) = (vec![0_i32; ips.len()], vec![i32::from(u16::MAX); ips.len()]);
                let digest = token.digest().as_bytes().to_vec();
                let (text, time): (Option<&str>, Option<Vec<u8>>) = (None, None);
                let rows = client
                    .query(
                        &*statement,
                        &[
                            &digest,
                            &1_i64,
                            &ips,
                            &lowest,
                            &highest,
                            &text,
                            &None::<i64>,
                            &text,
                            &text,
                            &text,
                            &time,
                            &time,
                            &i64::from(page_size),
                            &0_i64,
                        ],
                    )
                    .await
                    .unwrap();
                rows.len()
            }
        }
    }
}

fn rows(db: &rusqlite::Connection, wanted: &[(String, u16, u16)], page_size: u32) -> usize {
    let wanted = serde_json::to_string(wanted).unwrap();
    let mut statement = db.prepare_cached(include_str!("../../src/store/sqlite/search.sql")).unwrap();
    let none = rusqlite::types::Null;
    let values = rusqlite::params![1, wanted, none, none, none, none, none, none, none, page_size, 0];
    let mut rows = statement.query(values).unwrap();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        assert!((0..14).all(|column| row.get_ref(column).is_ok()));
        count += 1;
    }
    count
}
