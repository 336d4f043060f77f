use crate::run::Report;

/// The report as JSON, in the shape of [`Report::schema_version`].
///
/// # Errors
/// When the report can't be serialised, which would be a fault of the suite.
pub fn json(report: &Report) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}
