//! `server run`.

use sallyport_server::{RunningServer, log, sandbox::Sandbox, store::OpenMode};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{
    Failure, data, say,
    settings::{Arguments, LogFormat, SandboxOutput, Settings, Source, TlsFiles},
};

/// Serves until SIGINT or SIGTERM.
pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let mut settings = Settings::try_from(arguments)?;
    let format = match settings.log_format {
        LogFormat::Human => log::Format::Text,
        LogFormat::Json => log::Format::Json,
    };
    log::start(std::mem::take(&mut settings.log), format);
    // Signals are awaited before anybody can know the address, so that none finds the server unprepared; not before a
    // database is open, which may take long.
    let (running, mut signals) = match &settings.source {
        Source::Database(location) => {
            let store = location.open(OpenMode::Existing).await?;
            let signals = Signals::new()?;
            let running = sallyport_server::start(settings.config(store))?;
            say_addresses(&running)?;
            (running, signals)
        }
        Source::Sandbox { tokens, output } => {
            let signals = Signals::new()?;
            let sandbox = Sandbox::start_with(*tokens, |config| settings.config(config.store)).await?;
            match output {
                SandboxOutput::Text => {
                    data::describe_sandbox(&sandbox).iter().try_for_each(|line| say(line))?;
                    say_addresses(sandbox.server())?;
                }
                SandboxOutput::Json => say(&serde_json::to_string(&sandbox.description())?)?,
            }
            (sandbox.into_server(), signals)
        }
    };

    signals.stop(&running, settings.tls.as_ref()).await;
    tokio::select! {
        done = drain(running, &settings) => done,
        () = signals.stopped() => Err(Failure::Failed("stopped at once by a second signal".to_owned())),
    }
}

fn say_addresses(running: &RunningServer) -> Result<(), Failure> {
    if let Some(admin) = running.admin_address() {
        say(&format!("operator's pages on http://{admin}"))?;
    }
    say(&format!("listening on {}", running.base_url()))
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
