//! How domain values stand in columns.

use std::net::{IpAddr, Ipv6Addr};

use jiff::Timestamp;
use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::domain::{
    extraction::Protocol,
    instance::{Id, Status},
    token::{TokenDigest, TokenKind},
};

/// An address in 16 bytes; IPv4 as IPv4-mapped IPv6, which [`Address`](crate::domain::address::Address) never holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredIp(pub(super) IpAddr);

impl StoredIp {
    pub(super) fn octets(self) -> [u8; 16] {
        match self.0 {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        }
    }
}

impl ToSql for StoredIp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.octets().to_vec()))
    }
}

impl FromSql for StoredIp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let octets: [u8; 16] = FromSql::column_result(value)?;
        Ok(Self(Ipv6Addr::from(octets).to_canonical()))
    }
}

/// An instant in 12 bytes: whole seconds since 1970, rounded down and shifted to be positive, then nanoseconds, both
/// big-endian. Bytes sort as instants do, and every instant that RFC 3339 can say fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredTime(pub(super) Timestamp);

const NANOS_PER_SECOND: i128 = 1_000_000_000;

impl ToSql for StoredTime {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let nanos = self.0.as_nanosecond();
        let seconds = nanos.div_euclid(NANOS_PER_SECOND) - i128::from(i64::MIN);
        // Seconds of a Timestamp fit 40 bits, the remainder fits 30: shifting them together loses nothing.
        let packed = (seconds << 32) | nanos.rem_euclid(NANOS_PER_SECOND);
        Ok(ToSqlOutput::from(packed.to_be_bytes()[4..].to_vec()))
    }
}

impl FromSql for StoredTime {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes: [u8; 12] = FromSql::column_result(value)?;
        let packed = bytes.iter().fold(0_i128, |sum, byte| sum << 8 | i128::from(*byte));
        let seconds = (packed >> 32) + i128::from(i64::MIN);
        let nanos = packed & i128::from(u32::MAX);
        Timestamp::from_nanosecond(seconds * NANOS_PER_SECOND + nanos).map(Self).map_err(FromSqlError::other)
    }
}

/// A list or object as JSON text.
pub(super) struct Json<T>(pub(super) T);

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
    use proptest::prelude::*;

    use super::*;

    fn bytes(time: Timestamp) -> Vec<u8> {
        match StoredTime(time).to_sql().unwrap() {
            ToSqlOutput::Owned(rusqlite::types::Value::Blob(bytes)) => bytes,
            other => panic!("expected bytes, got {other:?}"),
        }
    }

    fn read(bytes: &[u8]) -> StoredTime {
        StoredTime::column_result(ValueRef::Blob(bytes)).unwrap()
    }

    #[test]
    fn boundary_times_come_back() {
        for text in [
            "0000-01-01T00:00:00Z",
            "1969-12-31T23:59:59.999999999Z",
            "1970-01-01T00:00:00Z",
            "2262-04-11T23:47:16.854775808Z",
            "9999-12-30T22:00:00.999999999Z",
        ] {
            let time: Timestamp = text.parse().unwrap();
            assert_eq!(bytes(time).len(), 12);
            assert_eq!(read(&bytes(time)), StoredTime(time), "{text}");
        }
        assert_eq!(read(&bytes(Timestamp::MIN)).0, Timestamp::MIN);
        assert_eq!(read(&bytes(Timestamp::MAX)).0, Timestamp::MAX);
    }

    #[test]
    fn unreadable_values_are_errors() {
        assert!(StoredTime::column_result(ValueRef::Blob(&[0xff; 12])).is_err());
        assert!(StoredTime::column_result(ValueRef::Blob(&[0; 11])).is_err());
        assert!(StoredIp::column_result(ValueRef::Blob(&[0; 4])).is_err());
        assert!(Status::column_result(ValueRef::Text(b"frozen")).is_err());
    }

    fn instant() -> impl Strategy<Value = Timestamp> {
        let range = Timestamp::MIN.as_nanosecond()..=Timestamp::MAX.as_nanosecond();
        range.prop_map(|nanos| Timestamp::from_nanosecond(nanos).unwrap())
    }

    proptest! {
        #[test]
        fn times_sort_as_their_bytes(one in instant(), step in -2_000_000_000_i64..2_000_000_000) {
            let other = one.saturating_add(jiff::SignedDuration::from_nanos(step)).unwrap();
            prop_assert_eq!(bytes(one).cmp(&bytes(other)), one.cmp(&other));
            prop_assert_eq!(read(&bytes(one)).0, one);
        }

        #[test]
        fn addresses_come_back(ip: IpAddr) {
            prop_assume!(ip.to_canonical() == ip);
            let octets = StoredIp(ip).octets();
            prop_assert_eq!(StoredIp::column_result(ValueRef::Blob(&octets)), Ok(StoredIp(ip)));
        }
    }
}
