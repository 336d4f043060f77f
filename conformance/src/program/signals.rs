//! The signals that end a command.

use std::io;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use sallyport_conformance::run::Stopper;
use sallyport_conformance::{Verdict, files};
use tokio::time::timeout;

use super::warn;

/// The response to Ctrl-C, and to what service managers, CI runners and closed terminals send: SIGTERM and SIGHUP.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The exit code, once nothing but writing is left to do.
    written: Arc<OnceLock<u8>>,
}

impl Signals {
    /// Time from a signal to the end of a command that keeps nothing.
    pub(crate) const TIME: Duration = Duration::from_secs(1);
    /// Time from a signal to the end of a command that then writes what it has.
    pub(crate) const TIME_WITH_REPORTS: Duration = Duration::from_secs(3);

    /// Listens until the program ends, in a thread of its own, which nothing holds up that the command waits for. The first
    /// signal stops the command. The second one ends the program, and so does the end of `time`: with the exit code of
    /// `interrupted`.
    pub(crate) fn listen(stopper: Stopper, time: Duration, interrupted: Verdict) -> io::Result<Self> {
        let written = Arc::new(OnceLock::new());
        let ending = Arc::clone(&written);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // Before the command goes on.
        let mut kinds = {
            let _entered = runtime.enter();
            Kinds::listen()?
        };
        let until_ended = async move {
            kinds.next().await;
            stopper.stop("the run was interrupted");
            if ending.get().is_none() {
                // Whichever comes first.
                let _ = timeout(time, kinds.next()).await;
            }
            end(ending.get().copied().unwrap_or(interrupted.exit_code()))
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || runtime.block_on(until_ended))?;
        Ok(Self { written })
    }

    /// Notes that the command has its verdict and only writes from now on: a signal then ends the program at once.
    pub(crate) fn only_write(&self, verdict: Verdict) {
        // A command has one verdict.
        let _ = self.written.set(verdict.if_not_written().exit_code());
    }
}

/// Ends the program, whatever other threads wait for.
fn end(code: u8) -> ! {
    const SAYING: Duration = Duration::from_millis(100);
    files::remove_unfinished();
    if code != Verdict::Conforms.exit_code() {
        let (said, saying) = mpsc::channel();
        // Nobody may read standard error either.
        std::thread::spawn(move || {
            warn("ended by a signal before everything was written");
            said.send(())
        });
        let _ = saying.recv_timeout(SAYING);
    }
    std::process::exit(code.into())
}

/// The signals that end a command; from here on they do not end the process.
struct Kinds {
    #[cfg(unix)]
    kinds: Vec<tokio::signal::unix::Signal>,
}

impl Kinds {
    /// Listens from now on, also before anybody waits; on other systems than Unix once somebody does.
    fn listen() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            kinds: {
                use tokio::signal::unix::{SignalKind, signal};
                let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
                kinds.into_iter().map(signal).collect::<io::Result<_>>()?
            },
        })
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        futures::future::select_all(self.kinds.iter_mut().map(|kind| Box::pin(kind.recv()))).await;
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
