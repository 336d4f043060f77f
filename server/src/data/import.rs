//! Imports: one JSON object per line, streamed, all or nothing. `server/README.md` describes the format.

use std::{
    fs::File,
    io::{self, BufRead, Read as _, Seek as _},
    iter,
};

use crate::store::{
    LoadError, Store,
    record::{Line, Record, RecordCounts, reason},
};

/// Maximum length of a line in bytes, so that a file without line ends does not fill the memory.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Returns an input that does not stall: a regular file unchanged, and anything else, such as a pipe, as a copy in an unnamed
/// temporary file that only its owner can read. `TMPDIR` sets the folder.
///
/// # Errors
/// The input cannot be read to its end, or the copy cannot be written.
pub fn spool(mut input: File) -> io::Result<File> {
    let metadata = input.metadata()?;
    if metadata.is_file() {
        return Ok(input);
    }
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut input, &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}

/// Adds every record of `input` to the store, or none. Empty lines are skipped.
///
/// While it reads, nobody else can write to a SQLite database, or add gateways or groups to a PostgreSQL database. Pass an input
/// that may stall through [`spool`] first.
///
/// # Errors
/// [`LoadError::Rejected`] lists the invalid lines with their reasons; the store is then unchanged.
pub async fn import(store: &Store, input: impl BufRead + Send + 'static) -> Result<RecordCounts, LoadError> {
    store.load(lines(input)).await
}

/// The lines of `input` that are not empty, up to the first that cannot be read.
fn lines(mut input: impl BufRead) -> impl Iterator<Item = io::Result<Line>> {
    let (mut number, mut is_over) = (0, false);
    // Its memory is reused for the next line.
    let mut line = Vec::new();
    iter::from_fn(move || {
        while !is_over {
            number += 1;
            line.clear();
            let record = match input.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line) {
                Ok(0) => break,
                // The rest of the input begins in the middle of a line, so it cannot be checked.
                Ok(length) if length as u64 > MAX_LINE_BYTES => {
                    is_over = true;
                    Err(format!("the line is longer than {MAX_LINE_BYTES} bytes"))
                }
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => parse(&line),
                Err(error) => {
                    is_over = true;
                    return Some(Err(error));
                }
            };
            return Some(Ok(Line { number, bytes: line.len(), record }));
        }
        is_over = true;
        None
    })
}

fn parse(bytes: &[u8]) -> Result<Record, String> {
    // Checking the encoding of the whole line is faster than checking each string, but does not give an error's position.
    let record = match str::from_utf8(bytes) {
        Ok(line) => serde_json::from_str(line),
        Err(_) => serde_json::from_slice(bytes),
    };
    record.map_err(|error| {
        // The input of serde_json is a single line, so only the column is of use.
        format!("column {}: {}", error.column(), reason(&error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_line_is_bounded() {
        let input = vec![b' '; MAX_LINE_BYTES as usize * 2];
        let mut lines = lines(input.as_slice());
        let line = lines.next().unwrap().unwrap();
        assert!(line.record.is_err_and(|reason| reason.contains("longer than")));
        assert!(lines.next().is_none());
    }
}
