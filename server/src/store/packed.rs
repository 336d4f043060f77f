//! Encodes values as bytes for columns of both databases. The bytes sort as the values do.

use std::net::{IpAddr, Ipv6Addr};

use jiff::Timestamp;
use smol_str::{SmolStr, ToSmolStr as _};

/// An address in 16 bytes; IPv4 as IPv4-mapped IPv6, which no [`Address`](crate::domain::address::Address) is.
pub(super) fn ip_bytes(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// The address of [`ip_bytes`].
pub(super) fn ip_from_bytes(bytes: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(bytes).to_canonical()
}

/// The text of an address, as `Display` writes it. Searches write many, and `Display` takes three times as long for IPv6.
pub(super) fn ip_text(ip: IpAddr) -> SmolStr {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let IpAddr::V6(ip) = ip else { return ip.to_smolstr() };
    let groups = ip.segments();
    // The first of the longest runs of zeros, which is left out if there are several.
    let (mut zeros, mut left_out) = (0, 0..1);
    for (place, group) in groups.into_iter().enumerate() {
        zeros = if group == 0 { zeros + 1 } else { 0 };
        if zeros > left_out.len() {
            left_out = place + 1 - zeros..place + 1;
        }
    }
    let is_shortened = left_out.len() > 1;
    let (mut text, mut length) = ([0; 39], 0);
    let mut write = |byte| {
        text[length] = byte;
        length += 1;
    };
    for (place, group) in groups.into_iter().enumerate() {
        if is_shortened && left_out.contains(&place) {
            if place == left_out.start {
                write(b':');
                write(b':');
            }
            continue;
        }
        if place > 0 && !(is_shortened && place == left_out.end) {
            write(b':');
        }
        let digits = (4 - group.leading_zeros() / 4).max(1);
        (0..digits).rev().for_each(|digit| write(DIGITS[usize::from(group >> (4 * digit) & 0xf)]));
    }
    // Only ASCII is written.
    std::str::from_utf8(&text[..length]).unwrap_or_default().into()
}

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// An instant in 12 bytes: whole seconds since 1970, rounded down and shifted to be positive, then nanoseconds, both
/// big-endian. Bytes sort as instants do, and every `Timestamp` fits.
pub(super) fn time_bytes(time: Timestamp) -> [u8; 12] {
    let nanos = time.as_nanosecond();
    let seconds = nanos.div_euclid(NANOS_PER_SECOND) - i128::from(i64::MIN);
    // Seconds of a Timestamp fit 40 bits, the remainder fits 30: shifting them together loses nothing.
    let packed = (seconds << 32) | nanos.rem_euclid(NANOS_PER_SECOND);
    let [_, _, _, _, bytes @ ..] = packed.to_be_bytes();
    bytes
}

/// The instant of [`time_bytes`].
pub(super) fn time_from_bytes(bytes: [u8; 12]) -> Result<Timestamp, jiff::Error> {
    // Searches decode many, and a division of 128 bits takes longer than all else.
    let [a, b, c, d, e, f, g, h, nanos @ ..] = bytes;
    let seconds = i64::from_be_bytes([a, b, c, d, e, f, g, h]).wrapping_add(i64::MIN);
    Timestamp::new(seconds, i32::from_be_bytes(nanos))
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
            let time = text.parse().unwrap();
            assert_eq!(time_from_bytes(time_bytes(time)).unwrap(), time, "{text}");
        }
        for time in [Timestamp::MIN, Timestamp::MAX] {
            assert_eq!(time_from_bytes(time_bytes(time)).unwrap(), time);
        }
        assert!(time_from_bytes([0xff; 12]).is_err());
    }

    fn instant() -> impl Strategy<Value = Timestamp> {
        let range = Timestamp::MIN.as_nanosecond()..=Timestamp::MAX.as_nanosecond();
        range.prop_map(|nanos| Timestamp::from_nanosecond(nanos).unwrap())
    }

    proptest! {
        #[test]
        fn times_sort_as_their_bytes(one in instant(), step in -2_000_000_000_i64..2_000_000_000) {
            let other = one.saturating_add(jiff::SignedDuration::from_nanos(step)).unwrap();
            prop_assert_eq!(time_bytes(one).cmp(&time_bytes(other)), one.cmp(&other));
            prop_assert_eq!(time_from_bytes(time_bytes(one)).unwrap(), one);
        }

        #[test]
        fn addresses_are_unchanged(ip: IpAddr) {
            prop_assume!(ip.to_canonical() == ip);
            prop_assert_eq!(ip_from_bytes(ip_bytes(ip)), ip);
            prop_assert_eq!(ip_text(ip), ip.to_string());
        }

        #[test]
        fn runs_of_zeros_are_left_out(groups in proptest::array::uniform8(prop_oneof![3 => Just(0_u16), 1 => any::<u16>()])) {
            let ip = IpAddr::from(groups);
            prop_assume!(ip.to_canonical() == ip);
            prop_assert_eq!(ip_text(ip), ip.to_string());
        }
    }
}
