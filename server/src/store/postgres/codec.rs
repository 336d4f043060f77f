//! Encodes domain values in columns and parameters.

use std::error::Error;

use bytes::BytesMut;
use serde::{Serialize, de::DeserializeOwned};
use tokio_postgres::{
    Row,
    types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked},
};

use crate::{
    domain::{
        access::WhitelistEntry,
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

type BoxedError = Box<dyn Error + Sync + Send>;

/// The value of a column. A stored value that cannot be decoded means that the database is corrupt.
pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T> {
    row.try_get(column).map_err(|error| corrupt(&error))
}

/// The columns of a row.
pub(super) fn columns(row: &Row) -> Result<row::Row<'_>> {
    row::Row::read(row.len(), |column| value(row, column))
}

fn value(row: &Row, column: usize) -> Result<Value<'_>> {
    let kind = row.columns().get(column).map(|it| it.type_().clone());
    Ok(match kind {
        Some(Type::BOOL) => Value::from(get::<Option<bool>>(row, column)?),
        Some(Type::INT4) => Value::from(get::<Option<i32>>(row, column)?.map(i64::from)),
        Some(Type::INT8) => Value::from(get::<Option<i64>>(row, column)?),
        Some(Type::BYTEA) => {
            get::<Option<&[u8]>>(row, column)?.map_or(Value::Null, |it| Value::Bytes(it.into()))
        }
        _ => Value::from(get::<Option<&str>>(row, column)?),
    })
}

/// A number in a narrower type than SQL's.
pub(super) fn number<T: TryFrom<i64>>(row: &Row, column: usize) -> Result<T>
where
    T::Error: Error,
{
    T::try_from(get(row, column)?).map_err(|error| corrupt(&error))
}

/// A port, from its column.
pub(super) fn port(value: i32) -> Result<u16> {
    u16::try_from(value).map_err(|error| corrupt(&error))
}

/// A time that may be missing.
pub(super) fn time(row: &Row, column: usize) -> Result<Option<jiff::Timestamp>> {
    Ok(get::<Option<StoredTime>>(row, column)?.map(|time| time.0))
}

/// The text, if PostgreSQL can store it; otherwise no stored text can be equal to it.
pub(super) fn storable(text: &str) -> Option<&str> {
    (!text.contains('\0')).then_some(text)
}

fn corrupt(error: &dyn Error) -> StoreError {
    let reason = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
    StoreError::Corrupt(reason)
}

macro_rules! stored_as {
    ($sql:ident as $form:ty: $($kind:ty { $put:expr, $take:expr })+) => {$(
        impl ToSql for $kind {
            fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxedError> {
                let put: fn(&Self) -> $form = $put;
                put(self).to_sql(ty, out)
            }

            accepts!($sql);
            to_sql_checked!();
        }

        impl<'a> FromSql<'a> for $kind {
            fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, BoxedError> {
                let take: fn(&'a [u8], &Type) -> Result<Self, BoxedError> = $take;
                take(raw, ty)
            }

            accepts!($sql);
        }
    )+};
}

stored_as!(BYTEA as Vec<u8>:
    StoredIp { |ip| ip.octets().to_vec(), |raw, _| Ok(Self::from_octets(raw.try_into()?)) }
    StoredTime { |time| time.bytes().to_vec(), |raw, _| Ok(Self::from_bytes(raw.try_into()?)?) }
    TokenDigest { |digest| digest.as_bytes().to_vec(), |raw, _| Ok(Self::from_bytes(raw.try_into()?)) }
);

stored_as!(INT8 as i64:
    Id { |id| id.get(), |raw, ty| Ok(Self::try_from(i64::from_sql(ty, raw)?)?) }
);

stored_as!(TEXT as &'static str:
    Protocol { |it| it.name(), |raw, _| named(raw, Self::from_name) }
    Status { |it| it.name(), |raw, _| named(raw, Self::from_name) }
    TokenKind { |it| it.name(), |raw, _| named(raw, Self::from_name) }
);

fn named<T>(raw: &[u8], from_name: fn(&str) -> Option<T>) -> Result<T, BoxedError> {
    let text = std::str::from_utf8(raw)?;
    from_name(text).ok_or_else(|| format!("{text:?} is not a known value").into())
}

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxedError> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Flag(flag) => flag.to_sql(ty, out),
            Self::Number(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Self::Number(number) => number.to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::BOOL, Type::INT4, Type::INT8, Type::TEXT, Type::BYTEA].contains(ty)
    }

    to_sql_checked!();
}

/// The encoding in `extract.sql`: 16 bytes for each address, one byte that is not 0 for enabled entries, and 12 for the expiry, if
/// any.
impl<'a> FromSql<'a> for WhitelistEntry {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, BoxedError> {
        const TOO_SHORT: &str = "a whitelist entry is too short";
        let (first, rest) = raw.split_first_chunk().ok_or(TOO_SHORT)?;
        let (last, rest) = rest.split_first_chunk().ok_or(TOO_SHORT)?;
        let (enabled, end) = rest.split_first().ok_or(TOO_SHORT)?;
        let [first, last] = [first, last].map(|octets| StoredIp::from_octets(*octets).v4());
        let expires_at = if end.is_empty() { None } else { Some(StoredTime::from_bytes(end.try_into()?)?.0) };
        Ok(Self { first: first?, last: last?, is_enabled: *enabled != 0, expires_at })
    }

    accepts!(BYTEA);
}

impl<T: Serialize + std::fmt::Debug> ToSql for Json<T> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxedError> {
        serde_json::to_string(&self.0)?.to_sql(ty, out)
    }

    accepts!(TEXT);
    to_sql_checked!();
}

impl<'a, T: DeserializeOwned> FromSql<'a> for Json<T> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, BoxedError> {
        Ok(Self(serde_json::from_slice(raw)?))
    }

    accepts!(TEXT);
}
