//! A command that prints the account's token.

use std::io::Read as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::Secret;

/// Time for a command to print the token.
const TIME: Duration = Duration::from_secs(30);

/// Maximum length of what it prints, in bytes: no server takes a header as long.
const MAX_LENGTH: u64 = 64 << 10;

/// A program and its arguments, which prints the account's token. No shell is involved, and nothing that it prints is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCommand(Vec<String>);

/// Why a command gave no token.
#[derive(Debug, thiserror::Error)]
#[error("the command `{program}` for the token {reason}; its output is never shown, so run it by itself")]
pub struct TokenCommandError {
    program: String,
    reason: String,
}

impl TokenCommand {
    /// None without a program.
    pub fn new(words: Vec<String>) -> Option<Self> {
        let has_program = words.first().is_some_and(|program| !program.is_empty());
        has_program.then_some(Self(words))
    }

    /// Runs it, and waits for the token.
    ///
    /// # Errors
    /// It cannot be started, fails, takes more than 30 s, or prints something else than one line with one word.
    pub fn run(&self) -> Result<Secret, TokenCommandError> {
        self.run_within(TIME)
    }

    fn run_within(&self, time: Duration) -> Result<Secret, TokenCommandError> {
        let deadline = Instant::now() + time;
        let (program, arguments) = (&self.0[0], &self.0[1..]);
        let failed = |reason: String| TokenCommandError { program: program.clone(), reason };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| failed(format!("cannot be started: {error}")))?;
        let (sender, printed) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            // A thread, because what the command has started may keep its output open for ever.
            std::thread::spawn(move || {
                let mut text = String::new();
                let read = output.take(MAX_LENGTH + 1).read_to_string(&mut text);
                // Nobody waits any more once the time is over.
                let _ = sender.send(read.map(|_| text));
            });
        }
        let printed = printed.recv_timeout(time).ok();
        // It may have closed its output and still run.
        let ended = ended_by(deadline, &mut child).map_err(|error| failed(error.to_string()))?;
        let text = match (printed, ended) {
            (Some(_), Some(ended)) if !ended.success() => return Err(failed(format!("failed ({ended})"))),
            (Some(text), Some(_)) => {
                text.map_err(|_| failed("printed something else than text".to_owned()))?
            }
            _ => return Err(failed(format!("took more than {} s", time.as_secs()))),
        };
        let token = text.trim();
        if token.is_empty() || token.contains(char::is_whitespace) || text.len() as u64 > MAX_LENGTH {
            return Err(failed("printed something else than one token".to_owned()));
        }
        Ok(Secret::new("API_KEY", token))
    }
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
    fn a_command_that_goes_on_is_not_waited_for_and_shows_nothing() {
        let words = ["sh", "-c", "echo hunter2; exec >&-; exec sleep 300"].map(str::to_owned);
        let command = TokenCommand::new(words.to_vec()).expect("a program");
        let error = command.run_within(Duration::from_secs(1)).expect_err("no token").to_string();
        assert!(error.contains("took more than 1 s") && !error.contains("hunter2"), "{error}");
    }
}
