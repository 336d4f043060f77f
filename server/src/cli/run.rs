//! `server run`.

use sallyport_server::{RunningServer, edge::tls::Identity, log, sandbox::Sandbox, store::OpenMode};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::Level;

use super::{
    Failure, data, location, print_line,
    settings::{Arguments, SandboxOutput, seconds},
};

/// Serves until SIGINT or SIGTERM.
pub(super) async fn run(mut arguments: Arguments) -> Result<(), Failure> {
    arguments.check()?;
    let tls = arguments.identity().map_err(|error| Failure::Usage(error.to_string()))?;
    log::start(std::mem::take(&mut arguments.log), arguments.log_format);
    for warning in arguments.warnings() {
        tracing::warn!("{warning}");
    }
    match serve(&arguments, tls).await {
        // Every line is a JSON object then, unless the filter drops it.
        Err(Failure::Failed(line))
            if arguments.log_format == log::Format::Json && tracing::enabled!(Level::ERROR) =>
        {
            tracing::error!("{line}");
            Err(Failure::Logged)
        }
        ended => ended,
    }
}

async fn serve(arguments: &Arguments, tls: Option<Identity>) -> Result<(), Failure> {
    let database = arguments.db.as_deref().map(location).transpose()?;
    let is_text = arguments.log_format != log::Format::Json;
    // Signals are handled before the address is known, so that none is missed, but after the database is open, because
    // opening it may take long and a signal must end that.
    let (running, mut signals) = match database {
        Some(location) => {
            let store = location.open(OpenMode::Existing).await?;
            let signals = Signals::new()?;
            let running = sallyport_server::start(arguments.config(store, tls))?;
            if is_text {
                print_addresses(&running)?;
            }
            (running, signals)
        }
        None => {
            let signals = Signals::new()?;
            let tokens = arguments.sandbox_tokens.unwrap_or_default();
            let sandbox = Sandbox::start_with(tokens, |config| arguments.config(config.store, tls)).await?;
            match arguments.sandbox_output.unwrap_or_default() {
                SandboxOutput::Text => {
                    data::describe_sandbox(&sandbox).iter().try_for_each(|line| print_line(line))?;
                    print_addresses(sandbox.server())?;
                }
                SandboxOutput::Json => print_line(&serde_json::to_string(&sandbox.description())?)?,
            }
            (sandbox.into_server(), signals)
        }
    };

    if !is_text {
        address_lines(&running).iter().for_each(|line| tracing::info!("{line}"));
    }

    let signal = signals.stop(&running, arguments).await;
    tracing::info!("{signal}: no new requests are accepted after the drain delay");
    tokio::select! {
        done = drain(running, arguments) => done?,
        signal = signals.stopped() => {
            return Err(Failure::Failed(format!("stopped at once by a second signal, {signal}")));
        }
    }
    tracing::info!("stopped");
    Ok(())
}

fn print_addresses(running: &RunningServer) -> Result<(), Failure> {
    address_lines(running).iter().try_for_each(|line| print_line(line))
}

fn address_lines(running: &RunningServer) -> Vec<String> {
    let admin = running.admin_address().map(|admin| format!("operator's pages on http://{admin}"));
    admin.into_iter().chain([format!("listening on {}", running.base_url())]).collect()
}

async fn drain(running: RunningServer, arguments: &Arguments) -> Result<(), Failure> {
    running.drain();
    tokio::time::sleep(seconds(arguments.drain_delay)).await;
    let deadline = seconds(arguments.drain_timeout);
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
    async fn stop(&mut self, running: &RunningServer, arguments: &Arguments) -> &'static str {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.hang_up.recv() => renew(running, arguments).await,
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
async fn renew(running: &RunningServer, arguments: &Arguments) {
    match arguments.identity() {
        Ok(None) => {
            tracing::warn!("ignored SIGHUP: no certificate to reload, because the server speaks plain HTTP");
        }
        Ok(Some(identity)) => {
            running.renew(&identity).await;
            tracing::info!("reloaded the certificate; new connections get it");
        }
        Err(error) => tracing::error!("cannot reload the certificate, so the old one stays in use: {error}"),
    }
}
