//! Formats events: our own with their texts, those of other crates without, because these may hold what a caller sent.

use std::fmt;

use serde_json::{Map, Value};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::Writer,
        time::{FormatTime as _, SystemTime},
    },
    registry::LookupSpan,
};

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Formats our own events with `ours`, and of all others only the source location and the numbers.
pub(super) struct RedactingFormat<F> {
    ours: F,
    format: Format,
}

impl<F> RedactingFormat<F> {
    pub(super) fn new(ours: F, format: Format) -> Self {
        Self { ours, format }
    }
}

impl<S, N, F> FormatEvent<S, N> for RedactingFormat<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if is_ours(event.metadata()) {
            self.ours.format_event(context, writer, event)
        } else {
            ForeignEvent::from(event).write(self.format, writer)
        }
    }
}

/// Whether an event or span is from this package: the library or the program.
pub(super) fn is_ours(metadata: &Metadata<'_>) -> bool {
    let module = metadata.module_path().unwrap_or_default();
    matches!(module.split("::").next(), Some(env!("CARGO_CRATE_NAME") | "server"))
}

/// What is shown of an event of another crate: its source location, and numbers.
struct ForeignEvent {
    metadata: &'static Metadata<'static>,
    /// A record of the crate `log`, which has its source location in fields.
    is_record: bool,
    module: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    numbers: Map<String, Value>,
}

impl From<&Event<'_>> for ForeignEvent {
    fn from(event: &Event<'_>) -> Self {
        let metadata = event.metadata();
        let mut foreign = Self {
            metadata,
            is_record: metadata.name() == "log event" && metadata.module_path().is_none(),
            module: None,
            file: None,
            line: None,
            numbers: Map::new(),
        };
        event.record(&mut foreign);
        foreign
    }
}

impl ForeignEvent {
    fn write(&self, format: Format, mut writer: Writer<'_>) -> fmt::Result {
        let level = self.metadata.level();
        let target = self.module.as_deref().unwrap_or(self.metadata.target());
        let file = self.file.as_deref().or(self.metadata.file()).unwrap_or_default();
        // The rest of the path is of the machine on which the program was built.
        let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
        let line = self.line.or(self.metadata.line().map(u64::from)).unwrap_or_default();
        let place = format!("{file}:{line}");
        match format {
            Format::Text => {
                SystemTime.format_time(&mut writer)?;
                write!(writer, " {level:>5} {target}: {place}")?;
                self.numbers.iter().try_for_each(|(name, value)| write!(writer, " {name}={value}"))?;
                writeln!(writer)
            }
            Format::Json => {
                let mut time = String::new();
                SystemTime.format_time(&mut Writer::new(&mut time))?;
                let mut object = self.numbers.clone();
                for (name, value) in [
                    ("timestamp", time),
                    ("level", level.to_string()),
                    ("message", place),
                    ("target", target.to_owned()),
                ] {
                    object.insert(name.to_owned(), value.into());
                }
                writeln!(writer, "{}", Value::Object(object))
            }
        }
    }

    fn keep(&mut self, field: &Field, number: impl Into<Value>) {
        self.numbers.insert(field.name().to_owned(), number.into());
    }
}

impl Visit for ForeignEvent {
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}

    /// Only the compiler writes these two fields.
    fn record_str(&mut self, field: &Field, text: &str) {
        match field.name() {
            "log.module_path" if self.is_record => self.module = Some(text.to_owned()),
            "log.file" if self.is_record => self.file = Some(text.to_owned()),
            _ => {}
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if self.is_record && field.name() == "log.line" {
            self.line = Some(value);
        } else {
            self.keep(field, value);
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, value);
    }
}
