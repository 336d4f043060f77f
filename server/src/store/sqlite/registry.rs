//! One transaction of the administration, on SQLite.

use std::ops::ControlFlow;

use rusqlite::{Connection, Statement};

use super::{SqliteStore, codec::columns};
use crate::store::{
    StoreError,
    registry::{Result, RowCallback, Session},
    row::Value,
};

impl SqliteStore {
    pub(in crate::store) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.write(move |db| work(&mut SqliteSession(db))).await
    }

    pub(in crate::store) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.readers.read(move |snapshot| work(&mut SqliteSession(snapshot))).await
    }
}

struct SqliteSession<'a>(&'a Connection);

impl SqliteSession<'_> {
    fn bound(&self, sql: &str, values: &[Value<'_>]) -> Result<Statement<'_>, StoreError> {
        let mut statement = self.0.prepare(sql)?;
        for (place, value) in (1..).zip(values) {
            // By name, because SQLite numbers parameters in the order in which they occur.
            let Some(place) = statement.parameter_index(&format!("${place}"))? else { continue };
            statement.raw_bind_parameter(place, value)?;
        }
        Ok(statement)
    }
}

impl Session for SqliteSession<'_> {
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        Ok(self.bound(sql, values)?.raw_execute()? as u64)
    }

    fn each(&mut self, sql: &str, values: &[Value<'_>], callback: RowCallback<'_>) -> Result<()> {
        let mut statement = self.bound(sql, values)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            if let ControlFlow::Break(()) = callback(columns(row)?)? {
                break;
            }
        }
        Ok(())
    }

    fn lock_numbers(&mut self) -> Result<(), StoreError> {
        // SQLite has one writer at a time.
        Ok(())
    }

    fn row_lock(&self) -> &'static str {
        ""
    }
}
