//! Where the program writes what people read.

use std::io::{IsTerminal as _, Write as _};

use sallyport_conformance::Verdict;
use sallyport_conformance::report::{Detail, Screen, Style};
use serde_json::Value;

use super::UsageError;

/// Prints to standard output. A closed pipe is not an error. Untrusted text goes through [`report::plain`] first.
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints items as a JSON array of objects, or a line for each.
pub(crate) fn print_list<T>(
    items: &[T],
    as_json: bool,
    object: impl Fn(&T) -> Value,
    line: impl Fn(&T) -> String,
) -> Result<Verdict, UsageError> {
    if as_json {
        let objects: Vec<Value> = items.iter().map(object).collect();
        print(&format!("{}\n", serde_json::to_string_pretty(&objects)?));
    } else {
        print(&items.iter().map(line).collect::<String>());
    }
    Ok(Verdict::Conforms)
}

/// Where progress and summary go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Stdout,
    Stderr,
}

impl Output {
    /// Writes a text. Untrusted text goes through [`report::plain`] first.
    pub(crate) fn write(self, text: &str) {
        let _ = self.writer().write_all(text.as_bytes());
    }

    pub(crate) fn writer(self) -> Box<dyn std::io::Write + Send> {
        match self {
            Self::Stdout => Box::new(std::io::stdout()),
            Self::Stderr => Box::new(std::io::stderr()),
        }
    }

    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Self::Stdout => std::io::stdout().is_terminal(),
            Self::Stderr => std::io::stderr().is_terminal(),
        }
    }

    /// Colours and wrapping apply to terminals only; `NO_COLOR` disables the colours.
    pub(crate) fn screen(self, detail: Detail) -> Screen {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let terminal = self.is_terminal();
        let width = terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| usize::from(width));
        Screen {
            style: if terminal && !no_colour { Style::Coloured } else { Style::Plain },
            width: width.filter(|_| terminal),
            detail,
        }
    }
}
