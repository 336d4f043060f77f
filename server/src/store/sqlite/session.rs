//! A session on a connection to SQLite, and the SQL that only SQLite speaks.

use std::{ops::ControlFlow, rc::Rc};

use rusqlite::{
    CachedStatement, Connection,
    ffi::SQLITE_CONSTRAINT_FOREIGNKEY,
    params_from_iter, types,
    types::{ToSql, ToSqlOutput, ValueRef},
    vtab::array::Array,
};

use super::error::already_exists;
use crate::{
    domain::address::Address,
    store::{
        Result, StoreError,
        packed::ip_bytes,
        record_kind::RecordKind,
        session::{Dialect, RowError, Session},
        value::{Columns, Row, Value},
    },
};

/// The SQL of SQLite.
pub static DIALECT: Dialect = Dialect {
    row_lock: "",
    has_index_hints: true,
    stores_nul: true,
    matched: include_str!("matched.sql"),
    instance: "LEFT JOIN instances AS i ON i.id = page.id",
    contains: |column, number| {
        format!("EXISTS (SELECT 1 FROM json_each(i.{column}) WHERE value = ${number})")
    },
    addresses,
};

/// One array, which SQLite reads in place; parsing JSON would take a fifth of a millisecond for 500 addresses.
fn addresses(addresses: &[Address]) -> Vec<Value<'static>> {
    let blob = |address: &Address| {
        let mut blob = Vec::with_capacity(26);
        blob.extend_from_slice(&ip_bytes(address.ip));
        for port in [*address.ports().start(), *address.ports().end()] {
            blob.extend([10_000, 1_000, 100, 10, 1].map(|unit| b'0' + (port / unit % 10) as u8));
        }
        Value::Bytes(blob.into())
    };
    // `matched.sql` uses the first of three parameters.
    vec![Value::Array(addresses.iter().map(blob).collect()), Value::Null, Value::Null]
}

/// A session in the transaction of the connection.
pub(super) struct SqliteSession<'a>(pub(super) &'a Connection);

impl<'a> SqliteSession<'a> {
    fn bound(&self, sql: &str, values: &[Value<'_>]) -> Result<CachedStatement<'a>> {
        // SQLite numbers `$1` by its place, and `?1` as it says.
        let mut statement = self.0.prepare_cached(&sql.replace('$', "?"))?;
        for (place, value) in (1..=statement.parameter_count()).zip(values) {
            match value {
                Value::Array(values) => statement.raw_bind_parameter(place, array(values))?,
                value => statement.raw_bind_parameter(place, value)?,
            }
        }
        Ok(statement)
    }
}

impl Session for SqliteSession<'_> {
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        Ok(self.bound(sql, values)?.raw_execute()? as u64)
    }

    fn rows(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        callback: &mut dyn FnMut(Row<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut statement = self.bound(sql, values)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if callback(Row::new(row)).is_break() {
                break;
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
        let mut insert = self.bound(&kind.insert(), &[])?;
        for (place, values) in rows.iter().enumerate() {
            let Err(error) = insert.execute(params_from_iter(values)) else { continue };
            match error.sqlite_extended_error_code() {
                _ if already_exists(&error) => rejected(place, RowError::AlreadyExists),
                Some(SQLITE_CONSTRAINT_FOREIGNKEY) => rejected(place, RowError::UnknownReference),
                _ => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn lock_numbers(&mut self) -> Result<()> {
        // SQLite has one writer at a time.
        Ok(())
    }

    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }
}

impl Columns for rusqlite::Row<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        let corrupt = |reason: &str| Err(StoreError::Corrupt(reason.to_owned()));
        Ok(match self.get_ref(column)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Number(number),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Value::from(text),
                Err(_) => return corrupt("a text is not UTF-8"),
            },
            ValueRef::Blob(bytes) => Value::Bytes(bytes.into()),
            ValueRef::Real(_) => return corrupt("a column holds a fraction"),
        })
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::from(types::Null),
            Self::Flag(flag) => ToSqlOutput::from(*flag),
            Self::Number(number) => ToSqlOutput::from(*number),
            Self::Text(text) => ToSqlOutput::from(text.as_ref()),
            Self::Bytes(bytes) => ToSqlOutput::from(bytes.as_ref()),
            Self::Array(_) => {
                return Err(rusqlite::Error::ToSqlConversionFailure("an array in a row".into()));
            }
        })
    }
}

/// An array parameter.
fn array(values: &[Value<'_>]) -> Array {
    let value = |value: &Value<'_>| match value {
        Value::Null | Value::Array(_) => types::Value::Null,
        Value::Flag(flag) => types::Value::Integer((*flag).into()),
        Value::Number(number) => types::Value::Integer(*number),
        Value::Text(text) => types::Value::Text(text.to_string()),
        Value::Bytes(bytes) => types::Value::Blob(bytes.to_vec()),
    };
    Rc::new(values.iter().map(value).collect())
}
