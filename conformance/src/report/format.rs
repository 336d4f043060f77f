use std::io;

use super::{comment, github, har, html, json, junit, markdown, prometheus, sarif};
use crate::names::names;
use crate::run::Report;

/// A form in which a report is written to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One page for a browser.
    Html,
    /// All of it, in the shape of `report.schema.json`.
    Json,
    /// For continuous integration.
    Junit,
    /// For code scanning: SARIF 2.1.0.
    Sarif,
    /// A summary for a pull request.
    Markdown,
    /// The same summary, in the length that a comment of a pull request takes.
    Comment,
    /// Annotations for GitHub Actions.
    Github,
    /// Metrics for the textfile collector of the node exporter.
    Prometheus,
    /// The exchanges of the run as an HTTP Archive; the run has to keep them.
    Har,
}

/// A report could not be written in a form: a bug of the suite.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// As JSON, SARIF or HAR.
    #[error("the report can't be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// As JUnit.
    #[error("the report can't be written as JUnit: {0}")]
    Junit(#[from] quick_junit::SerializeError),
    /// As a page.
    #[error("the report can't be written as HTML: {0}")]
    Html(#[from] minijinja::Error),
    /// To a file or a pipe.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// In this format at all, see [`Format::OF_CLIENTS`].
    #[error("{what} can't be written as {format}")]
    Unsupported {
        /// What was to be written.
        what: &'static str,
        /// The name of the format.
        format: &'static str,
    },
}

impl From<RenderError> for io::Error {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Io(error) => error,
            RenderError::Json(error) => error.into(),
            other => Self::other(other),
        }
    }
}

names! {
    Format {
        Html => "html",
        Json => "json",
        Junit => "junit",
        Sarif => "sarif",
        Markdown => "md",
        Comment => "comment",
        Github => "github",
        Prometheus => "prometheus",
        Har => "har",
    }
}

impl Format {
    /// Those that a report of a client can be written in. Here, because arguments name them in every build, also in one that cannot
    /// test clients.
    pub const OF_CLIENTS: [Self; 2] = [Self::Json, Self::Junit];

    /// The report in this form.
    ///
    /// # Errors
    /// When it can't be written, which would be a bug of the suite.
    pub fn render(self, report: &Report) -> Result<String, RenderError> {
        Ok(match self {
            Self::Html => html(report)?,
            Self::Json => json(report)?,
            Self::Junit => junit(report)?,
            Self::Sarif => sarif(report)?,
            Self::Markdown => markdown(report)?,
            Self::Comment => comment(report)?,
            Self::Github => github(report),
            Self::Prometheus => prometheus(report),
            Self::Har => {
                let mut archive = Vec::new();
                har(report, &mut archive)?;
                String::from_utf8_lossy(&archive).into_owned()
            }
        })
    }

    /// Writes the report in this form; an archive piece by piece, because it may be long.
    ///
    /// # Errors
    /// As for [`Format::render`], and when `writer` fails.
    pub fn write(self, report: &Report, writer: &mut dyn io::Write) -> Result<(), RenderError> {
        match self {
            Self::Har => har(report, writer),
            other => Ok(writer.write_all(other.render(report)?.as_bytes())?),
        }
    }
}
