//! Searches of 500 addresses, against the bare statement on the same database.

use std::{
    fmt,
    net::IpAddr,
    rc::Rc,
    sync::{Arc, Mutex},
    time::Instant,
};

use rusqlite::{config::DbConfig, types::Value, vtab::array};
use sallyport_server::{
    domain::{address::Address, search::SearchQuery, service::Service, token::Token},
    store::{Location, postgres, search_sql, sqlite},
};

use super::{Backend, figure, median, rounds};
use crate::{cluster::eventually, records::address};

const ROUNDS: u64 = 200;
const ADDRESSES: u64 = 500;
const PAGES: [u32; 2] = [20, 1000];

pub(crate) async fn bench(backend: &Backend, token: &Token, size: u64) {
    backend.settle().await;
    let service = Service::new(backend.open().await);
    let all = Addresses::new(size);
    for apart in [Spacing::Far, Spacing::Near] {
        for page_size in PAGES {
            let mut ours = Vec::new();
            let mut bare = Vec::new();
            let mut bare_search = BareStatement::open(backend).await;
            for round in 0..rounds(ROUNDS) {
                // Each has addresses of its own, as far as there are enough, so that neither finds nearby what the
                // other has just read; and they take turns in which they get and in who comes first.
                let part = round % 2;
                let [mine, its] = [part, 1 - part].map(|part| all.some(apart, round, part));
                let command = SearchQuery {
                    addresses: mine.iter().map(|ip| Address { ip: *ip, port: None }).collect(),
                    filters: Vec::new(),
                    page: 1,
                    page_size,
                };
                let mut rows = [0; 2];
                let first = round / 2 % 2;
                for turn in [first, 1 - first] {
                    let begun = Instant::now();
                    if turn == 0 {
                        let page = service.search(token, command.clone()).await.unwrap();
                        ours.push(begun.elapsed().as_secs_f64());
                        assert_eq!(page.total, ADDRESSES as i64);
                        rows[0] = page.items.len();
                    } else {
                        rows[1] = bare_search.search(token, &its, page_size).await;
                        bare.push(begun.elapsed().as_secs_f64());
                    }
                }
                assert_eq!(rows[0], rows[1]);
            }
            let (ours, bare) = (median(ours) * 1e3, median(bare) * 1e3);
            let ratio = ours / bare;
            figure(
                backend.name,
                &format!("search of {ADDRESSES} {apart}, page of {page_size}, ms"),
                format_args!("{ours:.2} ({ratio:.2} of the bare statement, {bare:.2})"),
            );
        }
    }
}

/// How the addresses of a search lie.
#[derive(Clone, Copy)]
enum Spacing {
    /// As far apart as they can, each in a page of the index of its own.
    Far,
    /// Next to each other, as the addresses of one network.
    Near,
}

impl fmt::Display for Spacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Far => "far apart",
            Self::Near => "in a row",
        })
    }
}

/// All addresses of the account, ascending.
struct Addresses(Vec<IpAddr>);

impl Addresses {
    fn new(size: u64) -> Self {
        let mut all: Vec<IpAddr> = (1..=size).map(address).collect();
        all.sort_unstable();
        Self(all)
    }

    /// Those of this round, one of two parts of them that lie as far from each other as they can.
    fn some(&self, apart: Spacing, round: u64, part: u64) -> Vec<IpAddr> {
        let size = self.0.len() as u64;
        let (step, between) = match apart {
            Spacing::Far => (size / ADDRESSES, size / ADDRESSES / 2),
            Spacing::Near => (1, size / 2),
        };
        let begin = round * 7919 + part * between;
        (0..ADDRESSES).map(|n| self.0[((begin + n * step) % size) as usize]).collect()
    }
}

/// The statement by itself: bound, stepped and its columns looked at, but nothing made of them.
enum BareStatement {
    Sqlite(Arc<Mutex<rusqlite::Connection>>),
    Postgres(tokio_postgres::Client, tokio_postgres::Statement),
}

impl BareStatement {
    async fn open(backend: &Backend) -> Self {
        match backend.location.parse().unwrap() {
            Location::File(path) => {
                let db = rusqlite::Connection::open(path).unwrap();
                array::load_module(&db).unwrap();
                db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).unwrap();
                Self::Sqlite(Arc::new(Mutex::new(db)))
            }
            Location::Postgres(_) => {
                let connect =
                    async || tokio_postgres::connect(&backend.location, tokio_postgres::NoTls).await;
                let (client, connection) = eventually(connect).await;
                tokio::spawn(connection);
                client.batch_execute("SET plan_cache_mode = force_generic_plan").await.unwrap();
                // As for every search that has no filter.
                let sql = search_sql(&postgres::DIALECT, false);
                let statement = client.prepare(&sql).await.unwrap();
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
                    octets.map(|it| Value::Blob([&it[..], b"0000065535"].concat())).collect();
                let db = Arc::clone(db);
                // On another thread, as every question that may block.
                let digest = token.digest();
                let search = move || rows(&db.lock().unwrap(), &digest.0, wanted, page_size);
                tokio::task::spawn_blocking(search).await.unwrap()
            }
            Self::Postgres(client, statement) => {
                let ips: Vec<Vec<u8>> = octets.map(|it| it.to_vec()).collect();
                let (lowest, highest) = (vec![0_i32; ips.len()], vec![i32::from(u16::MAX); ips.len()]);
                let digest = token.digest().0.to_vec();
                let rows = client
                    .query(&*statement, &[&digest, &i64::from(page_size), &0_i64, &ips, &lowest, &highest])
                    .await
                    .unwrap();
                rows.len()
            }
        }
    }
}

fn rows(db: &rusqlite::Connection, digest: &[u8], wanted: Vec<Value>, page_size: u32) -> usize {
    let sql = search_sql(&sqlite::DIALECT, false).replace('$', "?");
    let mut statement = db.prepare_cached(&sql).unwrap();
    statement.raw_bind_parameter(1, digest).unwrap();
    statement.raw_bind_parameter(2, page_size).unwrap();
    statement.raw_bind_parameter(3, 0).unwrap();
    statement.raw_bind_parameter(4, Rc::new(wanted)).unwrap();
    let mut rows = statement.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        assert!((0..18).all(|column| row.get_ref(column).is_ok()));
        count += 1;
    }
    count
}
