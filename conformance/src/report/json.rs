use schemars::schema::RootSchema;

use super::plain::plain_json;
use crate::run::Report;

/// The report as JSON, in the shape of [`Report::schema_version`].
///
/// # Errors
/// When the report can't be serialised, which would be a bug of the suite.
pub fn json(report: &Report) -> Result<String, serde_json::Error> {
    pretty(report)
}

/// The JSON Schema of [`json()`], as it is published in `report.schema.json`.
///
/// # Errors
/// When the schema can't be serialised, which would be a bug of the suite.
pub fn schema() -> Result<String, serde_json::Error> {
    let mut schema: RootSchema = schemars::schema_for!(Report);
    let metadata = schema.schema.metadata();
    metadata.title = Some(format!("Sallyport conformance report, version {}", Report::VERSION));
    pretty(&schema)
}

pub(crate) fn pretty(value: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    Ok(plain_json(&serde_json::to_string_pretty(value)?) + "\n")
}
