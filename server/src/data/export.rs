//! Exports: every record as a line of JSON, in the format that imports read.

use std::io::{BufWriter, Write};

use crate::{
    printable::write_json,
    store::{Store, UnloadError, record::RecordCounts},
};

/// Writes every record of the store, from one snapshot, and calls `progress` with their number so far. Tokens are written
/// as hashes, proxy passwords in clear text.
///
/// # Errors
/// The store cannot be read, or the output cannot be written; what has been written by then is incomplete.
pub async fn export(
    store: &dyn Store,
    output: impl Write + Send + 'static,
    mut progress: impl FnMut(u64) + Send + 'static,
) -> Result<RecordCounts, UnloadError> {
    let mut count = 0;
    let write = move |output: &mut BufWriter<_>, record: &_| {
        write_json(output, record)?;
        count += 1;
        progress(count);
        Ok(())
    };
    let (mut output, unloaded) = store.unload(BufWriter::new(output), write).await?;
    output.flush()?;
    Ok(unloaded)
}
