//! What commands print: tables for people, JSON for programs.

use std::io::{self, BufWriter, Stdout, Write as _};

use sallyport_server::{
    printable::{printable, write_json},
    store::{
        RecordKind, Store,
        registry::{Condition, Entry, RegistryError},
    },
};
use serde::Serialize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::{
    Failure,
    terminal::{ignore_closed_pipe, print_error_line, print_line},
};

/// Output format.
#[derive(Clone, Copy, clap::Args)]
pub(super) struct Output {
    /// Print for people, or JSON with the field names of an import: one line for each record.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
}

/// Default maximum number of lines in a table.
const TABLE_LINES: u32 = 1000;

/// Prints the matching records: as JSON while the database returns them.
pub(super) async fn print(
    store: &dyn Store,
    kind: RecordKind,
    conditions: Vec<Condition>,
    output: Output,
    limit: Option<u32>,
) -> Result<(), Failure> {
    let (printer, limit) = match output.output {
        Format::Json => (Printer::Json(BufWriter::new(io::stdout())), limit),
        Format::Table => {
            let columns = kind.table_columns();
            let mut table = Table::default();
            table.add(&columns);
            (Printer::Table(columns, table), Some(limit.unwrap_or(TABLE_LINES)))
        }
    };
    let listed = match store.list(kind, conditions, limit, printer, Printer::print).await {
        Ok((printer, more)) => printer.end().map(|()| more),
        Err(RegistryError::Output(error)) => Err(error),
        Err(error) => return Err(error.into()),
    };
    match listed {
        Ok(false) => Ok(()),
        Ok(true) => {
            let limit = limit.unwrap_or_default();
            print_error_line(&format!(
                "the list ends after {limit} entries; set a higher --limit to see more"
            ));
            Ok(())
        }
        Err(error) => ignore_closed_pipe(error),
    }
}

impl Output {
    /// Prints the result as JSON or as text.
    pub(super) fn print_or(self, thing: &impl Serialize, words: &str) -> Result<(), Failure> {
        match self.output {
            Format::Json => write_json(io::stdout(), thing).or_else(ignore_closed_pipe),
            Format::Table => print_line(words),
        }
    }
}

enum Printer {
    Json(BufWriter<Stdout>),
    /// The names of the columns, and the lines.
    Table(Vec<&'static str>, Table),
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

impl Printer {
    fn print(&mut self, entry: Entry) -> io::Result<()> {
        match self {
            Self::Json(output) => write_json(output, &entry),
            Self::Table(columns, table) => {
                table.add(columns.iter().map(|name| cell(entry.get(*name))));
                Ok(())
            }
        }
    }

    fn end(self) -> io::Result<()> {
        match self {
            Self::Json(mut output) => output.flush(),
            Self::Table(_, table) => io::stdout().write_all(table.text().as_bytes()),
        }
    }
}

/// Lines with their cells in columns, each as wide as its widest text.
#[derive(Default)]
pub(super) struct Table(Vec<Vec<String>>);

impl Table {
    /// Adds a line.
    pub(super) fn add(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.0.push(cells.into_iter().map(|cell| printable(cell.as_ref()).into_owned()).collect());
    }

    pub(super) fn text(&self) -> String {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.0.iter().filter_map(|line| Some(line.get(column)?.width())).max();
        let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let padded = |(cell, width): (&String, &usize)| cell.clone() + &" ".repeat(width - cell.width() + 2);
        let line = |cells: &Vec<String>| cells.iter().zip(&widths).map(padded).collect::<String>();
        self.0.iter().map(|cells| line(cells).trim_end().to_owned() + "\n").collect()
    }
}
