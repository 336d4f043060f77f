//! One transaction of the administration, on PostgreSQL.

use std::{ops::ControlFlow, pin::pin};

use deadpool_postgres::Transaction;
use futures::TryStreamExt as _;
use tokio::runtime::Handle;
use tokio_postgres::{IsolationLevel, types::ToSql};

use super::{PostgresStore, codec::columns, load, schema};
use crate::store::{
    StoreError,
    registry::{Result, RowCallback, Session},
    row::Value,
};

impl PostgresStore {
    pub(in crate::store) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.transact(IsolationLevel::ReadCommitted, false, work).await
    }

    pub(in crate::store) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.transact(IsolationLevel::RepeatableRead, true, work).await
    }

    /// Runs `work` on a thread that may block, as on SQLite, so that the same code works with both databases.
    async fn transact<T: Send + 'static>(
        &self,
        isolation: IsolationLevel,
        read_only: bool,
        work: impl FnOnce(&mut dyn Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut client = self.pool.get().await.map_err(StoreError::from)?;
        let runtime = Handle::current();
        let working = tokio::task::spawn_blocking(move || {
            let begin = client.build_transaction().isolation_level(isolation).read_only(read_only);
            let transaction = runtime.block_on(begin.start()).map_err(StoreError::from)?;
            runtime.block_on(set_timeouts(&transaction))?;
            let mut session = PostgresSession { transaction, runtime: &runtime };
            let value = work(&mut session)?;
            runtime.block_on(session.transaction.commit()).map_err(StoreError::from)?;
            Ok(value)
        });
        working.await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string()).into()))
    }
}

/// Lifts the time limit of statements for long lists and large removals, but limits the wait for locks.
async fn set_timeouts(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    schema::lift_statement_timeout(transaction).await?;
    transaction.batch_execute("SET LOCAL lock_timeout = '5s'").await?;
    Ok(())
}

struct PostgresSession<'a> {
    transaction: Transaction<'a>,
    runtime: &'a Handle,
}

impl Session for PostgresSession<'_> {
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let values = storable(values)?;
        Ok(self.runtime.block_on(self.transaction.execute(sql, &values))?)
    }

    fn each(&mut self, sql: &str, values: &[Value<'_>], callback: RowCallback<'_>) -> Result<()> {
        let values = storable(values)?;
        let rows =
            self.runtime.block_on(self.transaction.query_raw(sql, values)).map_err(StoreError::from)?;
        let mut rows = pin!(rows);
        while let Some(row) = self.runtime.block_on(rows.try_next()).map_err(StoreError::from)? {
            if let ControlFlow::Break(()) = callback(columns(&row)?)? {
                break;
            }
        }
        Ok(())
    }

    fn lock_numbers(&mut self) -> Result<(), StoreError> {
        self.runtime.block_on(schema::lock(&self.transaction, load::LOCK))
    }

    fn row_lock(&self) -> &'static str {
        "FOR UPDATE"
    }
}

/// The values as parameters. Rejects texts that PostgreSQL cannot store.
fn storable<'a>(values: &'a [Value<'_>]) -> Result<Vec<&'a (dyn ToSql + Sync)>, StoreError> {
    let is_storable = |value: &Value<'_>| !matches!(value, Value::Text(text) if text.contains('\0'));
    if values.iter().all(is_storable) {
        return Ok(values.iter().map(|value| value as &(dyn ToSql + Sync)).collect());
    }
    let reason = "a text has a NUL character, which PostgreSQL cannot hold; leave it out".to_owned();
    Err(StoreError::Conflict(reason))
}
