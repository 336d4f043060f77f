//! `server run`.

use std::sync::Arc;

use sallyport_server::{
    RunningServer,
    data::seed,
    log,
    store::{OpenMode, Store, sqlite::SqliteStore},
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{
    Failure, data, say,
    settings::{Arguments, LogFormat, Settings, TlsFiles},
};

/// Serves until SIGINT or SIGTERM.
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

async fn drain(running: RunningServer, settings: &Settings) -> Result<(), Failure> {
    running.drain();
    tokio::time::sleep(settings.drain_delay).await;
    let deadline = settings.drain_timeout;
    if running.close(deadline).await {
        Ok(())
    } else {
        Err(Failure::Failed(format!("requests were still under way after {deadline:?} and were aborted")))
    }
}

/// SIGINT and SIGTERM end the server, SIGHUP reloads its certificate.
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

    /// Waits for SIGINT or SIGTERM, and reloads the certificate at each SIGHUP until then.
    async fn stop(&mut self, running: &RunningServer, tls: Option<&TlsFiles>) {
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

/// Reloads the certificate. An invalid one is ignored, because the old one is better than none.
async fn renew(running: &RunningServer, tls: Option<&TlsFiles>) {
    let Some(files) = tls else {
        tracing::warn!("ignored SIGHUP: no certificate to reload, because the server speaks plain HTTP");
        return;
    };
    match files.reload() {
        Ok(identity) => {
            running.renew(&identity).await;
            tracing::info!("reloaded the certificate; new connections get it");
        }
        Err(Failure::Failed(line) | Failure::Usage(line) | Failure::FailedWithDetails(line, _)) => {
            tracing::error!("cannot reload the certificate, so the old one stays in use: {line}");
        }
    }
}
