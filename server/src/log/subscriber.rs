//! Writes the log, one event per line.

use std::{
    borrow::Cow,
    env,
    io::{self, IsTerminal as _, Write},
};

use tracing::Dispatch;
use tracing_subscriber::{
    EnvFilter,
    filter::filter_fn,
    fmt::{self, format},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use super::{
    format::{Format, RedactingFormat, is_ours},
    panics,
};

/// Logs the events that pass `filter` to standard error, panics among them, for as long as the process runs. Text has
/// colours on a terminal.
///
/// # Panics
/// If the process already has a log.
pub fn start(filter: EnvFilter, format: Format) {
    // Colours are for people who watch; a file or the journal gets plain text.
    let colours = io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    dispatch(filter, format, colours, io::stderr).init();
    panics::log();
}

/// A log without colours that `writer` takes in: each event is one line.
#[must_use]
pub fn to<W: Write + 'static>(
    filter: EnvFilter,
    format: Format,
    writer: impl Fn() -> W + Send + Sync + 'static,
) -> Dispatch {
    dispatch(filter, format, false, writer)
}

fn dispatch<W: Write + 'static>(
    filter: EnvFilter,
    format: Format,
    colours: bool,
    writer: impl Fn() -> W + Send + Sync + 'static,
) -> Dispatch {
    // Spans of other crates are not needed for their events, and without them nobody formats their fields. The response
    // depends on nothing but the place in the source, so it is asked for once a place.
    let events_and_our_spans = filter_fn(|metadata| metadata.is_event() || is_ours(metadata));
    let log = tracing_subscriber::registry().with(filter).with(events_and_our_spans);
    let lines = fmt::layer().with_writer(move || OneLine(writer()));
    match format {
        Format::Text => {
            let ours = format::format().with_ansi(colours);
            log.with(lines.with_ansi(colours).event_format(RedactingFormat::new(ours, format))).into()
        }
        Format::Json => {
            let ours = format::json().flatten_event(true).with_span_list(false);
            log.with(lines.json().event_format(RedactingFormat::new(ours, format))).into()
        }
    }
}

/// Writes an event as one line, whatever its texts hold, so that none can be taken for another event.
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

/// The event with every line break in it escaped but the one at its end.
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
