//! What commands print: tables for people, JSON for programs.

use std::io::{self, BufWriter, Stdout, Write as _};

use sallyport_server::{
    printable::{printable, write_json},
    store::{
        RecordKind, Store,
        registry::{Condition, Entry, ListConsumer, RegistryError},
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

/// Default maximum number of lines in a table, and how many lines determine the widths of its columns.
const TABLE_LINES: u32 = 1000;

/// Prints the matching records as the database returns them.
pub(super) async fn print(
    store: &dyn Store,
    kind: RecordKind,
    conditions: Vec<Condition>,
    output: Output,
    limit: Option<u32>,
) -> Result<(), Failure> {
    let stdout = BufWriter::new(io::stdout());
    let (printer, limit) = match output.output {
        Format::Json => (Printer::Json(stdout), limit),
        Format::Table => {
            let columns = kind.table_columns();
            let mut table = Table::default();
            table.add(columns.iter().map(ToString::to_string).collect());
            (Printer::Table { output: stdout, columns, table }, Some(limit.unwrap_or(TABLE_LINES)))
        }
    };
    let listed = match store.list(kind, conditions, limit, printer).await {
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
    Table { output: BufWriter<Stdout>, columns: Vec<&'static str>, table: Table },
}

impl ListConsumer for Printer {
    fn take(&mut self, entry: Entry) -> io::Result<()> {
        match self {
            Self::Json(output) => write_json(output, &entry),
            Self::Table { output, columns, table } => {
                match table.add(columns.iter().map(|name| cell(entry.get(*name))).collect()) {
                    Some(text) => output.write_all(text.as_bytes()),
                    None => Ok(()),
                }
            }
        }
    }
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

impl Printer {
    fn end(self) -> io::Result<()> {
        match self {
            Self::Json(mut output) => output.flush(),
            Self::Table { mut output, mut table, columns: _ } => {
                output.write_all(table.waiting().as_bytes())?;
                output.flush()
            }
        }
    }
}

/// Aligns lines in columns. The first lines are buffered until the widths of the columns are known.
#[derive(Default)]
pub(super) struct Table {
    waiting: Vec<Vec<String>>,
    /// Widths of the columns, once the first lines are printed.
    widths: Vec<usize>,
}

impl Table {
    /// Adds a line and returns text to print, if any.
    pub(super) fn add(&mut self, cells: Vec<String>) -> Option<String> {
        self.waiting.push(cells.iter().map(|cell| printable(cell).into_owned()).collect());
        let known = !self.widths.is_empty();
        (known || self.waiting.len() > TABLE_LINES as usize).then(|| self.waiting())
    }

    /// The text of the buffered lines.
    pub(super) fn waiting(&mut self) -> String {
        let lines = std::mem::take(&mut self.waiting);
        if self.widths.is_empty() {
            let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
            let width = |column: usize| lines.iter().filter_map(|line| Some(line.get(column)?.width())).max();
            self.widths = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        }
        lines.iter().map(|line| self.line(line)).collect()
    }

    fn line(&self, cells: &[String]) -> String {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&self.widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let mut table = Table::default();
        table.add(cells(&["id", "name", "state"]));
        assert_eq!(table.add(cells(&["1", "北京", "good"])), None);
        assert_eq!(table.add(cells(&["1000", "a", ""])), None);
        assert_eq!(table.waiting(), "id    name  state\n1     北京  good\n1000  a\n");
        assert_eq!(table.add(cells(&["2", "later", "good"])).unwrap(), "2     later  good\n");
    }

    #[test]
    fn a_long_table_does_not_wait_for_its_end() {
        let mut table = Table::default();
        table.add(cells(&["id"]));
        let texts: Vec<_> = (0..TABLE_LINES).filter_map(|id| table.add(vec![id.to_string()])).collect();
        assert_eq!(texts.len(), 1);
        assert_eq!(texts[0].lines().count(), 1 + TABLE_LINES as usize);
    }
}
