//! Exports every record from one snapshot.

use rusqlite::Connection;

use super::codec::columns;
use crate::store::{Sink, StoreError, UnloadError, record::RecordCounts, record_kind::RecordKind};

pub(super) fn unload(snapshot: &Connection, mut sink: Box<dyn Sink>) -> Result<RecordCounts, UnloadError> {
    let mut unloaded = RecordCounts::default();
    for kind in RecordKind::ALL {
        let mut statement = snapshot.prepare(&kind.select()).map_err(StoreError::from)?;
        let mut rows = statement.query([]).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            let record = kind.read(columns(row)?)?;
            sink.write(&record)?;
            unloaded.count(&record);
        }
    }
    sink.finish()?;
    Ok(unloaded)
}
