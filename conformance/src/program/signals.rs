//! The signals that end a command.

use sallyport_conformance::Verdict;
use sallyport_conformance::run::Stopper;

/// Ctrl-C, and what service managers, CI runners and closed terminals send: SIGTERM and SIGHUP. From here on they do not end
/// the process.
pub(crate) struct Signals {
    #[cfg(unix)]
    kinds: [tokio::signal::unix::Signal; 3],
}

impl Signals {
    /// Listens from now on, also before anybody waits; on other systems than Unix once somebody does.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            kinds: {
                use tokio::signal::unix::{SignalKind, signal};
                let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
                let [interrupt, terminate, hangup] = kinds.map(signal);
                [interrupt?, terminate?, hangup?]
            },
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        {
            let [interrupt, terminate, hangup] = &mut self.kinds;
            tokio::select! {
                _ = interrupt.recv() => {},
                _ = terminate.recv() => {},
                _ = hangup.recv() => {},
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Stops a run at the first signal, so that its reports are written; the second one ends the program. Without signals nobody
/// can stop it.
pub(crate) async fn stop_on_signals(stopper: Stopper, reason: &'static str) {
    let Ok(mut signals) = Signals::listen() else { return };
    signals.next().await;
    stopper.stop(reason);
    signals.next().await;
    // Somebody who asks twice does not want to wait for reports.
    std::process::exit(Verdict::Incomplete.exit_code().into());
}
