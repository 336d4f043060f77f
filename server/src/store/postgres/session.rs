//! A session on a connection to PostgreSQL, and the SQL that only PostgreSQL speaks.

use std::{error::Error as _, ops::ControlFlow, pin::pin, time::Duration};

use bytes::BytesMut;
use deadpool_postgres::ClientWrapper as Client;
use futures::{FutureExt as _, StreamExt as _};
use tokio::{
    runtime::Handle,
    time::{Instant, timeout_at},
};
use tokio_postgres::{
    Error,
    binary_copy::BinaryCopyInWriter,
    types::{FromSql, IsNull, ToSql, Type, to_sql_checked},
};

use crate::{
    domain::address::Address,
    store::{
        Conflict, Result, StoreError,
        record_kind::RecordKind,
        session::{Dialect, Schema, Session},
        value::{Columns, Row, Value},
    },
};

/// The SQL of PostgreSQL.
pub static DIALECT: Dialect = Dialect {
    schema: Schema {
        // A migration may take longer than a statement of a request. The number of the lock is "sallypor" in ASCII, so that no other
        // program uses it.
        begin: "BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(8314045600252325746)",
        owner: "SELECT to_regclass('sallyport_schema') IS NOT NULL,
                       NOT EXISTS (SELECT 1 FROM pg_class
                                   WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r')",
        foreign: "it has tables of another program; use a database of its own",
        version: "SELECT version FROM sallyport_schema",
        mark: "CREATE TABLE IF NOT EXISTS sallyport_schema (version bigint NOT NULL);
               DELETE FROM sallyport_schema;
               INSERT INTO sallyport_schema VALUES (VERSION)",
        migrations: [
            include_str!("migrations/0001_initial.sql"),
            include_str!("migrations/0002_numbers.sql"),
            include_str!("migrations/0003_extractions_by_age.sql"),
            include_str!("migrations/0004_addresses_alone.sql"),
            include_str!("migrations/0005_whitelist_ranges.sql"),
        ],
    },
    // Long lists and large changes have no time limit, but must not wait for locks without end.
    snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0",
    change: "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '5s'",
    lease: super::LEASE,
    // "sallyloa" in ASCII. It is released at the end of the transaction.
    lock_numbers: "SELECT pg_advisory_xact_lock(8314045600252063585)",
    import: ["", ""],
    // Others search by the index meanwhile.
    postponed_index: "SELECT NULL::text LIMIT 0",
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
fn addresses<'a>(addresses: &[Address], _: &'a mut Vec<u8>) -> Vec<Value<'a>> {
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
    runtime: Handle,
    /// When every response must have arrived. The database ends a statement before that, if its process runs.
    deadline: Option<Instant>,
    is_idle: bool,
}

impl<'a> PostgresSession<'a> {
    /// A session whose responses must arrive within the limit.
    pub(super) fn new(client: &'a Client, limit: Option<Duration>) -> Self {
        let deadline = limit.map(|limit| Instant::now() + limit);
        Self { client, runtime: Handle::current(), deadline, is_idle: true }
    }

    /// Waits for a response. When none arrives in time, the connection cannot be used any more.
    fn wait<T>(&mut self, response: impl Future<Output = Result<T, Error>>) -> Result<T> {
        let Some(deadline) = self.deadline else { return Ok(self.runtime.block_on(response)?) };
        match self.runtime.block_on(async { timeout_at(deadline, response).await }) {
            Ok(response) => Ok(response?),
            Err(_) => {
                self.is_idle = false;
                Err(StoreError::Unavailable("the database does not respond".to_owned()))
            }
        }
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
        while let Some(chunk) = self.wait(chunks.next().map(Ok))? {
            for row in chunk {
                if callback(Row::new(&row?)).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn insert(&mut self, kind: RecordKind, rows: &[Vec<Value<'_>>]) -> Result<()> {
        let (client, copy) = (self.client, kind.copy());
        let rows = rows.iter().map(|row| storable(row)).collect::<Result<Vec<_>>>()?;
        self.wait(async {
            // The statement is prepared for the types of its columns.
            let insert = client.prepare_cached(&kind.insert()).await?;
            let mut writer = pin!(BinaryCopyInWriter::new(client.copy_in(&copy).await?, insert.params()));
            for row in rows {
                writer.as_mut().write(&row).await?;
            }
            writer.finish().await.map(drop)
        })
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        let executed = self.wait(self.client.batch_execute(sql));
        // Otherwise a transaction may still be under way.
        self.is_idle &= executed.is_ok();
        executed
    }

    fn is_idle(&self) -> bool {
        self.is_idle
    }

    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }
}

/// The values as parameters. Rejects texts that PostgreSQL cannot store.
fn storable<'a>(values: &'a [Value<'_>]) -> Result<Vec<&'a (dyn ToSql + Sync)>> {
    if values.iter().any(|value| matches!(value, Value::Text(text) if !DIALECT.can_store(text))) {
        let reason = "a text has a NUL character, which PostgreSQL cannot hold; leave it out";
        return Err(StoreError::Conflict(Some(Conflict::NulCharacter), reason.to_owned()));
    }
    Ok(values.iter().map(|value| value as &(dyn ToSql + Sync)).collect())
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
            Self::Flag(flag) => flag.to_sql_checked(ty, out),
            Self::Number(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql_checked(ty, out),
            Self::Number(number) => number.to_sql_checked(ty, out),
            Self::Text(text) => text.to_sql_checked(ty, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(ty, out),
            Self::Array(values) => values.to_sql_checked(ty, out),
        }
    }

    /// Each value checks the type itself.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
