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

/// Writes a table whose columns are as wide as their widest cell.
pub(crate) fn table(out: &mut impl Write, header: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let header: Vec<String> = header.iter().map(|&cell| cell.to_owned()).collect();
    let shown = |row: &Vec<String>| row.iter().map(|cell| printable(cell).into_owned()).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(shown).collect();
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

/// The cells of an item, by the names of its members.
pub(crate) fn cells<T: Serialize>(item: &T, members: &[&str]) -> io::Result<Vec<String>> {
    let item = serde_json::to_value(item)?;
    let cell = |member: &&str| match &item[*member] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Ok(members.iter().map(cell).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_line_up_in_one_line_per_row() {
        let rows = [vec!["1".to_owned(), "é".to_owned()], vec!["200".to_owned(), "b".to_owned()]];
        assert_eq!(text(|out| table(out, &["ID", "NAME"], &rows)), "ID   NAME\n1    é\n200  b\n");
        let rows = [vec!["a\u{1b}[31mé\n".to_owned()]];
        assert_eq!(text(|out| table(out, &["NAME"], &rows)), "NAME\na\\u{1b}[31mé\\n\n");
    }
}
