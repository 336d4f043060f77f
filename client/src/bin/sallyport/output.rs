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

/// Writes a table of items. A column has a header and shows a member of each item; it is as wide as its widest cell.
pub(crate) fn table<T: Serialize>(
    out: &mut impl Write,
    columns: &[(&str, &str)],
    items: &[T],
) -> io::Result<()> {
    let header: Vec<String> = columns.iter().map(|(header, _)| (*header).to_owned()).collect();
    let row = |item| {
        let item = serde_json::to_value(item)?;
        Ok(columns.iter().map(|(_, member)| printable(&cell(&item[*member])).into_owned()).collect())
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect::<io::Result<_>>()?;
    let all = || std::iter::once(&header).chain(&rows);
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for row in all() {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_line_up_in_one_line_per_row() {
        let columns = [("ID", "id"), ("NAME", "name")];
        let items =
            [json!({"id": 1, "name": "é"}), json!({"id": 200, "name": ["b", 3], "more": 5}), json!({})];
        assert_eq!(text(|out| table(out, &columns, &items)), "ID   NAME\n1    é\n200  b 3\n\n");
        let items = [json!({"name": "a\u{1b}[31mé\n"})];
        assert_eq!(text(|out| table(out, &columns[1..], &items)), "NAME\na\\u{1b}[31mé\\n\n");
    }
}
