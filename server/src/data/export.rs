//! Exports: every record as a line of JSON, in the format that imports read.

use std::io::{BufWriter, Write};

use crate::{
    printable::write_json,
    store::{Store, UnloadError, record::RecordCounts},
};

/// Writes every record of the store, from one snapshot. Tokens are written as hashes, proxy passwords in clear text.
///
/// # Errors
/// The store cannot be read, or the output cannot be written; what has been written by then is incomplete.
pub async fn export(store: &Store, output: impl Write + Send + 'static) -> Result<RecordCounts, UnloadError> {
    let (mut output, unloaded) =
        store.unload(BufWriter::new(output), |output, record| write_json(output, record)).await?;
    output.flush()?;
    Ok(unloaded)
}
