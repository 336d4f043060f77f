//! Output formats. All of them escape text of the service.

use std::io::{self, Write};

use sallyport_client::printable;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

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

/// Writes a value as one line of compact JSON. JSON has its own escapes, so no text is changed.
pub(crate) fn json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, TerminalSafe))?;
    writeln!(out)
}

/// Formats compact JSON in which all characters that [`printable`] escapes are escaped.
struct TerminalSafe;

impl Formatter for TerminalSafe {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        fragment.split_inclusive(is_escaped).try_for_each(|part| {
            let Some(letter) = part.chars().next_back().filter(|letter| is_escaped(*letter)) else {
                return writer.write_all(part.as_bytes());
            };
            let before = part.strip_suffix(letter).unwrap_or_default();
            // All of them are below U+10000, so one escape is enough.
            write!(writer, "{before}\\u{:04x}", u32::from(letter))
        })
    }
}

fn is_escaped(letter: char) -> bool {
    let mut buffer = [0; 4];
    let text: &str = letter.encode_utf8(&mut buffer);
    printable(text) != text
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

    #[test]
    fn json_is_safe_and_lossless() {
        let value = "北京\"\\\u{1b}\u{9b}\u{7f}\n\u{202e}é";
        let line = text(|out| json(out, &[value]));
        assert_eq!(line, "[\"北京\\\"\\\\\\u001b\\u009b\\u007f\\n\\u202eé\"]\n");
        assert_eq!(serde_json::from_str::<[String; 1]>(&line).unwrap(), [value]);
    }
}
