//! Exports: every record as a line of JSON, in the format that imports read.

use std::io::{self, BufWriter, Write};

use crate::{
    printable::write_json,
    store::{
        Sink, Store, UnloadError,
        record::{Record, RecordCounts},
    },
};

/// Writes every record of the store, from one snapshot, and calls `progress` with their number so far. Tokens are written
/// as hashes, proxy passwords in clear text.
///
/// # Errors
/// The store cannot be read, or the output cannot be written; what has been written by then is incomplete.
pub async fn export(
    store: &dyn Store,
    output: impl Write + Send + 'static,
    progress: impl FnMut(u64) + Send + 'static,
) -> Result<RecordCounts, UnloadError> {
    store.unload(Box::new(Lines { output: BufWriter::new(output), count: 0, progress })).await
}

struct Lines<W: Write, P> {
    output: BufWriter<W>,
    count: u64,
    progress: P,
}

impl<W: Write + Send + 'static, P: FnMut(u64) + Send + 'static> Sink for Lines<W, P> {
    fn write(&mut self, record: &Record) -> io::Result<()> {
        write_json(&mut self.output, record)?;
        self.count += 1;
        (self.progress)(self.count);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
