use std::io::{self, Write as _};

use schemars::schema::{RootSchema, Schema};
use serde_json::Value;

use super::har::har;
use super::junit::junit;
use super::markdown::{MAX_COMMENT_CHARACTERS, markdown, markdown_within};
use super::prometheus::prometheus;
use super::template::{render, template};
use super::view::{page_view, view};
use crate::names;
use crate::plain::plain_json;
use crate::run::Report;

names! {
    /// A form in which a report is written to a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Format {
        /// One page for a browser.
        Html => "html",
        /// All of it, in the shape of `report.schema.json`.
        Json => "json",
        /// For continuous integration.
        Junit => "junit",
        /// For code scanning: SARIF 2.1.0.
        Sarif => "sarif",
        /// A summary for a pull request.
        Markdown => "md",
        /// The same summary, in the length that a comment of a pull request takes.
        Comment => "comment",
        /// Annotations for GitHub Actions.
        Github => "github",
        /// Metrics for the textfile collector of the node exporter.
        Prometheus => "prometheus",
        /// The exchanges of the run as an HTTP Archive; the run has to keep them.
        Har => "har",
    }
}

impl Format {
    /// Those of a report on a client. Here, because arguments name them also in a build that cannot test clients.
    pub const OF_CLIENTS: [Self; 2] = [Self::Json, Self::Junit];

    /// The report in this form.
    ///
    /// # Errors
    /// When it can't be written, which would be a bug of the suite.
    pub fn render(self, report: &Report) -> io::Result<String> {
        let mut text = Vec::new();
        self.write(report, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Writes the report in this form; an archive piece by piece, because it may be long.
    ///
    /// # Errors
    /// As for [`Format::render`], and when `writer` fails.
    pub fn write(self, report: &Report, writer: &mut dyn io::Write) -> io::Result<()> {
        let text = match self {
            Self::Json => Ok(pretty(report)?),
            Self::Har => return har(report, writer),
            Self::Sarif => return sarif(report, writer),
            Self::Html => render(template!("templates/page.html"), page_view(report)),
            Self::Github => render(template!("templates/annotations.github"), view(report)),
            Self::Junit => junit(report),
            Self::Markdown => markdown(report),
            Self::Comment => markdown_within(report, MAX_COMMENT_CHARACTERS),
            Self::Prometheus => prometheus(report),
        };
        let text = text.map_err(io::Error::other)?;
        writer.write_all(text.as_bytes())
    }
}

fn sarif(report: &Report, writer: &mut dyn io::Write) -> io::Result<()> {
    let text = render(template!("templates/sarif.json"), view(report)).map_err(io::Error::other)?;
    write_pretty(&serde_json::from_str::<Value>(&text)?, writer)
}

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
