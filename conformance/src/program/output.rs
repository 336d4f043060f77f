//! Where the program writes what people read.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use sallyport_conformance::Verdict;
use sallyport_conformance::report::{Detail, Screen, plain};
use serde_json::Value;

use super::UsageError;

/// Whether something could not be written.
static IS_INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// Says that something could not be written; without it a good verdict is none. A reader that is gone misses nothing.
pub(crate) fn not_written(what: &str, error: &io::Error) {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return;
    }
    IS_INCOMPLETE.store(true, Ordering::Relaxed);
    let _ = writeln!(io::stderr(), "conformance: cannot write {}: {error}", plain(what));
}

/// The exit code of a verdict, when all was written that could be.
pub(crate) fn exit_code(verdict: Verdict) -> u8 {
    if IS_INCOMPLETE.load(Ordering::Relaxed) { verdict.if_not_written() } else { verdict }.exit_code()
}

/// Prints to standard output. Untrusted text goes through [`report::plain`] first.
pub(crate) fn print(text: &str) {
    Output::Stdout.print(text);
}

/// Items as a JSON array of objects, or a line for each.
pub(crate) fn listed<T>(
    items: &[T],
    as_json: bool,
    object: impl Fn(&T) -> Value,
    line: impl Fn(&T) -> String,
) -> Result<String, UsageError> {
    if !as_json {
        return Ok(items.iter().map(line).collect());
    }
    let objects: Vec<Value> = items.iter().map(object).collect();
    Ok(serde_json::to_string_pretty(&objects)? + "\n")
}

/// Where progress and summary go. Writing to it does not fail: the first failure is said, and decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Stdout,
    Stderr,
}

impl Output {
    /// Prints a text. Untrusted text goes through [`report::plain`] first.
    pub(crate) fn print(mut self, text: &str) {
        let _ = self.write_all(text.as_bytes());
    }

    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::Stderr => io::stderr().is_terminal(),
        }
    }

    /// Colours and wrapping apply to terminals only; `NO_COLOR` disables the colours.
    pub(crate) fn screen(self, detail: Detail) -> Screen {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let terminal = self.is_terminal();
        let width = terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| usize::from(width));
        Screen { is_coloured: terminal && !no_colour, width: width.filter(|_| terminal), detail }
    }
}

impl io::Write for Output {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        static IS_SAID: AtomicBool = AtomicBool::new(false);
        let (name, written) = match self {
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                // Flushed, because what fails when the program ends fails unseen.
                ("standard output", stdout.write_all(text).and_then(|()| stdout.flush()))
            }
            Self::Stderr => ("standard error", io::stderr().write_all(text)),
        };
        if let Err(error) = written
            && !IS_SAID.swap(true, Ordering::Relaxed)
        {
            not_written(name, &error);
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
