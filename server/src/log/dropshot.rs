//! Passes Dropshot's log to `tracing`. Its events hold what the caller sent, so only messages that are constants, numbers and errors of
//! the operating system are shown.

use std::{
    fmt::{self, Write},
    io,
};

use slog::{Drain, KV, Key, Level, Logger, Never, OwnedKVList, Record, Serializer};

pub(crate) fn logger() -> Logger {
    Logger::root(RedactingDrain, slog::o!())
}

struct RedactingDrain;

impl Drain for RedactingDrain {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, context: &OwnedKVList) -> Result<(), Never> {
        // A line is made only if the filter takes the event.
        match record.level() {
            Level::Critical | Level::Error => {
                tracing::error!(target: "dropshot", "{}", line(record, context));
            }
            Level::Warning => tracing::warn!(target: "dropshot", "{}", line(record, context)),
            Level::Info => tracing::info!(target: "dropshot", "{}", line(record, context)),
            Level::Debug => tracing::debug!(target: "dropshot", "{}", line(record, context)),
            Level::Trace => tracing::trace!(target: "dropshot", "{}", line(record, context)),
        }
        Ok(())
    }
}

/// The message with ` key=value` for each value that may be shown.
fn line(record: &Record<'_>, context: &OwnedKVList) -> String {
    let mut line = Line(message(record));
    // If a value cannot be written, the rest of the event is still logged.
    let _ = record.kv().serialize(record, &mut line);
    let _ = context.serialize(record, &mut line);
    line.0
}

/// The message if it is a constant in Dropshot's source, otherwise its location in the source.
fn message(record: &Record<'_>) -> String {
    const TLS_FAILED: &str = "tls accept err";
    match record.msg().as_str() {
        Some(message) => message.to_owned(),
        // The reason may repeat what the client sent.
        None if record.msg().to_string().starts_with(TLS_FAILED) => TLS_FAILED.to_owned(),
        None => format!("{}:{}", record.file().rsplit('/').next().unwrap_or_default(), record.line()),
    }
}

struct Line(String);

impl Line {
    fn push(&mut self, key: Key, value: impl fmt::Display) -> slog::Result {
        write!(self.0, " {key}={value}").map_err(slog::Error::Fmt)
    }
}

impl Serializer for Line {
    fn emit_arguments(&mut self, key: Key, value: &fmt::Arguments<'_>) -> slog::Result {
        let text = value.to_string();
        if is_system_error(&text) { self.push(key, text) } else { Ok(()) }
    }

    fn emit_u16(&mut self, key: Key, value: u16) -> slog::Result {
        self.push(key, value)
    }

    fn emit_u64(&mut self, key: Key, value: u64) -> slog::Result {
        self.push(key, value)
    }

    fn emit_u128(&mut self, key: Key, value: u128) -> slog::Result {
        self.push(key, value)
    }
}

/// Whether the text is an error of the operating system, such as too many open files.
fn is_system_error(text: &str) -> bool {
    let code = text.rsplit_once("(os error ").and_then(|(_, code)| code.strip_suffix(')')?.parse().ok());
    code.is_some_and(|code| io::Error::from_raw_os_error(code).to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_of_the_system_are_shown() {
        assert!(is_system_error(&io::Error::from_raw_os_error(24).to_string()));
        assert!(!is_system_error("token (os error 24)") && !is_system_error("token"));
    }
}
