//! A token that a command prints.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sallyport_client::{TokenFuture, TokenSource, secrecy::SecretString};
use sallyport_contract::command;

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
        let token = Some(run(&words)?);
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
            let token = tokio::task::spawn_blocking(move || run(&words)).await??;
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
fn run(words: &[String]) -> Result<SecretString, String> {
    let (program, arguments) = words.split_first().ok_or("--api-key-command: expected a command")?;
    let failed = |reason: &str| {
        format!("the token command `{program}` {reason}; its output is never shown, so run it by itself")
    };
    let text = command::output(program, arguments, command::TIME).map_err(|reason| failed(&reason))?;
    crate::connect::trimmed(&SecretString::from(text))
        .map_err(|reason| failed(&format!("printed no token: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

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
