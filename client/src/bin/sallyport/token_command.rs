//! A token that a command prints.

use std::{
    io::Read as _,
    process::{Command, Stdio},
    sync::{Mutex, PoisonError, mpsc},
    time::Duration,
};

use sallyport_client::{TokenFuture, TokenSource, secrecy::SecretString};

use crate::connect::MAX_TOKEN;

/// Time for the command to print the token.
const TIME: Duration = Duration::from_secs(30);

/// Runs the command once, and again after the service has rejected the token.
pub(crate) struct TokenCommand {
    words: Vec<String>,
    last: Mutex<Option<SecretString>>,
}

impl TokenCommand {
    /// Runs the command, whose words are separated by spaces, for the first time.
    pub(crate) fn start(command: &str) -> Result<Self, String> {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let first = run(&words)?;
        Ok(Self { words, last: Mutex::new(Some(first)) })
    }

    fn set(&self, token: Option<SecretString>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }
}

impl TokenSource for TokenCommand {
    fn token(&self) -> TokenFuture<'_> {
        Box::pin(async move {
            if let Some(token) = &*self.last.lock().unwrap_or_else(PoisonError::into_inner) {
                return Ok(token.clone());
            }
            let words = self.words.clone();
            let token = tokio::task::spawn_blocking(move || run(&words)).await??;
            self.set(Some(token.clone()));
            Ok(token)
        })
    }

    fn invalidate(&self) {
        self.set(None);
    }
}

/// The token that the command prints. No shell is involved, and no message repeats a part of the output.
fn run(words: &[String]) -> Result<SecretString, String> {
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
    let printed = printed.recv_timeout(TIME);
    if printed.is_err() {
        // It may have ended a moment ago.
        let _ = child.kill();
    }
    let ended = child.wait().map_err(|error| failed(&error.to_string()))?;
    let text = printed.map_err(|_| failed("took more than 30 s"))?;
    if !ended.success() {
        return Err(failed(&format!("failed ({ended})")));
    }
    let text = text.map_err(|_| failed("printed something else than text"))?;
    crate::connect::trimmed(&text).map_err(|reason| failed(&format!("printed no token: {reason}")))
}
