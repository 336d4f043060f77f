//! A session on a connection to SQLite, and the SQL that only SQLite speaks.

use std::{borrow::Borrow, ops::ControlFlow, rc::Rc};

use rusqlite::{
    CachedStatement, Connection, params_from_iter,
    types::{self, ToSql, ToSqlOutput, ValueRef},
};

use super::epoch::LEASE;
use crate::{
    domain::address::Address,
    store::{
        Result, StoreError,
        packed::ip_bytes,
        record_kind::RecordKind,
        session::{Dialect, Schema, Session},
        value::{Columns, Row, Value},
    },
};

/// The SQL of SQLite.
pub static DIALECT: Dialect = Dialect {
    schema: Schema {
        // Foreign keys are not checked meanwhile, because a table that is being recreated would be missing. The lock is taken in any case,
        // so that this fails for a database that cannot be written.
        begin: "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE",
        // The application id is "SALY".
        owner: "SELECT application_id = 0x53414c59, NOT EXISTS (SELECT 1 FROM sqlite_schema)
                FROM pragma_application_id",
        foreign: "another program created it",
        version: "PRAGMA user_version",
        mark: "PRAGMA application_id = 0x53414c59; PRAGMA user_version = VERSION",
        migrations: [
            include_str!("migrations/0001_initial.sql"),
            include_str!("migrations/0002_numbers.sql"),
            include_str!("migrations/0003_revision.sql"),
            include_str!("migrations/0004_extractions_by_age.sql"),
            include_str!("migrations/0005_whitelist_ranges.sql"),
        ],
    },
    snapshot: "BEGIN",
    change: "BEGIN IMMEDIATE",
    lease: LEASE,
    lock_numbers: "",
    // Pages that do not fit into the memory for uncommitted ones are written and read repeatedly: 64 MiB, and SQLite's default.
    import: ["PRAGMA cache_size = -65536", "PRAGMA cache_size = -2000"],
    postponed_index: "SELECT sql FROM sqlite_schema
                      WHERE name = 'instances_by_address' AND NOT EXISTS (SELECT 1 FROM instances)",
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
fn addresses<'a>(addresses: &[Address], buffer: &'a mut Vec<u8>) -> Vec<Value<'a>> {
    let digits = |port: u16| {
        let digits = [port / 10_000, port / 1_000 % 10, port / 100 % 10, port / 10 % 10, port % 10];
        digits.map(|digit| b'0' + digit as u8)
    };
    buffer.reserve(26 * addresses.len());
    for address in addresses {
        let ports = address.ports();
        buffer.extend(ip_bytes(address.ip));
        buffer.extend(digits(*ports.start()));
        buffer.extend(digits(*ports.end()));
    }
    let blobs = buffer.chunks(26).map(|blob| Value::Bytes(blob.into()));
    // `matched.sql` uses the first of three parameters.
    vec![Value::Array(blobs.collect()), Value::Null, Value::Null]
}

/// A session on a connection, borrowed or its own.
pub struct SqliteSession<C>(pub(in crate::store) C);

impl<C: Borrow<Connection>> SqliteSession<C> {
    fn bound(&self, sql: &str, values: &[Value<'_>]) -> Result<CachedStatement<'_>> {
        // SQLite numbers `$1` by its place, and `?1` as it says.
        let mut statement = self.0.borrow().prepare_cached(&sql.replace('$', "?"))?;
        for (place, value) in (1..=statement.parameter_count()).zip(values) {
            statement.raw_bind_parameter(place, value)?;
        }
        Ok(statement)
    }
}

impl<C: Borrow<Connection>> Session for SqliteSession<C> {
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

    fn insert(&mut self, kind: RecordKind, rows: &[Vec<Value<'_>>]) -> Result<()> {
        let mut insert = self.bound(&kind.insert(), &[])?;
        rows.iter().try_for_each(|row| Ok(insert.execute(params_from_iter(row)).map(drop)?))
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        Ok(self.0.borrow().execute_batch(sql)?)
    }

    fn is_idle(&self) -> bool {
        self.0.borrow().is_autocommit()
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
            Self::Array(values) => {
                let owned = |value: &Value<'_>| match value {
                    Value::Bytes(bytes) => Ok(types::Value::Blob(bytes.to_vec())),
                    value => match value.to_sql()? {
                        ToSqlOutput::Owned(value) => Ok(value),
                        ToSqlOutput::Borrowed(value) => Ok(value.try_into()?),
                        _ => Ok(types::Value::Null),
                    },
                };
                let values = values.iter().map(owned).collect::<rusqlite::Result<Vec<_>>>()?;
                // Under the name by which the module finds its arrays.
                ToSqlOutput::from_rc(Rc::new(values), c"rarray")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::{
        api::generated::SearchRequest,
        domain::{Status, search::SearchQuery, token::Token},
        store::{
            queries::{self, Statements, search_sql},
            sqlite::open,
        },
    };

    #[test]
    fn a_search_is_planned_once() {
        let (db, statements) = (open::in_memory(), Statements::new(&DIALECT));
        let filter =
            |property: &str| SearchRequest::FILTERS.iter().find(|it| it.property == property).unwrap();
        for status in Status::NAMES {
            let filters = vec![(filter("status"), status.into()), (filter("groupId"), 7_i64.into())];
            let query = SearchQuery { addresses: Vec::new(), filters, page: 1, page_size: 20 };
            let unknown = Token::new("unknown").digest();
            assert!(
                queries::search(&mut SqliteSession(&db), &statements, unknown, &query).unwrap().is_none()
            );
        }
        let search = db.prepare_cached(&search_sql(&DIALECT, true).replace('$', "?")).unwrap();
        assert!(search.get_status(StatementStatus::Run) >= 5, "another statement");
        assert_eq!(search.get_status(StatementStatus::RePrepare), 0, "planned again");
    }

    #[test]
    fn the_index_is_postponed_for_the_first_instances_only() {
        let db = open::in_memory();
        let session = &mut SqliteSession(&db) as &mut dyn Session;
        let index = session.first::<String>(DIALECT.postponed_index, &[]).unwrap();
        let instance = "INSERT INTO accounts VALUES (1, 'a', 1); INSERT INTO instances
             VALUES (1, 1, zeroblob(16), 1, NULL, 1, '', '', '', '', 1, NULL, NULL, '', NULL, NULL, NULL)";
        let restored = format!("DROP INDEX instances_by_address; {}; {instance}", index.unwrap());
        session.batch(&restored).unwrap();
        assert_eq!(session.first::<String>(DIALECT.postponed_index, &[]).unwrap(), None);
    }
}
