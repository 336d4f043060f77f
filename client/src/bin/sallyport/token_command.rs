//! A token that a command prints.

use std::{
    io::Read as _,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    time::{Duration, Instant},
};

use sallyport_client::{TokenFuture, TokenSource, secrecy::SecretString};

use crate::connect::MAX_TOKEN;

/// Time for the command to print the token.
const TIME: Duration = Duration::from_secs(30);

/// A service that rejects everything must not cost a command each time.
const MIN_INTERVAL: Duration = Duration::from_secs(10);

/// Runs the command once, and again after the service has rejected the token.
pub(crate) struct TokenCommand {
    words: Vec<String>,
    last: Mutex<LastToken>,
}

/// None once it was rejected, and when that was.
struct LastToken {
    token: Option<SecretString>,
    rejected: Option<Instant>,
}

impl TokenCommand {
    /// Runs the command, whose words are separated by spaces, for the first time.
    pub(crate) fn start(command: &str) -> Result<Self, String> {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let token = Some(run(&words, TIME)?);
        Ok(Self { words, last: Mutex::new(LastToken { token, rejected: None }) })
    }

    fn last(&self) -> MutexGuard<'_, LastToken> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenSource for TokenCommand {
    fn token(&self) -> TokenFuture<'_> {
        Box::pin(async move {
            let known = self.last().token.clone();
            if let Some(token) = known {
                return Ok(token);
            }
            let words = self.words.clone();
            let token = tokio::task::spawn_blocking(move || run(&words, TIME)).await??;
            self.last().token = Some(token.clone());
            Ok(token)
        })
    }

    fn invalidate(&self) {
        let mut last = self.last();
        if last.rejected.is_none_or(|rejected| rejected.elapsed() >= MIN_INTERVAL) {
            *last = LastToken { token: None, rejected: Some(Instant::now()) };
        }
    }
}

/// The token that the command prints. No shell is involved, and no message repeats a part of the output.
fn run(words: &[String], time: Duration) -> Result<SecretString, String> {
    let deadline = Instant::now() + time;
    let (program, arguments) = words.split_first().ok_or("--api-key-command: expected a command")?;
    let failed = |reason: &str| {
        format!("the token command `{program}` {reason}; its output is never shown, so run it by itself")
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(&format!("cannot be started: {error}")))?;
    let (sender, printed) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        // A thread, because what the command has started may keep its output open for ever.
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = output.take(MAX_TOKEN + 1).read_to_string(&mut text);
            // Nobody waits any more once the time is over.
            let _ = sender.send(read.map(|_| SecretString::from(text)));
        });
    }
    let printed = printed.recv_timeout(time).ok();
    // It may have closed its output and still run.
    let ended = ended_by(deadline, &mut child).map_err(|error| failed(&error.to_string()))?;
    let (Some(text), Some(ended)) = (printed, ended) else {
        return Err(failed(&format!("took more than {} s", time.as_secs())));
    };
    if !ended.success() {
        return Err(failed(&format!("failed ({ended})")));
    }
    let text = text.map_err(|_| failed("printed something else than text"))?;
    crate::connect::trimmed(&text).map_err(|reason| failed(&format!("printed no token: {reason}")))
}

/// How a command ended. One that still runs at the deadline is killed, and has no status.
fn ended_by(deadline: Instant, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    const PAUSE: Duration = Duration::from_millis(5);
    loop {
        let ended = child.try_wait()?;
        if ended.is_some() {
            return Ok(ended);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            return child.wait().map(|_| None);
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_goes_on_without_its_output_is_killed() {
        let words = ["sh", "-c", "echo T0ken; exec >&-; exec sleep 300"].map(str::to_owned);
        let error = run(&words, Duration::from_secs(1)).unwrap_err();
        assert!(error.contains("took more than 1 s") && !error.contains("T0ken"), "{error}");
    }

    #[test]
    fn a_token_that_is_rejected_again_at_once_is_kept() {
        let command = TokenCommand::start("echo T0ken").unwrap();
        for is_kept in [false, true] {
            command.invalidate();
            assert_eq!(command.last().token.is_some(), is_kept);
            command.last().token = Some(SecretString::from("T0ken"));
        }
    }
}
