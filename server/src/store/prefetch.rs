//! Reads lines in the background while earlier lines are being stored.

use std::{io, thread};

use tokio::sync::mpsc::{self, Receiver};

use super::{Lines, record::Line};

/// Maximum number of lines in a batch.
pub(super) const BATCH: usize = 4096;

/// Number of bytes at which a batch ends, because a line may be long and its record takes several times its length in memory.
pub(super) const BATCH_BYTES: usize = 2 << 20;

/// Reads on a thread of its own, one batch ahead.
///
/// # Errors
/// No thread can be started.
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
            // The receiver is dropped when loading ends early.
            if batch.is_empty() || batches.blocking_send(batch).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}
