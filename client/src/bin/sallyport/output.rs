//! Rows as people and programs read them.

use std::io::{self, Write};

/// Writes rows in columns as wide as their widest cell.
pub(crate) fn table(out: &mut impl Write, header: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let header: Vec<String> = header.iter().map(|&cell| cell.to_owned()).collect();
    let all = || std::iter::once(&header).chain(rows);
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

/// Writes one row of RFC 4180, safe to show and to open in a spreadsheet: one obeys control characters, the other takes a
/// cell that begins with a sign of calculation for a formula.
pub(crate) fn csv(out: &mut impl Write, cells: &[String]) -> io::Result<()> {
    let quoted: Vec<String> = cells
        .iter()
        .map(|cell| {
            let mut cell = printable(cell);
            if cell.starts_with(['=', '+', '-', '@']) && cell.parse::<i64>().is_err() {
                cell.insert(0, '\'');
            }
            if cell.contains(['"', ',']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
        })
        .collect();
    write!(out, "{}\r\n", quoted.join(","))
}

/// A text of the service, safe to show: a terminal obeys control characters.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|letter| {
            let escaped = letter.is_control().then(|| letter.escape_default());
            let plain = escaped.is_none().then_some(letter);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
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
    fn columns_line_up() {
        let rows = [vec!["1".to_owned(), "é".to_owned()], vec!["200".to_owned(), "b".to_owned()]];
        assert_eq!(text(|out| table(out, &["ID", "NAME"], &rows)), "ID   NAME\n1    é\n200  b\n");
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let cells = ["a", "b,c", "d\"e", ""].map(str::to_owned);
        assert_eq!(text(|out| csv(out, &cells)), "a,\"b,c\",\"d\"\"e\",\r\n");
        let cells = ["=1+1", "+x", "@SUM(A1,B1)", "-7", "-x", "a\r\nb\u{1b}"].map(str::to_owned);
        assert_eq!(text(|out| csv(out, &cells)), "'=1+1,'+x,\"'@SUM(A1,B1)\",-7,'-x,a\\r\\nb\\u{1b}\r\n");
    }

    #[test]
    fn a_terminal_is_not_given_orders() {
        assert_eq!(printable("a\u{1b}[31mé\n"), "a\\u{1b}[31mé\\n");
    }
}
