//! The signals that end a command.

use sallyport_conformance::Verdict;
use sallyport_conformance::run::Stopper;

/// Waits for Ctrl-C, or for what service managers, CI runners and closed terminals send: SIGTERM and SIGHUP.
pub(crate) async fn interrupted() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = signal(SignalKind::hangup())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminate.recv() => Ok(()),
            _ = hangup.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Stops a run at the first signal, so that its reports are written; the second one ends the program.
pub(crate) async fn stop_on_signals(stopper: Stopper, reason: &'static str) {
    if interrupted().await.is_err() {
        return;
    }
    stopper.stop(reason);
    if interrupted().await.is_ok() {
        // Somebody who asks twice does not want to wait for reports.
        std::process::exit(Verdict::Incomplete.exit_code().into());
    }
}
