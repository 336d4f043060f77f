//! `server run`.

use std::sync::Arc;

use sallyport_server::{
    Running,
    data::seed,
    log,
    store::{OpenMode, Store, sqlite::SqliteStore},
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{
    Failure, data, say,
    settings::{Arguments, LogFormat, Settings, TlsFiles},
};

/// Serves until a signal comes.
pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let mut settings = Settings::try_from(arguments)?;
    let format = match settings.log_format {
        LogFormat::Human => log::Format::Text,
        LogFormat::Json => log::Format::Json,
    };
    log::start(std::mem::take(&mut settings.log), format);
    let store: Arc<dyn Store> = match settings.database.take() {
        Some(location) => location.open(OpenMode::Existing).await?,
        None => {
            let store = SqliteStore::temporary()?;
            let sample = seed::seed(&store).await?;
            data::describe(&sample).iter().try_for_each(|line| say(line))?;
            Arc::new(store)
        }
    };
    // Before anybody can know the address, so that no signal finds the server unprepared.
    let mut signals = Signals::new()?;
    let running = sallyport_server::start(settings.config(store))?;
    if let Some(admin) = running.admin_address() {
        say(&format!("operator's pages on http://{admin}"))?;
    }
    say(&format!("listening on {}", running.base_url()))?;

    signals.stop(&running, settings.tls.as_ref()).await;
    tokio::select! {
        done = drain(running, &settings) => done,
        () = signals.stopped() => Err(Failure::Failed("stopped at once by a second signal".to_owned())),
    }
}

async fn drain(running: Running, settings: &Settings) -> Result<(), Failure> {
    running.drain();
    tokio::time::sleep(settings.drain_delay).await;
    let deadline = settings.drain_timeout;
    if running.close(deadline).await {
        Ok(())
    } else {
        Err(Failure::Failed(format!("some calls did not end within {deadline:?} and were cut off")))
    }
}

/// SIGINT and SIGTERM end the server, SIGHUP shows it a new certificate.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> Result<Self, Failure> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the end, and renews the certificate as often as it is asked to.
    async fn stop(&mut self, running: &Running, tls: Option<&TlsFiles>) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hang_up.recv() => renew(running, tls).await,
            }
        }
    }

    async fn stopped(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// A certificate that cannot be used changes nothing: the old one is better than none.
async fn renew(running: &Running, tls: Option<&TlsFiles>) {
    let Some(files) = tls else {
        tracing::warn!("SIGHUP renews the certificate, but the server speaks plain http");
        return;
    };
    match files.reload() {
        Ok(identity) => {
            running.renew(&identity).await;
            tracing::info!("the certificate was read again; new connections get it");
        }
        Err(Failure::Failed(line) | Failure::Usage(line) | Failure::FailedWithDetails(line, _)) => {
            tracing::error!("the certificate stays as it is: {line}");
        }
    }
}
