//! `server run`.

use std::{ffi::OsString, net::SocketAddr, sync::Arc, time::Duration};

use sallyport_server::{
    Config,
    data::seed,
    store::{OpenMode, Store, sqlite::SqliteStore},
};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::{Failure, data, location, say};

/// How long calls that are under way may take once a signal has come.
const DRAIN_DEADLINE: Duration = Duration::from_secs(10);

/// What `run` is told.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// File or postgres:// URL of the database; without one, sample data that is gone when the server ends.
    #[arg(long, value_name = "FILE|URL", env = "SALLYPORT_DB", hide_env_values = true)]
    db: Option<OsString>,
    /// Address to listen on. Port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// What is logged on standard error, for instance `info` or `sallyport_server=debug`.
    #[arg(long, value_name = "FILTER", env = "SALLYPORT_LOG", default_value = "info")]
    log: EnvFilter,
}

/// Serves until a signal comes.
pub(super) async fn run(Arguments { db, listen, log }: Arguments) -> Result<(), Failure> {
    if !listen.ip().is_loopback() {
        return Err(Failure::Usage(format!(
            "{listen} is not a loopback address; tokens must not travel over plain http, so listen on 127.0.0.1 or \
             [::1] and put a proxy that speaks https in front"
        )));
    }
    tracing_subscriber::fmt().with_env_filter(log).with_writer(std::io::stderr).init();

    let store: Arc<dyn Store> = match db {
        Some(db) => location(&db)?.open(OpenMode::Existing).await?,
        None => {
            let store = SqliteStore::temporary()?;
            let sample = seed::seed(&store).await?;
            data::describe(&sample).iter().try_for_each(|line| say(line))?;
            Arc::new(store)
        }
    };
    // Before anybody can know the address, so that no signal finds the server unprepared.
    let mut stop = Stop::new()?;
    let running = sallyport_server::start(Config { listen, ..Config::loopback(store) })?;
    say(&format!("listening on {}", running.base_url()))?;

    stop.wanted().await;
    tokio::select! {
        closed = running.close(DRAIN_DEADLINE) => if closed {
            Ok(())
        } else {
            Err(Failure::Failed(format!("some calls did not end within {DRAIN_DEADLINE:?} and were cut off")))
        },
        () = stop.wanted() => Err(Failure::Failed("stopped at once by a second signal".to_owned())),
    }
}

/// SIGINT and SIGTERM.
struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    fn new() -> Result<Self, Failure> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn wanted(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
