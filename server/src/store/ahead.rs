//! Lines that are read while those before them are stored.

use std::{io, thread};

use tokio::sync::mpsc::{self, Receiver};

use super::{Lines, record::Line};

/// Most lines that are handed over together.
pub(super) const BATCH: usize = 4096;

/// Reads on a thread of its own, one batch ahead.
///
/// # Errors
/// There can be no more threads.
pub(super) fn read(mut lines: Lines) -> io::Result<Receiver<Vec<io::Result<Line>>>> {
    let (batches, receiver) = mpsc::channel(1);
    thread::Builder::new().name("import-reader".to_owned()).spawn(move || {
        loop {
            let batch: Vec<_> = lines.by_ref().take(BATCH).collect();
            // Nobody listens any more when the loading has ended early.
            if batch.is_empty() || batches.blocking_send(batch).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}
