//! A session on a connection to PostgreSQL, and the SQL that only PostgreSQL speaks.

use std::{error::Error as _, ops::ControlFlow, pin::pin, time::Duration};

use bytes::BytesMut;
use deadpool_postgres::Client;
use futures::StreamExt as _;
use tokio::{
    runtime::Handle,
    time::{Instant, timeout_at},
};
use tokio_postgres::{
    Error,
    binary_copy::BinaryCopyInWriter,
    error::SqlState,
    types::{FromSql, IsNull, ToSql, Type, to_sql_checked},
};

use super::schema::NUMBERS_LOCK;
use crate::{
    domain::address::Address,
    store::{
        Result, StoreError, Work,
        record_kind::RecordKind,
        session::{Access, Dialect, RowError, Session},
        value::{Columns, Row, Value},
    },
};

/// The SQL of PostgreSQL.
pub static DIALECT: Dialect = Dialect {
    row_lock: "FOR UPDATE",
    has_index_hints: false,
    stores_nul: false,
    matched: include_str!("matched.sql"),
    // OFFSET 0 keeps the planner from other joins, for which it might scan the account.
    instance: "LEFT JOIN LATERAL (
                   SELECT * FROM instances AS one WHERE one.id = page.id OFFSET 0
               ) AS i ON true",
    contains: |column, number| format!("i.{column}::jsonb ? ${number}"),
    addresses,
};

/// Addresses, first ports and last ports.
fn addresses(addresses: &[Address]) -> Vec<Value<'static>> {
    let array = |value: fn(&Address) -> Value<'static>| Value::Array(addresses.iter().map(value).collect());
    vec![
        array(|it| it.ip.into()),
        array(|it| (*it.ports().start()).into()),
        array(|it| (*it.ports().end()).into()),
    ]
}

/// Maximum number of rows that are received before they are passed on.
const CHUNK: usize = 256;

/// A session. Statements wait on the thread of the session, which may block, while the runtime receives the responses.
pub(super) struct PostgresSession<'a> {
    client: &'a Client,
    runtime: &'a Handle,
    /// When every response must have arrived. The database ends a statement before that, if its process runs.
    deadline: Option<Instant>,
    /// Whether neither a statement nor a transaction is under way, so that the connection can be used again.
    pub(super) is_idle: bool,
}

impl<'a> PostgresSession<'a> {
    /// A session whose responses must arrive within the limit.
    pub(super) fn new(client: &'a Client, runtime: &'a Handle, limit: Option<Duration>) -> Self {
        let deadline = limit.map(|limit| Instant::now() + limit);
        Self { client, runtime, deadline, is_idle: true }
    }

    /// Runs `work` in a transaction of its own, except for a request, whose queries are one statement each.
    pub(super) fn transact(&mut self, access: Access, work: Work) -> Result<()> {
        // Long lists and large changes have no time limit, but must not wait for locks without end.
        let begin = match access {
            Access::Read | Access::Write => return work(self),
            Access::Snapshot => {
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0"
            }
            Access::Change | Access::Import => {
                "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '5s'"
            }
        };
        self.is_idle = false;
        self.wait(self.client.batch_execute(begin))?;
        if access == Access::Import {
            self.lock_numbers()?;
        }
        let result = work(self);
        let end = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.wait(self.client.batch_execute(end));
        self.is_idle = ended.is_ok();
        result.and(ended)
    }

    /// Waits for a response. When none arrives in time, the connection cannot be used any more.
    fn wait<T>(&mut self, response: impl Future<Output = Result<T, Error>>) -> Result<T> {
        self.wait_for(response)?.map_err(StoreError::from)
    }

    fn wait_for<T>(&mut self, response: impl Future<Output = T>) -> Result<T> {
        let Some(deadline) = self.deadline else { return Ok(self.runtime.block_on(response)) };
        self.runtime.block_on(async { timeout_at(deadline, response).await }).map_err(|_| {
            self.is_idle = false;
            StoreError::Unavailable("the database does not respond".to_owned())
        })
    }

    /// Runs statements, and undoes them if the database rejects a row of theirs.
    fn attempt(
        &mut self,
        statements: impl Future<Output = Result<(), Error>>,
    ) -> Result<Result<(), RowError>> {
        self.wait(self.client.batch_execute("SAVEPOINT attempt"))?;
        let Err(error) = self.wait_for(statements)? else {
            self.wait(self.client.batch_execute("RELEASE attempt"))?;
            return Ok(Ok(()));
        };
        let reason = match error.code() {
            Some(&SqlState::UNIQUE_VIOLATION) => RowError::AlreadyExists,
            Some(&SqlState::FOREIGN_KEY_VIOLATION) => RowError::UnknownReference,
            Some(&SqlState::CHARACTER_NOT_IN_REPERTOIRE) => RowError::NulCharacter,
            _ => return Err(error.into()),
        };
        self.wait(self.client.batch_execute("ROLLBACK TO attempt"))?;
        Ok(Err(reason))
    }
}

impl Session for PostgresSession<'_> {
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        let (client, values) = (self.client, storable(values)?);
        self.wait(async {
            let statement = client.prepare_cached(sql).await?;
            client.execute(&statement, &values).await
        })
    }

    fn rows(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        callback: &mut dyn FnMut(Row<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let (client, values) = (self.client, storable(values)?);
        let rows = self.wait(async {
            let statement = client.prepare_cached(sql).await?;
            let values = values.get(..statement.params().len()).unwrap_or(&values);
            client.query_raw(&statement, values.iter().copied()).await
        })?;
        let mut chunks = pin!(rows.ready_chunks(CHUNK));
        while let Some(chunk) = self.wait_for(chunks.next())? {
            for row in chunk {
                if callback(Row::new(&row?)).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn insert(
        &mut self,
        kind: RecordKind,
        rows: &[Vec<Value<'_>>],
        rejected: &mut dyn FnMut(usize, RowError),
    ) -> Result<()> {
        if rows.is_empty() || self.attempt(copy(self.client, kind, rows))?.is_ok() {
            return Ok(());
        }
        // One by one, to find the bad ones.
        for (place, row) in rows.iter().enumerate() {
            if let Err(error) = self.attempt(insert(self.client, kind, row))? {
                rejected(place, error);
            }
        }
        Ok(())
    }

    fn lock_numbers(&mut self) -> Result<()> {
        self.wait(self.client.execute("SELECT pg_advisory_xact_lock($1)", &[&NUMBERS_LOCK])).map(drop)
    }

    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }
}

async fn copy(client: &Client, kind: RecordKind, rows: &[Vec<Value<'_>>]) -> Result<(), Error> {
    // The statement is prepared for the types of its columns.
    let insert = client.prepare_cached(&kind.insert()).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(client.copy_in(&kind.copy()).await?, insert.params()));
    for row in rows {
        writer.as_mut().write(&parameters(row)).await?;
    }
    writer.finish().await.map(drop)
}

async fn insert(client: &Client, kind: RecordKind, row: &[Value<'_>]) -> Result<(), Error> {
    let insert = client.prepare_cached(&kind.insert()).await?;
    client.execute(&insert, &parameters(row)).await.map(drop)
}

fn parameters<'a>(values: &'a [Value<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// The values as parameters. Rejects texts that PostgreSQL cannot store.
fn storable<'a>(values: &'a [Value<'_>]) -> Result<Vec<&'a (dyn ToSql + Sync)>> {
    if values.iter().any(|value| matches!(value, Value::Text(text) if !DIALECT.can_store(text))) {
        let reason = "a text has a NUL character, which PostgreSQL cannot hold; leave it out";
        return Err(StoreError::Conflict(reason.to_owned()));
    }
    Ok(parameters(values))
}

impl Columns for tokio_postgres::Row {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        fn get<'a, T: FromSql<'a>>(row: &'a tokio_postgres::Row, column: usize) -> Result<Option<T>> {
            row.try_get(column).map_err(|error| {
                let reason = error.source().map(|source| format!(": {source}")).unwrap_or_default();
                StoreError::Corrupt(format!("{error}{reason}"))
            })
        }
        let kind = self.columns().get(column).map(tokio_postgres::Column::type_);
        Ok(match kind {
            Some(&Type::BOOL) => get::<bool>(self, column)?.into(),
            Some(&Type::INT4) => get::<i32>(self, column)?.map(i64::from).into(),
            Some(&Type::INT8) => get::<i64>(self, column)?.into(),
            Some(&Type::BYTEA) => {
                get::<&[u8]>(self, column)?.map_or(Value::Null, |it| Value::Bytes(it.into()))
            }
            _ => get::<&str>(self, column)?.into(),
        })
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Flag(flag) => flag.to_sql(ty, out),
            Self::Number(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Self::Number(number) => number.to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
            Self::Array(values) => values.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [
            Type::BOOL,
            Type::INT4,
            Type::INT8,
            Type::TEXT,
            Type::BYTEA,
            Type::INT4_ARRAY,
            Type::TEXT_ARRAY,
            Type::BYTEA_ARRAY,
        ]
        .contains(ty)
    }

    to_sql_checked!();
}
