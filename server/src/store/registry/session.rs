//! A transaction of the administration, which takes SQL that both databases speak. Each database implements it, so that every query
//! and every change is written once.

use std::ops::ControlFlow;

use super::Result;
use crate::store::{
    StoreError,
    row::{FromRow, Row, Value},
};

/// A transaction. Parameters are `$1`, `$2` and so on. It is used on a thread that may block.
pub(in crate::store) trait Session {
    /// Executes a statement and returns the number of rows that it changed.
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError>;

    /// Passes the rows of a query to the callback one after another, until it breaks.
    fn each(&mut self, sql: &str, values: &[Value<'_>], callback: RowCallback<'_>) -> Result<()>;

    /// Waits until no other transaction assigns numbers to gateways or groups.
    fn lock_numbers(&mut self) -> Result<(), StoreError>;

    /// The suffix of a `SELECT` that locks its rows: until the transaction ends, no other may change them or add references to them.
    fn row_lock(&self) -> &'static str;
}

/// Receives a row and returns whether to go on.
pub(in crate::store) type RowCallback<'a> = &'a mut dyn FnMut(Row<'_>) -> Result<ControlFlow<()>>;

impl dyn Session + '_ {
    /// The first row of a query.
    pub(super) fn first<T: FromRow>(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Option<T>> {
        let mut first = None;
        self.each(sql, values, &mut |mut row| {
            first = Some(T::from_row(&mut row)?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// The number in a result that always has one row, such as a count.
    pub(super) fn number(&mut self, sql: &str, values: &[Value<'_>]) -> Result<i64> {
        Ok(self.first(sql, values)?.unwrap_or(0))
    }
}

/// Builds a `SELECT`, condition by condition.
pub(super) struct Query {
    pub(super) sql: String,
    pub(super) values: Vec<Value<'static>>,
}

impl Query {
    /// Starts with `sql`, which must have a `WHERE`, because conditions are added with `AND`.
    pub(super) fn new(sql: &str) -> Self {
        Self { sql: sql.to_owned(), values: Vec::new() }
    }

    /// Adds text, whose parameters are among the values.
    pub(super) fn push(&mut self, sql: &str) {
        self.sql.push(' ');
        self.sql.push_str(sql);
    }
}
