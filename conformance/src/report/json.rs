use std::io::{self, Write as _};

use schemars::schema::{RootSchema, Schema};

use super::plain::plain_json;
use crate::run::Report;

/// The JSON Schema of the report, as it is published in `report.schema.json`.
///
/// # Errors
/// When the schema can't be serialised, which would be a bug of the suite.
pub fn schema() -> Result<String, serde_json::Error> {
    let mut schema: RootSchema = schemars::schema_for!(Report);
    let metadata = schema.schema.metadata();
    metadata.title = Some(format!("Sallyport conformance report, version {}", Report::VERSION));
    if let Some(Schema::Object(version)) = schema.schema.object().properties.get_mut("schema_version") {
        version.const_value = Some(Report::VERSION.into());
    }
    pretty(&schema)
}

/// JSON as text, without control characters.
pub(crate) fn pretty(value: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    Ok(plain_json(&serde_json::to_string_pretty(value)?).into_owned() + "\n")
}

/// Writes what [`pretty`] returns, without a copy of all of it in memory.
pub(super) fn write_pretty(value: &impl serde::Serialize, writer: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = io::BufWriter::new(PlainWriter(writer));
    serde_json::to_writer_pretty(&mut writer, value)?;
    writer.write_all(b"\n")?;
    writer.flush()
}

/// Writes JSON without control characters.
struct PlainWriter<'a>(&'a mut dyn io::Write);

impl io::Write for PlainWriter<'_> {
    /// `serde_json` writes whole characters, and a buffer passes on what it has taken as a whole.
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(json).map_err(io::Error::other)?;
        self.0.write_all(plain_json(text).as_bytes())?;
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
