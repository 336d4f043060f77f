//! One transaction of the administration, on SQLite.

use std::ops::ControlFlow;

use rusqlite::{Connection, Statement};

use super::{SqliteStore, codec::columns};
use crate::store::{
    StoreError,
    registry::{RegistryError, Session, Take},
    row::Value,
};

impl SqliteStore {
    pub(in crate::store) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        self.writer.write(move |db| work(&mut SqliteSession(db))).await
    }

    pub(in crate::store) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        self.readers.read(move |snapshot| work(&mut SqliteSession(snapshot))).await
    }
}

struct SqliteSession<'a>(&'a Connection);

impl SqliteSession<'_> {
    fn bound(&self, sql: &str, values: &[Value]) -> Result<Statement<'_>, StoreError> {
        let mut statement = self.0.prepare(sql)?;
        for (place, value) in (1..).zip(values) {
            // By name: SQLite counts parameters in the order in which they are written.
            let Some(place) = statement.parameter_index(&format!("${place}"))? else { continue };
            match value {
                Value::Null => statement.raw_bind_parameter(place, rusqlite::types::Null)?,
                Value::Flag(flag) => statement.raw_bind_parameter(place, flag)?,
                Value::Number(number) => statement.raw_bind_parameter(place, number)?,
                Value::Text(text) => statement.raw_bind_parameter(place, text)?,
                Value::Bytes(bytes) => statement.raw_bind_parameter(place, bytes)?,
            }
        }
        Ok(statement)
    }
}

impl Session for SqliteSession<'_> {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        Ok(self.bound(sql, values)?.raw_execute()? as u64)
    }

    fn each(&mut self, sql: &str, values: &[Value], take: Take<'_>) -> Result<(), RegistryError> {
        let mut statement = self.bound(sql, values)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            if let ControlFlow::Break(()) = take(columns(row)?)? {
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
