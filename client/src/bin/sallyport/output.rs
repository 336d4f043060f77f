//! Output formats. All of them escape text of the service.

use std::io::{self, Write};

use sallyport_client::printable;
pub(crate) use sallyport_contract::printable::write_json as json;
use serde::Serialize;
use serde_json::Value;

/// Writes a line.
pub(crate) fn line(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", printable(text))
}

/// Writes a table of items with these columns, each with the member that it shows, and as wide as its widest cell.
pub(crate) fn table<T: Serialize>(
    out: &mut impl Write,
    items: &[T],
    columns: &[(&str, &str)],
) -> io::Result<()> {
    let mut rows: Vec<Vec<String>> = vec![columns.iter().map(|(name, _)| (*name).to_owned()).collect()];
    for item in items {
        let item = serde_json::to_value(item)?;
        let shown = |(_, member): &(&str, &str)| printable(&cell(&item[*member])).into_owned();
        rows.push(columns.iter().map(shown).collect());
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
