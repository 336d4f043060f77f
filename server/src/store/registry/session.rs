//! Queries that are put together condition by condition.

use crate::store::{
    StoreError,
    session::Session,
    value::{FromRow, Value},
};

/// Builds a `SELECT`, condition by condition.
pub struct Query {
    pub(super) sql: String,
    pub(super) values: Vec<Value<'static>>,
}

impl Query {
    /// Starts with `sql`, which must have a `WHERE`, because conditions are added with `AND`.
    pub(super) fn new(sql: &str) -> Self {
        Self { sql: sql.to_owned(), values: Vec::new() }
    }

    /// Adds a condition of equality, if there is a value.
    pub(super) fn only<'a>(mut self, column: &str, value: Option<impl Into<Value<'a>>>) -> Self {
        if let Some(value) = value {
            self.values.push(value.into().into_owned());
            self.sql.push_str(&format!(" AND {column} = ${}", self.values.len()));
        }
        self
    }

    /// Adds text that has no parameters.
    pub(super) fn then(mut self, sql: &str) -> Self {
        self.sql.push(' ');
        self.sql.push_str(sql);
        self
    }

    /// The first entry that it finds.
    pub(super) fn first<T: FromRow>(&self, session: &mut dyn Session) -> Result<Option<T>, StoreError> {
        session.first(&self.sql, &self.values)
    }
}
