//! One transaction of the administration, on PostgreSQL.

use std::{error::Error, ops::ControlFlow, pin::pin};

use bytes::BytesMut;
use deadpool_postgres::Transaction;
use futures::TryStreamExt as _;
use tokio::runtime::Handle;
use tokio_postgres::{
    IsolationLevel,
    types::{IsNull, ToSql, Type, to_sql_checked},
};

use super::{PostgresStore, codec::columns, load, schema};
use crate::store::{
    StoreError,
    registry::{RegistryError, Session, Take},
    row::Value,
};

impl PostgresStore {
    pub(in crate::store) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        self.transact(IsolationLevel::ReadCommitted, false, work).await
    }

    pub(in crate::store) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Session) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        self.transact(IsolationLevel::RepeatableRead, true, work).await
    }

    /// Works on a thread that may block, as on SQLite, so that the code of each change serves both.
    async fn transact<T: Send + 'static>(
        &self,
        isolation: IsolationLevel,
        read_only: bool,
        work: impl FnOnce(&mut dyn Session) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        let mut client = self.pool.get().await.map_err(StoreError::from)?;
        let runtime = Handle::current();
        let working = tokio::task::spawn_blocking(move || {
            let begin = client.build_transaction().isolation_level(isolation).read_only(read_only);
            let transaction = runtime.block_on(begin.start()).map_err(StoreError::from)?;
            runtime.block_on(be_patient(&transaction))?;
            let mut session = PostgresSession { transaction, runtime: &runtime };
            let value = work(&mut session)?;
            runtime.block_on(session.transaction.commit()).map_err(StoreError::from)?;
            Ok(value)
        });
        working.await.unwrap_or_else(|error| Err(StoreError::Internal { reason: error.to_string() }.into()))
    }
}

/// Long lists and large removals take their time, but a lock of another transaction is not waited for as long.
async fn be_patient(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    schema::take_time(transaction).await?;
    transaction.batch_execute("SET LOCAL lock_timeout = '5s'").await?;
    Ok(())
}

struct PostgresSession<'a> {
    transaction: Transaction<'a>,
    runtime: &'a Handle,
}

impl Session for PostgresSession<'_> {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        let values = storable(values)?;
        Ok(self.runtime.block_on(self.transaction.execute(sql, &values))?)
    }

    fn each(&mut self, sql: &str, values: &[Value], take: Take<'_>) -> Result<(), RegistryError> {
        let values = storable(values)?;
        let rows =
            self.runtime.block_on(self.transaction.query_raw(sql, values)).map_err(StoreError::from)?;
        let mut rows = pin!(rows);
        while let Some(row) = self.runtime.block_on(rows.try_next()).map_err(StoreError::from)? {
            if let ControlFlow::Break(()) = take(columns(&row)?)? {
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

/// The values as parameters, if PostgreSQL can store them.
fn storable(values: &[Value]) -> Result<Vec<&(dyn ToSql + Sync)>, StoreError> {
    let holds = |value: &Value| !matches!(value, Value::Text(text) if text.contains('\0'));
    if values.iter().all(holds) {
        return Ok(values.iter().map(|value| value as &(dyn ToSql + Sync)).collect());
    }
    let reason = "a text has a NUL character, which PostgreSQL cannot hold; leave it out".to_owned();
    Err(StoreError::Conflict { reason })
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Flag(flag) => flag.to_sql(ty, out),
            Self::Number(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Self::Number(number) => number.to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::BOOL, Type::INT4, Type::INT8, Type::TEXT, Type::BYTEA].contains(ty)
    }

    to_sql_checked!();
}
