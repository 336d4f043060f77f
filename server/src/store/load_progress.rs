//! The progress of a load: records stored, lines rejected.

use std::ops::ControlFlow;

use super::{
    BadLines, LoadError, StoreError,
    record::{Record, RecordCounts},
};

/// Why a record is not stored.
#[derive(Debug)]
pub(super) enum RecordError {
    /// The line contradicts what is stored, or itself.
    Line(String),
    /// The storage failed, whatever the line says.
    Store(StoreError),
}

impl<E: Into<StoreError>> From<E> for RecordError {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}

/// Records and rejected lines so far.
#[derive(Debug, Default)]
pub(super) struct LoadProgress {
    loaded: RecordCounts,
    bad: BadLines,
}

impl LoadProgress {
    /// Counts a record that was stored.
    pub(super) fn stored(&mut self, record: &Record) {
        self.loaded.count(record);
    }

    /// Adds a rejected line. Breaks when [`BadLines::MOST`] is reached.
    ///
    /// # Errors
    /// The storage failed.
    pub(super) fn reject(&mut self, number: u64, error: RecordError) -> Result<ControlFlow<()>, LoadError> {
        match error {
            RecordError::Store(error) => Err(error.into()),
            RecordError::Line(reason) => {
                self.bad.lines.push((number, reason));
                self.bad.cut_short = self.bad.lines.len() == BadLines::MOST;
                Ok(if self.bad.cut_short { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            }
        }
    }

    /// What was loaded, if every line was valid.
    ///
    /// # Errors
    /// The invalid lines, by number.
    pub(super) fn finish(mut self) -> Result<RecordCounts, LoadError> {
        if self.bad.lines.is_empty() {
            return Ok(self.loaded);
        }
        self.bad.lines.sort();
        Err(LoadError::Rejected(self.bad))
    }
}
