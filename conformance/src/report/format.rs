use std::io;

use serde_json::Value;

use super::har::har;
use super::json::{pretty, write_pretty};
use super::junit::junit;
use super::markdown::{comment, markdown};
use super::prometheus::prometheus;
use super::template::{render, template};
use super::view::{page_view, view};
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
            Self::Comment => comment(report),
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
