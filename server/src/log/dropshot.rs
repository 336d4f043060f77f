//! Passes Dropshot's log to `tracing`. Dropshot's events hold what the caller sent, so only values that this program already knows
//! are shown.

use std::{
    collections::BTreeSet,
    fmt::{self, Write},
    io,
    net::SocketAddr,
    sync::Arc,
};

use dropshot::{ApiDescription, ServerContext};
use http::{Method, Uri};
use rustls::{AlertDescription, Error as TlsError, InvalidMessage, PeerIncompatible};
use slog::{Drain, KV, Key, Level, Logger, Never, OwnedKVList, Record, Serializer};
use uuid::Uuid;

use crate::edge::other_methods::METHODS;

/// Replaces a value that is not shown.
const HIDDEN: &str = "…";

/// Dropshot's prefix of the reason for a failed TLS handshake.
const TLS_FAILED: &str = "tls accept err: ";

/// The logger for Dropshot. The paths of `api` may be shown.
pub(crate) fn logger<C: ServerContext>(api: &ApiDescription<C>) -> Logger {
    let document = api.openapi("", dropshot::semver::Version::new(0, 0, 0)).json();
    let paths = document.ok().and_then(|document| document["paths"].as_object().cloned());
    let paths = paths.into_iter().flat_map(|paths| paths.into_iter().map(|(path, _)| path)).collect();
    Logger::root(RedactingDrain { paths: Arc::new(paths) }, slog::o!())
}

/// Passes events to `tracing` without text that a caller may have sent.
struct RedactingDrain {
    paths: Arc<BTreeSet<String>>,
}

impl Drain for RedactingDrain {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, context: &OwnedKVList) -> Result<(), Never> {
        if !enabled(record.level()) {
            return Ok(());
        }
        let mut line = Line { text: message(record), paths: &self.paths };
        // If a value cannot be written, the rest of the event is still logged.
        let _ = record.kv().serialize(record, &mut line);
        let _ = context.serialize(record, &mut line);
        let line = line.text;
        match record.level() {
            Level::Critical | Level::Error => tracing::error!(target: "dropshot", "{line}"),
            Level::Warning => tracing::warn!(target: "dropshot", "{line}"),
            Level::Info => tracing::info!(target: "dropshot", "{line}"),
            Level::Debug => tracing::debug!(target: "dropshot", "{line}"),
            Level::Trace => tracing::trace!(target: "dropshot", "{line}"),
        }
        Ok(())
    }
}

/// Whether events of this level are logged. If not, nothing needs to be formatted.
fn enabled(level: Level) -> bool {
    match level {
        Level::Critical | Level::Error => tracing::enabled!(target: "dropshot", tracing::Level::ERROR),
        Level::Warning => tracing::enabled!(target: "dropshot", tracing::Level::WARN),
        Level::Info => tracing::enabled!(target: "dropshot", tracing::Level::INFO),
        Level::Debug => tracing::enabled!(target: "dropshot", tracing::Level::DEBUG),
        Level::Trace => tracing::enabled!(target: "dropshot", tracing::Level::TRACE),
    }
}

/// The message if it is a constant in Dropshot's source, otherwise its location in the source.
fn message(record: &Record<'_>) -> String {
    if let Some(message) = record.msg().as_str() {
        return message.to_owned();
    }
    let message = record.msg().to_string();
    if let Some(reason) = message.strip_prefix(TLS_FAILED) {
        let reason = if is_known_tls_failure(reason) { reason } else { HIDDEN };
        return format!("{TLS_FAILED}{reason}");
    }
    let file = record.file().rsplit(['/', '\\']).next().unwrap_or_default();
    format!("{file}:{} {HIDDEN}", record.line())
}

/// Whether the reason for a failed TLS handshake is a fixed text of rustls: an alert of the client, a client that speaks plain
/// HTTP, or one that disconnected.
fn is_known_tls_failure(reason: &str) -> bool {
    let alerts = (0..=u8::MAX).map(|code| TlsError::AlertReceived(AlertDescription::from(code)));
    let incompatible = [
        PeerIncompatible::NoCipherSuitesInCommon,
        PeerIncompatible::NoKxGroupsInCommon,
        PeerIncompatible::NoSignatureSchemesInCommon,
        PeerIncompatible::SupportedVersionsExtensionRequired,
        PeerIncompatible::Tls12NotOfferedOrEnabled,
    ];
    let mut known = alerts
        .chain(incompatible.map(TlsError::PeerIncompatible))
        .chain([InvalidMessage::InvalidContentType.into(), TlsError::NoApplicationProtocol]);
    reason == "tls handshake eof" || known.any(|error| error.to_string() == reason)
}

/// A message with ` key=value` for each value of a record; unknown values are hidden.
struct Line<'a> {
    text: String,
    paths: &'a BTreeSet<String>,
}

impl Line<'_> {
    fn push(&mut self, key: Key, value: impl fmt::Display) -> slog::Result {
        write!(self.text, " {key}={value}").map_err(slog::Error::Fmt)
    }

    /// The text, or the part of it, that may be shown for this key.
    fn known<'b>(&'b self, key: Key, text: &'b str) -> Option<&'b str> {
        let is_known = match key.as_ref() {
            "local_addr" | "remote_addr" => text.parse::<SocketAddr>().is_ok(),
            "req_id" => text.parse::<Uuid>().is_ok(),
            "method" => is_standard_method(text),
            "path" => self.paths.contains(text),
            "uri" => return self.path(text),
            "error" => is_system_error(text),
            _ => false,
        };
        is_known.then_some(text)
    }

    /// The path of a URI, if it is one of the API.
    fn path(&self, uri: &str) -> Option<&str> {
        let uri: Uri = uri.parse().ok()?;
        self.paths.get(uri.path()).map(String::as_str)
    }
}

fn is_standard_method(method: &str) -> bool {
    METHODS.iter().chain([&Method::CONNECT]).any(|known| known == method)
}

/// Whether the text is an error of the operating system, such as too many open files.
fn is_system_error(error: &str) -> bool {
    let code = error.rsplit_once("(os error ").and_then(|(_, code)| code.strip_suffix(')')?.parse().ok());
    code.is_some_and(|code| io::Error::from_raw_os_error(code).to_string() == error)
}

/// Shows numbers, and texts only if they are known.
impl Serializer for Line<'_> {
    fn emit_arguments(&mut self, key: Key, value: &fmt::Arguments<'_>) -> slog::Result {
        let text = value.to_string();
        let shown = self.known(key.clone(), &text).unwrap_or(HIDDEN).to_owned();
        self.push(key, shown)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_values_are_shown() {
        let paths = BTreeSet::from(["/known".to_owned()]);
        let line = Line { text: String::new(), paths: &paths };
        let system = io::Error::from_raw_os_error(24).to_string();
        for (key, text, shown) in [
            ("uri", "/known?api_key=token", Some("/known")),
            ("uri", "https://token/known?x", Some("/known")),
            ("uri", "/known%3Fapi_key=token", None),
            ("uri", "/known/token", None),
            ("uri", "token", None),
            ("path", "/known", Some("/known")),
            ("path", "/token", None),
            ("method", "GET", Some("GET")),
            ("method", "get", None),
            ("method", "token", None),
            ("remote_addr", "[::1]:80", Some("[::1]:80")),
            ("remote_addr", "token", None),
            ("req_id", "57c4e945-fe7b-4aa3-a0ff-60acf701ee80", Some("57c4e945-fe7b-4aa3-a0ff-60acf701ee80")),
            ("req_id", "token", None),
            ("error", &system, Some(&system)),
            ("error", "token (os error 24)", None),
            ("error_message_internal", "token", None),
            ("token", "1", None),
        ] {
            assert_eq!(line.known(key.into(), text), shown, "{key}={text}");
        }
    }

    #[test]
    fn only_known_reasons_of_failed_handshakes_are_shown() {
        let reasons = [
            TlsError::AlertReceived(AlertDescription::UnknownCA).to_string(),
            TlsError::InvalidMessage(InvalidMessage::InvalidContentType).to_string(),
        ];
        assert!(reasons.iter().all(|reason| is_known_tls_failure(reason)), "{reasons:?}");
        assert!(!is_known_tls_failure("token"));
        assert!(!is_known_tls_failure(&TlsError::General("token".to_owned()).to_string()));
    }
}
