//! One transaction as administration sees it: SQL that all databases speak, plain values in, rows out. The backends
//! implement this, so that each question and each change is written once.

use std::{fmt, net::IpAddr, ops::ControlFlow};

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::RegistryError;
use crate::{
    domain::{
        extraction::Protocol,
        instance::{Id, Status},
        token::{TokenDigest, TokenKind},
    },
    store::{
        StoreError,
        packed::{Json, StoredIp, StoredTime},
    },
};

/// A transaction. Parameters are `$1`, `$2` and so on. Only the thread that may block uses it.
pub trait Session {
    /// Carries out a statement and gives the number of rows that it touched.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError>;

    /// Hands over the rows of an answer as they come, until one breaks.
    fn each(&mut self, sql: &str, values: &[Value], take: Take<'_>) -> Result<(), RegistryError>;

    /// Waits until nobody else gives out numbers: of gateways and of groups.
    fn lock_numbers(&mut self) -> Result<(), StoreError>;

    /// Ends a `SELECT` whose rows nobody else may change or refer to anew until the transaction ends.
    fn row_lock(&self) -> &'static str;
}

/// Takes a row, and tells whether to go on.
pub(in crate::store) type Take<'a> = &'a mut dyn FnMut(Row) -> Result<ControlFlow<()>, RegistryError>;

impl dyn Session + '_ {
    /// The first row of an answer.
    pub(super) fn first(&mut self, sql: &str, values: &[Value]) -> Result<Option<Row>, RegistryError> {
        let mut first = None;
        self.each(sql, values, &mut |row| {
            first = Some(row);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// A number that the database always has an answer for, such as a count.
    pub(super) fn number(&mut self, sql: &str, values: &[Value]) -> Result<i64, RegistryError> {
        let row = self.first(sql, values)?;
        row.map_or(Ok(0), |mut row| row.take()).map_err(RegistryError::from)
    }
}

/// A `SELECT` that grows condition by condition.
pub struct Query {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Query {
    /// Begins with the text up to a `WHERE` that is already there, so that every condition is one `AND` more.
    pub(super) fn new(sql: &str) -> Self {
        Self { sql: sql.to_owned(), values: Vec::new() }
    }

    /// Asks for equality, if there is something to be equal to.
    pub(super) fn only(mut self, column: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.values.push(value.into());
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
}

/// What a column may hold. Its `Debug` says nothing: it may be a password.
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

/// The columns of an answer, taken from left to right.
pub struct Row(std::vec::IntoIter<Value>);

impl Row {
    pub(in crate::store) fn new(columns: Vec<Value>) -> Self {
        Self(columns.into_iter())
    }

    /// The next column. What was stored and cannot be read is a damage of the database.
    pub(super) fn take<T: Stored>(&mut self) -> Result<T, StoreError> {
        let value = self.0.next().unwrap_or(Value::Null);
        T::read(value).ok_or_else(|| StoreError::Corrupt {
            reason: format!("a column does not hold what it should, {}", std::any::type_name::<T>()),
        })
    }
}

/// What can be read from a column.
pub(super) trait Stored: Sized {
    fn read(value: Value) -> Option<Self>;
}

impl<T: Stored> Stored for Option<T> {
    fn read(value: Value) -> Option<Self> {
        if value == Value::Null { Some(None) } else { T::read(value).map(Some) }
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Stored for bool {
    fn read(value: Value) -> Option<Self> {
        match value {
            Value::Flag(flag) => Some(flag),
            Value::Number(number) => Some(number != 0),
            Value::Null | Value::Text(_) | Value::Bytes(_) => None,
        }
    }
}

impl<T: DeserializeOwned> Stored for Json<T> {
    fn read(value: Value) -> Option<Self> {
        serde_json::from_str(&String::read(value)?).ok().map(Self)
    }
}

/// How a type stands in one kind of column, there and back.
macro_rules! stored {
    ($variant:ident($form:ty): $($kind:ty { $put:expr, $take:expr })+) => {$(
        impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                let put: fn($kind) -> $form = $put;
                Self::$variant(put(value))
            }
        }

        impl Stored for $kind {
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
    fn values_come_back_and_others_are_rejected() {
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
