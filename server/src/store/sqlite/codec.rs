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
        Result, StoreError,
        packed::{Json, StoredIp, StoredTime},
        row::{self, Value},
    },
};

/// The columns of a row.
pub(super) fn columns<'a>(row: &'a Row<'_>) -> Result<row::Row<'a>> {
    row::Row::read(row.as_ref().column_count(), |column| value(row.get_ref(column)?))
}

fn value(column: ValueRef<'_>) -> Result<Value<'_>> {
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

/// Encodes a type in a column, and decodes it.
macro_rules! stored {
    ($($kind:ty { $put:expr, $take:expr })+) => {$(
        impl ToSql for $kind {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                let put: fn(&Self) -> ToSqlOutput<'_> = $put;
                Ok(put(self))
            }
        }

        impl FromSql for $kind {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let take: fn(ValueRef<'_>) -> FromSqlResult<Self> = $take;
                take(value)
            }
        }
    )+};
}

stored! {
    StoredIp { |ip| ip.octets().to_vec().into(), |value| Ok(Self::from_octets(FromSql::column_result(value)?)) }
    StoredTime {
        |time| time.bytes().to_vec().into(),
        |value| Self::from_bytes(FromSql::column_result(value)?).map_err(FromSqlError::other)
    }
    TokenDigest {
        |digest| digest.as_bytes().as_slice().into(),
        |value| FromSql::column_result(value).map(Self::from_bytes)
    }
    Id {
        |id| id.get().into(),
        |value| {
            let number = value.as_i64()?;
            Self::new(number).ok_or(FromSqlError::OutOfRange(number))
        }
    }
    Protocol { |it| it.name().into(), |value| named(value, Self::from_name) }
    Status { |it| it.name().into(), |value| named(value, Self::from_name) }
    TokenKind { |it| it.name().into(), |value| named(value, Self::from_name) }
}

fn named<T>(value: ValueRef<'_>, from_name: fn(&str) -> Option<T>) -> FromSqlResult<T> {
    let name = value.as_str()?;
    from_name(name).ok_or_else(|| FromSqlError::Other(format!("{name:?} is not a known value").into()))
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
