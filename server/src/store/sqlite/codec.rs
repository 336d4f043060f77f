//! Encodes domain values in columns.

use rusqlite::{
    Row, ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    domain::{
        instance::{Id, Status},
        protocol::Protocol,
        token::{TokenDigest, TokenKind},
    },
    store::{
        StoreError,
        packed::{Json, StoredIp, StoredTime},
        row::{self, Value},
    },
};

/// The columns of a row.
pub(super) fn columns<'a>(row: &'a Row<'_>) -> Result<row::Row<'a>, StoreError> {
    row::Row::read(row.as_ref().column_count(), |column| value(row.get_ref(column)?))
}

fn value(column: ValueRef<'_>) -> Result<Value<'_>, StoreError> {
    let corrupt = |reason: &str| StoreError::Corrupt(reason.to_owned());
    Ok(match column {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Number(number),
        ValueRef::Text(text) => {
            Value::from(std::str::from_utf8(text).map_err(|_| corrupt("a text is not UTF-8"))?)
        }
        ValueRef::Blob(bytes) => Value::Bytes(bytes.into()),
        ValueRef::Real(_) => return Err(corrupt("a column holds a fraction")),
    })
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::from(rusqlite::types::Null),
            Self::Flag(flag) => ToSqlOutput::from(*flag),
            Self::Number(number) => ToSqlOutput::from(*number),
            Self::Text(text) => ToSqlOutput::from(text.as_ref()),
            Self::Bytes(bytes) => ToSqlOutput::from(bytes.as_ref()),
        })
    }
}

impl ToSql for StoredIp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.octets().to_vec()))
    }
}

impl FromSql for StoredIp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self::from_octets(FromSql::column_result(value)?))
    }
}

impl ToSql for StoredTime {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.bytes().to_vec()))
    }
}

impl FromSql for StoredTime {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_bytes(FromSql::column_result(value)?).map_err(FromSqlError::other)
    }
}

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(&self.0)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        Ok(ToSqlOutput::from(text))
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(FromSqlError::other)
    }
}

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.get()))
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        Self::new(number).ok_or(FromSqlError::OutOfRange(number))
    }
}

impl FromSql for TokenDigest {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        FromSql::column_result(value).map(Self::from_bytes)
    }
}

impl ToSql for TokenDigest {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.as_bytes().as_slice()))
    }
}

macro_rules! stored_by_name {
    ($($kind:ty),+) => {$(
        impl ToSql for $kind {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.name()))
            }
        }

        impl FromSql for $kind {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let name = value.as_str()?;
                Self::ALL
                    .into_iter()
                    .find(|kind| kind.name() == name)
                    .ok_or_else(|| FromSqlError::Other(format!("{name:?} is not a known value").into()))
            }
        }
    )+};
}

stored_by_name!(Protocol, Status, TokenKind);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_values_are_errors() {
        assert!(StoredTime::column_result(ValueRef::Blob(&[0xff; 12])).is_err());
        assert!(StoredTime::column_result(ValueRef::Blob(&[0; 11])).is_err());
        assert!(StoredIp::column_result(ValueRef::Blob(&[0; 4])).is_err());
        assert!(Status::column_result(ValueRef::Text(b"frozen")).is_err());
    }
}
