//! `server run`.

use sallyport_server::{RunningServer, log, sandbox::Sandbox, store::OpenMode};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::Level;

use super::{
    Failure, data, print_line,
    settings::{Arguments, LogFormat, SandboxOutput, Settings, Source, TlsFiles, seconds},
};

/// Serves until SIGINT or SIGTERM.
pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let mut settings = Settings::new(arguments)?;
    let format = match settings.arguments.log_format {
        LogFormat::Human => log::Format::Text,
        LogFormat::Json => log::Format::Json,
    };
    log::start(std::mem::take(&mut settings.arguments.log), format);
    match serve(&settings, format).await {
        Ok(()) => {
            tracing::info!("stopped");
            Ok(())
        }
        // Every line is a JSON object then, unless the filter drops it.
        Err(Failure::Failed(line)) if format == log::Format::Json && tracing::enabled!(Level::ERROR) => {
            tracing::error!("{line}");
            Err(Failure::Logged)
        }
        failed => failed,
    }
}

async fn serve(settings: &Settings, format: log::Format) -> Result<(), Failure> {
    // Signals are handled before the address is known, so that none is missed, but after the database is open, because
    // opening it may take long and a signal must end that.
    let (running, mut signals) = match &settings.source {
        Source::Database(location) => {
            let store = location.open(OpenMode::Existing).await?;
            let signals = Signals::new()?;
            let running = sallyport_server::start(settings.config(store))?;
            if format == log::Format::Text {
                print_addresses(&running)?;
            }
            (running, signals)
        }
        Source::Sandbox { tokens, output } => {
            let signals = Signals::new()?;
            let sandbox = Sandbox::start_with(*tokens, |config| settings.config(config.store)).await?;
            match output {
                SandboxOutput::Text => {
                    data::describe_sandbox(&sandbox).iter().try_for_each(|line| print_line(line))?;
                    print_addresses(sandbox.server())?;
                }
                SandboxOutput::Json => print_line(&serde_json::to_string(&sandbox.description())?)?,
            }
            (sandbox.into_server(), signals)
        }
    };
    if format == log::Format::Json {
        address_lines(&running).iter().for_each(|line| tracing::info!("{line}"));
    }

    let signal = signals.stop(&running, settings.tls.as_ref()).await;
    tracing::info!("{signal}: no new requests are accepted after the drain delay");
    tokio::select! {
        done = drain(running, settings) => done,
        signal = signals.stopped() => Err(Failure::Failed(format!("stopped at once by a second signal, {signal}"))),
    }
}

fn print_addresses(running: &RunningServer) -> Result<(), Failure> {
    address_lines(running).iter().try_for_each(|line| print_line(line))
}

fn address_lines(running: &RunningServer) -> Vec<String> {
    let admin = running.admin_address().map(|admin| format!("operator's pages on http://{admin}"));
    admin.into_iter().chain([format!("listening on {}", running.base_url())]).collect()
}

async fn drain(running: RunningServer, settings: &Settings) -> Result<(), Failure> {
    running.drain();
    tokio::time::sleep(seconds(settings.arguments.drain_delay)).await;
    let deadline = seconds(settings.arguments.drain_timeout);
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

    /// Waits for SIGINT or SIGTERM, and reloads the certificate at each SIGHUP.
    async fn stop(&mut self, running: &RunningServer, tls: Option<&TlsFiles>) -> &'static str {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.hang_up.recv() => renew(running, tls).await,
            }
        }
    }

    async fn stopped(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

/// Reloads the certificate. If the new one is invalid, the old one stays in use.
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
        Err(error) => tracing::error!("cannot reload the certificate, so the old one stays in use: {error}"),
    }
}
