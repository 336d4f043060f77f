//! Queries that are put together condition by condition.

use crate::store::value::Value;

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
