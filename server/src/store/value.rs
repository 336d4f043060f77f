//! Values as both databases store them, and rows of them.

use std::{
    borrow::Cow,
    fmt,
    net::{IpAddr, Ipv4Addr},
};

use jiff::Timestamp;
use serde::Serialize;

use super::{
    StoreError,
    packed::{ip_bytes, ip_from_bytes, ip_text, time_bytes, time_from_bytes},
};
use crate::domain::{
    Capabilities, Protocol, SmolStr, Status,
    access::AccountId,
    extraction::{Endpoint, Parameters},
    instance::Id,
    token::{TokenDigest, TokenKind},
};

/// The value of a column or parameter, borrowed where a record or a row has it already: imports and exports have many. `Debug` does not show it,
/// because it may be a password.
#[derive(Clone, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    Flag(bool),
    Number(i64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    /// Only as a parameter.
    Array(Vec<Value<'a>>),
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Value(redacted)")
    }
}

impl Value<'_> {
    pub(super) fn borrowed(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::Text(Cow::Borrowed(text)),
            Self::Bytes(bytes) => Value::Bytes(Cow::Borrowed(bytes)),
            other => other.clone(),
        }
    }

    pub(super) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Flag(flag) => Value::Flag(flag),
            Self::Number(number) => Value::Number(number),
            Self::Text(text) => Value::Text(text.into_owned().into()),
            Self::Bytes(bytes) => Value::Bytes(bytes.into_owned().into()),
            Self::Array(values) => Value::Array(values.into_iter().map(Value::into_owned).collect()),
        }
    }
}

/// The columns of a row of one of the databases.
pub(super) trait Columns {
    /// The value of a column, counted from 0.
    fn value(&self, column: usize) -> Result<Value<'_>, StoreError>;
}

/// A row, whose columns are read from left to right.
pub struct Row<'a> {
    columns: &'a dyn Columns,
    next: usize,
}

impl<'a> Row<'a> {
    pub(super) fn new(columns: &'a dyn Columns) -> Self {
        Self { columns, next: 0 }
    }

    /// The next column. A stored value that cannot be decoded means that the database is corrupt.
    pub(super) fn take<T: Column>(&mut self) -> Result<T, StoreError> {
        let value = self.columns.value(self.next)?;
        self.next += 1;
        T::read(&value).ok_or_else(|| {
            StoreError::Corrupt(format!("a column has an unexpected value, {}", std::any::type_name::<T>()))
        })
    }

    /// What an outer join found: a struct of the columns from here on, unless the first of them is NULL.
    pub(super) fn joined<T: FromRow>(&mut self) -> Result<Option<T>, StoreError> {
        match self.columns.value(self.next)? {
            Value::Null => Ok(None),
            _ => T::from_row(self).map(Some),
        }
    }

    /// Passes over columns.
    pub(super) fn skip(&mut self, columns: usize) {
        self.next += columns;
    }
}

/// A value of a column, or a struct whose fields are values of columns.
pub(crate) trait FromRow: Sized {
    /// Reads the columns in order.
    fn from_row(row: &mut Row<'_>) -> Result<Self, StoreError>;
}

impl<T: Column> FromRow for T {
    fn from_row(row: &mut Row<'_>) -> Result<Self, StoreError> {
        row.take()
    }
}

impl<A: FromRow, B: FromRow> FromRow for (A, B) {
    fn from_row(row: &mut Row<'_>) -> Result<Self, StoreError> {
        Ok((A::from_row(row)?, B::from_row(row)?))
    }
}

/// Reads a struct from a row whose columns are in the order of these fields.
macro_rules! from_row {
    ($entry:ident: $($field:ident),+) => {
        impl FromRow for $entry {
            fn from_row(row: &mut Row<'_>) -> Result<Self, StoreError> {
                Ok(Self { $($field: FromRow::from_row(row)?),+ })
            }
        }
    };
}
pub(super) use from_row;

/// A type that a column holds.
pub(crate) trait Column: Sized {
    /// The value of a column; `None` if it is not of this type.
    fn read(value: &Value<'_>) -> Option<Self>;
}

impl<T: Column> Column for Option<T> {
    fn read(value: &Value<'_>) -> Option<Self> {
        if *value == Value::Null { Some(None) } else { T::read(value).map(Some) }
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Column for Value<'static> {
    fn read(value: &Value<'_>) -> Option<Self> {
        Some(value.clone().into_owned())
    }
}

impl Column for bool {
    fn read(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Flag(flag) => Some(*flag),
            Value::Number(number) => Some(*number != 0),
            _ => None,
        }
    }
}

impl Column for String {
    fn read(value: &Value<'_>) -> Option<Self> {
        if let Value::Text(text) = value { Some(text.as_ref().to_owned()) } else { None }
    }
}

impl Column for SmolStr {
    fn read(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(Self::new(text)),
            // An address, as responses show it.
            Value::Bytes(bytes) => Some(ip_text(ip_from_bytes(bytes.as_ref().try_into().ok()?))),
            _ => None,
        }
    }
}

/// A list or object as the JSON text that a column holds.
pub(crate) fn json_text(value: &impl Serialize) -> Result<Value<'static>, StoreError> {
    let text = serde_json::to_string(value).map_err(|error| StoreError::Internal(error.to_string()))?;
    Ok(Value::Text(text.into()))
}

/// Reads a list or object from JSON text, or a simple text without the parser.
macro_rules! stored_as_json {
    ($($kind:ty $({ $simple:expr })?)+) => {$(
        impl Column for $kind {
            fn read(value: &Value<'_>) -> Option<Self> {
                let Value::Text(text) = value else { return None };
                $(
                    let simple: fn(&str) -> Option<Self> = $simple;
                    if let Some(value) = simple(text) {
                        return Some(value);
                    }
                )?
                serde_json::from_str(text).ok()
            }
        }
    )+};
}

stored_as_json!(
    Vec<SmolStr> { simple_list }
    Capabilities { |text| (text == "{}").then(Capabilities::default) }
    Parameters
    Vec<Endpoint>
);

/// A list of texts without escapes and without spaces between them, as [`json_text`] writes nearly all.
fn simple_list(text: &str) -> Option<Vec<SmolStr>> {
    let mut rest = text.strip_prefix("[\"")?.strip_suffix("\"]")?;
    let mut list = Vec::new();
    while let Some(end) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | ..b' ')) {
        let (item, after) = rest.split_at(end);
        list.push(item.into());
        rest = after.strip_prefix("\",\"")?;
    }
    list.push(rest.into());
    Some(list)
}

/// Encodes a type in a column, and decodes it.
macro_rules! stored {
    ($variant:ident($taken:ty): $($kind:ty { $put:expr, $take:expr })+) => {$(
        impl From<$kind> for Value<'_> {
            fn from(value: $kind) -> Self {
                let put: fn($kind) -> _ = $put;
                Self::$variant(put(value))
            }
        }

        impl Column for $kind {
            fn read(value: &Value<'_>) -> Option<Self> {
                let take: fn(&$taken) -> Option<Self> = $take;
                if let Value::$variant(value) = value { take(value) } else { None }
            }
        }
    )+};
}

stored!(Number(i64):
    i64 { |number| number, |number| Some(*number) }
    u16 { i64::from, |number| (*number).try_into().ok() }
    u32 { i64::from, |number| (*number).try_into().ok() }
    u64 { |number| number.try_into().unwrap_or(i64::MAX), |number| (*number).try_into().ok() }
    AccountId { |id| id.0, |number| Some(AccountId(*number)) }
    Id { Id::get, |number| Id::new(*number) }
);

stored!(Text(str):
    Protocol { |it| it.name().into(), Protocol::from_name }
    Status { |it| it.name().into(), Status::from_name }
    TokenKind { |it| it.name().into(), TokenKind::from_name }
);

stored!(Bytes([u8]):
    IpAddr { |ip| ip_bytes(ip).to_vec().into(), |bytes| Some(ip_from_bytes(bytes.try_into().ok()?)) }
    Ipv4Addr {
        |ip| ip_bytes(ip.into()).to_vec().into(),
        |bytes| match ip_from_bytes(bytes.try_into().ok()?) {
            IpAddr::V4(ip) => Some(ip),
            IpAddr::V6(_) => None,
        }
    }
    Timestamp { |time| time_bytes(time).to_vec().into(), |bytes| time_from_bytes(bytes.try_into().ok()?).ok() }
    TokenDigest {
        |digest| digest.0.to_vec().into(),
        |bytes| Some(TokenDigest(bytes.try_into().ok()?))
    }
);

/// Makes a value of what it holds.
macro_rules! held {
    ($($kind:ty: $variant:ident),+) => {$(
        impl<'a> From<$kind> for Value<'a> {
            fn from(value: $kind) -> Self {
                Self::$variant(value.into())
            }
        }
    )+};
}

held!(bool: Flag, &'a str: Text, String: Text);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_are_read_as_json(
            items in proptest::collection::vec("[aé\u{7f}\"\\\\,\\[\\] \n]{0,3}", 0..4),
            text in "\\[[\"aé,\\\\ \n]{0,9}\\]",
        ) {
            for text in [serde_json::to_string(&items).unwrap(), text] {
                prop_assert_eq!(Column::read(&text.as_str().into()), serde_json::from_str::<Vec<SmolStr>>(&text).ok());
            }
        }
    }

    #[test]
    fn an_empty_object_is_read_as_json() {
        assert_eq!(Column::read(&"{}".into()), serde_json::from_str::<Capabilities>("{}").ok());
    }

    #[test]
    fn a_value_is_not_shown() {
        assert_eq!(format!("{:?}", Value::from("very-secret")), "Value(redacted)");
    }
}
