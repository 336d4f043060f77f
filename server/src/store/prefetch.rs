//! Lines that are read while those before them are stored.

use std::{io, thread};

use tokio::sync::mpsc::{self, Receiver};

use super::{Lines, record::Line};

/// Maximum number of lines that are handed over together.
pub(super) const BATCH: usize = 4096;

/// Number of bytes after which no more lines are handed over together. A line may be long, and what is made of it takes
/// several times its length in memory.
pub(super) const BATCH_BYTES: usize = 2 << 20;

/// Reads on a thread of its own, one batch ahead.
///
/// # Errors
/// There can be no more threads.
pub(super) fn read(mut lines: Lines) -> io::Result<Receiver<Vec<io::Result<Line>>>> {
    let (batches, receiver) = mpsc::channel(1);
    thread::Builder::new().name("import-reader".to_owned()).spawn(move || {
        loop {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while batch.len() < BATCH
                && bytes < BATCH_BYTES
                && let Some(line) = lines.next()
            {
                bytes += line.as_ref().map_or(0, |line| line.bytes);
                batch.push(line);
            }
            // Nobody listens any more when the loading has ended early.
            if batch.is_empty() || batches.blocking_send(batch).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}
