//! Import and export: records into a store and out of it.

use async_trait::async_trait;

use super::{
    LoadError, UnloadError,
    record::{Line, Record, RecordCounts},
};

/// Import and export of a store.
#[async_trait]
pub trait Archive: Send + Sync {
    /// Adds records, all or none.
    async fn load(&self, lines: Lines) -> Result<RecordCounts, LoadError>;

    /// Passes every record to `sink`, from one snapshot and in an order in which they can be loaded. Extractions that are stored under
    /// a request id are not included.
    async fn unload(&self, sink: Box<dyn Sink>) -> Result<RecordCounts, UnloadError>;
}

/// The lines to load, in order.
pub type Lines = Box<dyn Iterator<Item = std::io::Result<Line>> + Send>;

/// Writes records, on a thread that may block.
pub trait Sink: Send + 'static {
    /// Writes one record.
    ///
    /// # Errors
    /// The record cannot be written; no more records follow then.
    fn write(&mut self, record: &Record) -> std::io::Result<()>;

    /// Ends the output after the last record.
    ///
    /// # Errors
    /// The output cannot be completed.
    fn finish(&mut self) -> std::io::Result<()>;
}
