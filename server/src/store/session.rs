//! A session with a database: SQL and values in, rows out. Each database implements it, so that every query is written once. What their
//! SQL has not in common is in the [`Dialect`].

use std::{ops::ControlFlow, time::Duration};

use super::{
    StoreError,
    record_kind::RecordKind,
    value::{FromRow, Row, Value},
};
use crate::domain::address::Address;

/// A session, which is used on a thread that may block. Parameters are `$1`, `$2` and so on; values beyond those in the SQL are ignored.
pub trait Session {
    /// Executes a statement and returns the number of rows that it changed.
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError>;

    /// Passes the rows of a query to the callback one after another, until it breaks.
    fn rows(&mut self, sql: &str, values: &[Value<'_>], callback: RawCallback<'_>) -> Result<(), StoreError>;

    /// Adds rows of one kind, each with the values of the kind's columns. Fails at a row that cannot be added.
    fn insert(&mut self, kind: RecordKind, rows: &[Vec<Value<'_>>]) -> Result<(), StoreError>;

    /// Executes statements that have neither parameters nor rows.
    fn batch(&mut self, sql: &str) -> Result<(), StoreError>;

    /// Whether neither a statement nor a transaction is under way, so that another session can use the connection.
    fn is_idle(&self) -> bool;

    /// The SQL of the database.
    fn dialect(&self) -> &'static Dialect;
}

/// Receives a row and returns whether to go on.
type RawCallback<'a> = &'a mut dyn FnMut(Row<'_>) -> ControlFlow<()>;

/// The same for a callback that may fail, which ends the query.
pub(super) type RowCallback<'a, E> = &'a mut dyn FnMut(Row<'_>) -> Result<ControlFlow<()>, E>;

/// What a session is for, which decides on transaction and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Queries of a request: each statement reads one snapshot, and all of them must end within the limits for a request.
    Read,
    /// The same for changes, which are durable when the session has ended. On PostgreSQL each statement is a transaction of its own.
    Write,
    /// Queries of one snapshot, however long they take.
    Snapshot,
    /// Changes of an administrator, all or none.
    Change,
}

/// How the SQL of the databases differs.
#[derive(Debug)]
pub struct Dialect {
    /// The tables, and how they come to be.
    pub(super) schema: Schema,
    /// Begins a transaction that reads one snapshot, however long it takes.
    pub(super) snapshot: &'static str,
    /// Begins a transaction that changes something.
    pub(super) change: &'static str,
    /// How long cached data is used at most after a change of another server. Commands that change something wait for longer.
    pub(super) lease: Duration,
    /// Waits until no other transaction assigns numbers to gateways or groups. Nothing where there is one writer at a time.
    pub(super) lock_numbers: &'static str,
    /// Makes an import fast, and undoes that when it has ended.
    pub(super) import: [&'static str; 2],
    /// Selects the statement that creates the index of instances by address, if an import does without it until all is stored.
    pub(super) postponed_index: &'static str,
    /// The suffix of a `SELECT` that locks its rows: until the transaction ends, no other may change them or add references to them.
    #[cfg_attr(not(feature = "admin"), expect(dead_code, reason = "only administration locks rows"))]
    pub(super) row_lock: &'static str,
    /// Whether a table in `FROM` may name the index to use.
    pub(super) has_index_hints: bool,
    /// Whether texts can hold NUL. Otherwise request ids are stored as bytes.
    pub(super) stores_nul: bool,
    /// Selects the ids of the instances of `OWNER` at the addresses of the parameters from $4 on, for which `FILTERS` stands for further
    /// conditions on `i`.
    pub(super) matched: &'static str,
    /// Joins the instance whose id is `page.id` as `i`.
    pub(super) instance: &'static str,
    /// That the list in a column of `i`, which is stored as JSON, has the value of the parameter of this number.
    pub(super) contains: fn(&str, usize) -> String,
    /// The values of the parameters for addresses, which may borrow what they write to the buffer, an empty one.
    pub(super) addresses: for<'a> fn(&[Address], &'a mut Vec<u8>) -> Vec<Value<'a>>,
}

/// The schema of a database, which has a version.
#[derive(Debug)]
pub(super) struct Schema {
    /// Begins the transaction of a migration, which waits for those of other programs.
    pub(super) begin: &'static str,
    /// Selects whether the database is ours, and whether it has no tables.
    pub(super) owner: &'static str,
    /// How one with tables that are not ours was detected.
    pub(super) foreign: &'static str,
    /// Selects the version of our schema.
    pub(super) version: &'static str,
    /// Makes the database ours, with the version `VERSION`.
    pub(super) mark: &'static str,
    /// One entry per version. Entries are only added, because existing databases have run the earlier ones.
    pub(super) migrations: [&'static str; 5],
}

impl Dialect {
    /// `table`, to be read along an index.
    pub(super) fn along(&self, table: &str, index: &str) -> String {
        if self.has_index_hints { format!("{table} INDEXED BY {index}") } else { table.to_owned() }
    }

    /// Whether a stored text can equal this one.
    pub(super) fn can_store(&self, text: &str) -> bool {
        self.stores_nul || !text.contains('\0')
    }

    /// A request id, which callers choose.
    pub(super) fn request_id<'a>(&self, id: &'a str) -> Value<'a> {
        if self.stores_nul { Value::from(id) } else { Value::Bytes(id.as_bytes().into()) }
    }
}

impl dyn Session + '_ {
    /// Passes the rows of a query to the callback one after another, until it breaks or fails.
    pub(super) fn each<E: From<StoreError>>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        callback: RowCallback<'_, E>,
    ) -> Result<(), E> {
        let mut failed = None;
        self.rows(sql, values, &mut |row| {
            callback(row).unwrap_or_else(|error| {
                failed = Some(error);
                ControlFlow::Break(())
            })
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// All rows of a query.
    pub(super) fn all<T: FromRow>(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<T>, StoreError> {
        let mut all = Vec::new();
        self.each(sql, values, &mut |mut row| {
            all.push(T::from_row(&mut row)?);
            Ok::<_, StoreError>(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    /// The first row of a query.
    pub(super) fn first<T: FromRow>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Option<T>, StoreError> {
        let mut first = None;
        self.each(sql, values, &mut |mut row| {
            first = Some(T::from_row(&mut row)?);
            Ok::<_, StoreError>(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// The number in a result that always has one row, such as a count.
    pub(super) fn number(&mut self, sql: &str, values: &[Value<'_>]) -> Result<i64, StoreError> {
        Ok(self.first(sql, values)?.unwrap_or(0))
    }
}
