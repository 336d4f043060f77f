//! Rows of both databases as columns of values, so that every record and every entry is read in one place.

use std::{fmt, net::IpAddr};

use jiff::Timestamp;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    StoreError,
    packed::{Json, StoredIp, StoredTime},
};
use crate::domain::{
    instance::{Id, Status},
    protocol::Protocol,
    token::{TokenDigest, TokenKind},
};

/// The value of a column. `Debug` does not show it, because it may be a password.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    Flag(bool),
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Value(redacted)")
    }
}

impl Value {
    /// A list or object as JSON text.
    pub(super) fn json(value: &impl Serialize) -> Result<Self, StoreError> {
        let text = serde_json::to_string(value);
        text.map(Self::Text).map_err(|error| StoreError::Internal(error.to_string()))
    }
}

/// The columns of a row, read from left to right.
pub struct Row(std::vec::IntoIter<Value>);

impl Row {
    pub(super) fn new(columns: Vec<Value>) -> Self {
        Self(columns.into_iter())
    }

    /// The next column. A stored value that cannot be decoded means that the database is corrupt.
    pub(super) fn take<T: FromColumn>(&mut self) -> Result<T, StoreError> {
        let value = self.0.next().unwrap_or(Value::Null);
        T::read(value).ok_or_else(|| {
            StoreError::Corrupt(format!("a column has an unexpected value, {}", std::any::type_name::<T>()))
        })
    }
}

/// A type that can be read from a column.
pub(super) trait FromColumn: Sized {
    fn read(value: Value) -> Option<Self>;
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn read(value: Value) -> Option<Self> {
        if value == Value::Null { Some(None) } else { T::read(value).map(Some) }
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl FromColumn for bool {
    fn read(value: Value) -> Option<Self> {
        match value {
            Value::Flag(flag) => Some(flag),
            Value::Number(number) => Some(number != 0),
            Value::Null | Value::Text(_) | Value::Bytes(_) => None,
        }
    }
}

impl<T: DeserializeOwned> FromColumn for Json<T> {
    fn read(value: Value) -> Option<Self> {
        serde_json::from_str(&String::read(value)?).ok().map(Self)
    }
}

/// Encodes a type in a column, and decodes it.
macro_rules! stored {
    ($variant:ident($form:ty): $($kind:ty { $put:expr, $take:expr })+) => {$(
        impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                let put: fn($kind) -> $form = $put;
                Self::$variant(put(value))
            }
        }

        impl FromColumn for $kind {
            fn read(value: Value) -> Option<Self> {
                let take: fn($form) -> Option<Self> = $take;
                match value {
                    Value::$variant(value) => take(value),
                    _ => None,
                }
            }
        }
    )+};
}

stored!(Number(i64):
    i64 { |number| number, Some }
    u16 { i64::from, |number| number.try_into().ok() }
    u32 { i64::from, |number| number.try_into().ok() }
    Id { Id::get, Id::new }
);

stored!(Text(String):
    String { |text| text, Some }
    Protocol { |it| it.name().to_owned(), |text| Protocol::ALL.into_iter().find(|it| it.name() == text) }
    Status { |it| it.name().to_owned(), |text| Status::ALL.into_iter().find(|it| it.name() == text) }
    TokenKind { |it| it.name().to_owned(), |text| TokenKind::ALL.into_iter().find(|it| it.name() == text) }
);

stored!(Bytes(Vec<u8>):
    IpAddr {
        |ip| StoredIp(ip).octets().to_vec(),
        |bytes| Some(StoredIp::from_octets(bytes.try_into().ok()?).0)
    }
    Timestamp {
        |time| StoredTime(time).bytes().to_vec(),
        |bytes| StoredTime::from_bytes(bytes.try_into().ok()?).ok().map(|time| time.0)
    }
    TokenDigest {
        |digest| digest.as_bytes().to_vec(),
        |bytes| Some(TokenDigest::from_bytes(bytes.try_into().ok()?))
    }
);

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_others_are_rejected() {
        let ip: IpAddr = "192.0.2.1".parse().unwrap();
        let mut row = Row::new(vec![
            Value::from(Protocol::Socks5),
            Value::from(ip),
            Value::from(None::<i64>),
            Value::from(true),
            Value::Number(70_000),
            Value::Text("frozen".to_owned()),
        ]);
        assert_eq!(row.take::<Protocol>().unwrap(), Protocol::Socks5);
        assert_eq!(row.take::<IpAddr>().unwrap(), ip);
        assert_eq!(row.take::<Option<Id>>().unwrap(), None);
        assert!(row.take::<bool>().unwrap());
        assert!(matches!(row.take::<u16>(), Err(StoreError::Corrupt { .. })));
        assert!(matches!(row.take::<Status>(), Err(StoreError::Corrupt { .. })));
        assert!(matches!(row.take::<i64>(), Err(StoreError::Corrupt { .. })), "there is no such column");
    }

    #[test]
    fn a_value_is_not_shown() {
        assert_eq!(format!("{:?}", Value::from("very-secret")), "Value(redacted)");
    }
}
