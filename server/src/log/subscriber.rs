//! Writes the log, one event per line.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    borrow::Cow,
    env,
    io::{self, IsTerminal as _, Write},
    panic,
};

use tracing::{Dispatch, Metadata};
use tracing_subscriber::{
    EnvFilter, filter::filter_fn, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for people.
    #[value(name = "human")]
    Text,
    /// One JSON object per line.
    Json,
}

/// Logs the events that pass `filter` to standard error, panics among them, for as long as the process runs. Text has
/// colours on a terminal.
///
/// # Panics
/// If the process already has a log.
pub fn start(filter: EnvFilter, format: Format) {
    let colours = io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    to(filter, format, colours, io::stderr).init();
    log_panics();
}

/// A log that is written to `writer`, one event per line.
pub fn to<W: Write + 'static>(
    filter: EnvFilter,
    format: Format,
    colours: bool,
    writer: impl Fn() -> W + Send + Sync + 'static,
) -> Dispatch {
    // Events of other crates may hold what a caller sent. The filter depends only on the source location, so it is evaluated once for
    // each.
    let log = tracing_subscriber::registry().with(filter).with(filter_fn(is_ours));
    let lines = fmt::layer().with_writer(move || OneLine(writer())).with_ansi(colours);
    match format {
        Format::Text => log.with(lines).into(),
        Format::Json => log.with(lines.json().flatten_event(true).with_span_list(false)).into(),
    }
}

/// Whether an event or span is from this package: the library or the program.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    let module = metadata.module_path().unwrap_or_default();
    matches!(module.split("::").next(), Some(env!("CARGO_CRATE_NAME") | "server"))
}

/// Logs every panic from now on, in the log's format, because the standard library would print messages that can hold a value: its position, its message if that is constant in the source, and the backtrace if
/// `RUST_BACKTRACE` is set.
fn log_panics() {
    panic::set_hook(Box::new(|info| {
        let words = info.payload().downcast_ref::<&'static str>();
        let words = words.copied().unwrap_or("message not shown, because it can hold a value");
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panicked: {words}");
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            backtrace.to_string().lines().for_each(|line| tracing::error!("{line}"));
        }
    }));
}

/// Writes an event as one line, so that a line break in a text cannot forge another event.
struct OneLine<W>(W);

impl<W: Write> Write for OneLine<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0.write_all(&one_line(event))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The event with all line breaks escaped except the one at its end.
fn one_line(event: &[u8]) -> Cow<'_, [u8]> {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let (text, end) = match event.split_last() {
        Some((b'\n', text)) => (text, b"\n".as_slice()),
        _ => (event, b"".as_slice()),
    };
    if !text.iter().any(is_break) {
        return Cow::Borrowed(event);
    }
    let escaped = text.iter().flat_map(|byte| match byte {
        b'\n' => b"\\n",
        b'\r' => b"\\r",
        other => std::slice::from_ref(other),
    });
    Cow::Owned(escaped.chain(end).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line() {
        for (event, line) in [
            ("an event\n", "an event\n"),
            ("an event", "an event"),
            ("a\nb\r\nc\n", "a\\nb\\r\\nc\n"),
            ("\n", "\n"),
            ("", ""),
        ] {
            assert_eq!(one_line(event.as_bytes()), line.as_bytes());
        }
    }
}
