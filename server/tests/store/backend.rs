//! New databases to test on: a SQLite file, or a database on a PostgreSQL server that all tests share.

use std::{
    io::Write as _,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use sallyport_server::store::{
    Location, OpenMode, Store,
    postgres::{self, Limits},
    sqlite,
};
use tokio_postgres::NoTls;

use super::cluster::{Cluster, eventually};

/// A database that nobody else uses.
pub(crate) enum Database {
    Sqlite { folder: tempfile::TempDir },
    Postgres { url: String },
}

impl Database {
    pub(crate) fn sqlite() -> Option<Self> {
        Some(Self::Sqlite { folder: tempfile::tempdir().unwrap() })
    }

    /// An empty database, or `None`, said aloud, where there is no server to be had.
    pub(crate) async fn postgres() -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let Some(server) = &*SERVER else {
            // Past the test harness, which shows what is printed only for tests that fail.
            let _ = writeln!(std::io::stderr(), "SKIPPED on PostgreSQL: it is not installed");
            return None;
        };
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("sallyport_test_{}_{number}", std::process::id());
        eventually(async || execute_at(&server.url("postgres"), &format!("CREATE DATABASE {name}")).await)
            .await;
        Some(Self::Postgres { url: server.url(&name) })
    }

    /// What `--db` would be given.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Sqlite { folder } => folder.path().join("test.db").display().to_string(),
            Self::Postgres { url } => url.clone(),
        }
    }

    /// A store on it, one of perhaps several.
    pub(crate) async fn open(&self) -> Arc<Store> {
        self.open_within(Limits::default()).await
    }

    pub(crate) async fn open_within(&self, limits: Limits) -> Arc<Store> {
        let location: Location = self.name().parse().unwrap();
        location.open_within(OpenMode::Create, limits).await.unwrap()
    }

    /// Changes it behind the store's back, as another program would, and waits until that is in force. The SQL must suit
    /// both.
    pub(crate) async fn execute(&self, sql: &str) {
        match self {
            Self::Sqlite { .. } => {
                rusqlite::Connection::open(self.name()).unwrap().execute_batch(sql).unwrap();
                tokio::time::sleep(sqlite::LEASE).await;
            }
            Self::Postgres { url } => {
                execute_at(url, sql).await.unwrap();
                tokio::time::sleep(postgres::LEASE).await;
            }
        }
    }
}

/// A connection of our own.
pub(crate) async fn connect(url: &str) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(async move {
        // It tells of a server that went away, which the client's calls tell as well.
        let _ = connection.await;
    });
    Ok(client)
}

async fn execute_at(url: &str, sql: &str) -> Result<(), tokio_postgres::Error> {
    connect(url).await?.batch_execute(sql).await
}

static SERVER: LazyLock<Option<Cluster>> = LazyLock::new(Cluster::start);

/// Makes a test of each function, for each backend. The function is given an empty database.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let database = crate::store::backend::Database::sqlite().unwrap();
                super::$name(database).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if let Some(database) = crate::store::backend::Database::postgres().await {
                    super::$name(database).await;
                }
            })+
        }
    };
}

pub(crate) use on_both;
