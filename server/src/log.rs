//! Dropshot's log, handed on to `tracing` without a query in it: a query can hold the caller's token.

use std::fmt::{self, Write};

use slog::{Drain, KV, Key, Level, Logger, Never, OwnedKVList, Record, Serializer};

/// The logger that Dropshot gets.
pub(crate) fn logger() -> Logger {
    Logger::root(Redacting, slog::o!())
}

/// Cuts queries out of every value and message, then hands the line to `tracing`.
struct Redacting;

impl Drain for Redacting {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, context: &OwnedKVList) -> Result<(), Never> {
        if !enabled(record.level()) {
            return Ok(());
        }
        let mut line = Line::default();
        // A value that cannot be written is left out; the rest of the line is worth having.
        let _ = record.kv().serialize(record, &mut line);
        let _ = context.serialize(record, &mut line);
        let message = without_queries(&record.msg().to_string());
        let Line(fields) = line;
        match record.level() {
            Level::Critical | Level::Error => tracing::error!(target: "dropshot", "{message}{fields}"),
            Level::Warning => tracing::warn!(target: "dropshot", "{message}{fields}"),
            Level::Info => tracing::info!(target: "dropshot", "{message}{fields}"),
            Level::Debug => tracing::debug!(target: "dropshot", "{message}{fields}"),
            Level::Trace => tracing::trace!(target: "dropshot", "{message}{fields}"),
        }
        Ok(())
    }
}

/// Whether anybody listens at this level; it saves the formatting of every request.
fn enabled(level: Level) -> bool {
    match level {
        Level::Critical | Level::Error => tracing::enabled!(target: "dropshot", tracing::Level::ERROR),
        Level::Warning => tracing::enabled!(target: "dropshot", tracing::Level::WARN),
        Level::Info => tracing::enabled!(target: "dropshot", tracing::Level::INFO),
        Level::Debug => tracing::enabled!(target: "dropshot", tracing::Level::DEBUG),
        Level::Trace => tracing::enabled!(target: "dropshot", tracing::Level::TRACE),
    }
}

/// ` key=value` for each value of a record.
#[derive(Default)]
struct Line(String);

impl Serializer for Line {
    fn emit_arguments(&mut self, key: Key, value: &fmt::Arguments<'_>) -> slog::Result {
        write!(self.0, " {key}={}", without_queries(&value.to_string())).map_err(slog::Error::Fmt)
    }
}

/// The text with everything between a `?` and the next space or quote cut out.
fn without_queries(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, query)) = rest.split_once('?') {
        shown.push_str(before);
        let end = query.find([' ', '"', '\n']).unwrap_or(query.len());
        if end > 0 {
            shown.push_str("?…");
        } else {
            shown.push('?');
        }
        rest = query.get(end..).unwrap_or_default();
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_cut_out_and_the_rest_stays() {
        for (text, shown) in [
            ("/a?api_key=t&num=1", "/a?…"),
            ("GET \"/a?api_key=t\" took 3 ms", "GET \"/a?…\" took 3 ms"),
            ("/a?x=1 /b?y=?2", "/a?… /b?…"),
            ("really?", "really?"),
            ("/a", "/a"),
        ] {
            assert_eq!(without_queries(text), shown);
        }
    }
}
