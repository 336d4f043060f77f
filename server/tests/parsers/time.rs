//! Times of a search.

use jiff::Timestamp;
use proptest::prelude::*;
use sallyport_contract::date_time;

use super::texts;

const PARTS: &str = "2026-01-31T08:00:00Z¦2024-02-29¦2023-02-29¦9999-12-31¦0000-01-01¦T¦t¦23:59:60¦00:00:00¦24:00:00¦.5¦\
    .1234567890123¦.¦Z¦z¦+02:30¦-00:00¦+23:59¦+24:00¦-12:60¦ ¦[UTC]¦-¦:¦0¦9";

fn read(text: &str) -> Option<i128> {
    date_time::parse(text).map(Timestamp::as_nanosecond)
}

/// Nanoseconds since 1970 by RFC 3339, section 5.6, and the calendar: digits past the ninth are cut off, a leap second is
/// the second before it, and what lies behind the last instant that is kept is that instant.
fn slow(text: &str) -> Option<i128> {
    let bytes = text.as_bytes();
    let number = |from: usize, length: usize| -> Option<i128> {
        let digits = bytes.get(from..from + length)?;
        digits.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i128::from(digit - b'0'))
        })
    };
    let letter =
        |place: usize, letters: &[u8]| bytes.get(place).is_some_and(|letter| letters.contains(letter));
    let punctuation =
        letter(4, b"-") && letter(7, b"-") && letter(10, b"Tt") && letter(13, b":") && letter(16, b":");
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    let mut place = 19;
    let mut fraction = 0;
    if letter(place, b".") {
        let digits = bytes[place + 1..].iter().take_while(|digit| digit.is_ascii_digit()).count();
        for index in 0..9 {
            fraction = fraction * 10 + if index < digits { number(place + 1 + index, 1)? } else { 0 };
        }
        place += 1 + digits;
        if digits == 0 {
            return None;
        }
    }
    let offset = if letter(place, b"Zz") {
        place += 1;
        0
    } else {
        let sign = if letter(place, b"+") {
            1
        } else if letter(place, b"-") {
            -1
        } else {
            return None;
        };
        let (hours, minutes) = (number(place + 1, 2)?, number(place + 4, 2)?);
        if !letter(place + 3, b":") || hours > 23 || minutes > 59 {
            return None;
        }
        place += 6;
        sign * (hours * 60 + minutes)
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of = |month| match month {
        2 => 28 + i128::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let exists = (1..=12).contains(&month)
        && (1..=days_of(month)).contains(&day)
        && hour <= 23
        && minute <= 59
        && second <= 60;
    if !punctuation || !exists || place != bytes.len() {
        return None;
    }
    // Days before the year, counted from the first day of year 0, of which 719,528 lie before 1970.
    let leaps = if year == 0 { 0 } else { 1 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 };
    let days = year * 365 + leaps + (1..month).map(days_of).sum::<i128>() + day - 1 - 719_528;
    let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second.min(59);
    Some((seconds * 1_000_000_000 + fraction).min(Timestamp::MAX.as_nanosecond()))
}

proptest! {
    #[test]
    fn times_are_what_a_slow_reader_finds(text in texts(PARTS)) {
        prop_assert_eq!(read(&text), slow(&text));
    }

    #[test]
    fn every_field_counts(
        (year, month, day) in (0..=9999, 0..=13, 0..=32),
        (hour, minute, second) in (0..=24, 0..=60, 0..=61),
        fraction in "(\\.[0-9]{0,12})?",
        zone in "[Zz]|[+-][0-2][0-9]:[0-6][0-9]",
    ) {
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}");
        prop_assert_eq!(read(&text), slow(&text), "{}", text);
    }
}
