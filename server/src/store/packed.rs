//! Encodes values as bytes for columns of both databases. The bytes sort as the values do.

use std::net::{IpAddr, Ipv6Addr};

use jiff::Timestamp;

/// An address in 16 bytes; IPv4 as IPv4-mapped IPv6, which no [`Address`](crate::domain::address::Address) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredIp(pub(super) IpAddr);

impl StoredIp {
    pub(super) fn octets(self) -> [u8; 16] {
        match self.0 {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        }
    }

    pub(super) fn from_octets(octets: [u8; 16]) -> Self {
        Self(Ipv6Addr::from(octets).to_canonical())
    }
}

/// An instant in 12 bytes: whole seconds since 1970, rounded down and shifted to be positive, then nanoseconds, both
/// big-endian. Bytes sort as instants do, and every `Timestamp` fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredTime(pub(super) Timestamp);

const NANOS_PER_SECOND: i128 = 1_000_000_000;

impl StoredTime {
    pub(super) fn bytes(self) -> [u8; 12] {
        let nanos = self.0.as_nanosecond();
        let seconds = nanos.div_euclid(NANOS_PER_SECOND) - i128::from(i64::MIN);
        // Seconds of a Timestamp fit 40 bits, the remainder fits 30: shifting them together loses nothing.
        let packed = (seconds << 32) | nanos.rem_euclid(NANOS_PER_SECOND);
        let [_, _, _, _, bytes @ ..] = packed.to_be_bytes();
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; 12]) -> Result<Self, jiff::Error> {
        let packed = bytes.iter().fold(0_i128, |sum, byte| sum << 8 | i128::from(*byte));
        let seconds = (packed >> 32) + i128::from(i64::MIN);
        let nanos = packed & i128::from(u32::MAX);
        Timestamp::from_nanosecond(seconds * NANOS_PER_SECOND + nanos).map(Self)
    }
}

/// The position of the gateway with this number in the circular order from which extractions choose. Multiples of the
/// golden ratio of 2⁶⁴ are distributed evenly, however many there are.
pub(super) const fn spin(number: i64) -> i64 {
    const GOLDEN: i64 = 0x9e37_79b9_7f4a_7c15_u64.cast_signed();
    number.wrapping_mul(GOLDEN)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn boundary_times_are_unchanged() {
        for text in [
            "0000-01-01T00:00:00Z",
            "1969-12-31T23:59:59.999999999Z",
            "1970-01-01T00:00:00Z",
            "2262-04-11T23:47:16.854775808Z",
            "9999-12-30T22:00:00.999999999Z",
        ] {
            let time = StoredTime(text.parse().unwrap());
            assert_eq!(StoredTime::from_bytes(time.bytes()).unwrap(), time, "{text}");
        }
        for time in [Timestamp::MIN, Timestamp::MAX] {
            assert_eq!(StoredTime::from_bytes(StoredTime(time).bytes()).unwrap().0, time);
        }
        assert!(StoredTime::from_bytes([0xff; 12]).is_err());
    }

    fn instant() -> impl Strategy<Value = Timestamp> {
        let range = Timestamp::MIN.as_nanosecond()..=Timestamp::MAX.as_nanosecond();
        range.prop_map(|nanos| Timestamp::from_nanosecond(nanos).unwrap())
    }

    proptest! {
        #[test]
        fn times_sort_as_their_bytes(one in instant(), step in -2_000_000_000_i64..2_000_000_000) {
            let other = one.saturating_add(jiff::SignedDuration::from_nanos(step)).unwrap();
            let (left, right) = (StoredTime(one), StoredTime(other));
            prop_assert_eq!(left.bytes().cmp(&right.bytes()), one.cmp(&other));
            prop_assert_eq!(StoredTime::from_bytes(left.bytes()).unwrap(), left);
        }

        #[test]
        fn addresses_are_unchanged(ip: IpAddr) {
            prop_assume!(ip.to_canonical() == ip);
            prop_assert_eq!(StoredIp::from_octets(StoredIp(ip).octets()), StoredIp(ip));
        }
    }
}
