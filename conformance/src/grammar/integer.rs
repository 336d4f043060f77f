//! Invalid integers as text of a query parameter and as values of a JSON body: outside the range, or malformed.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::{Spelling, distinct};

/// Texts for a query parameter that are not an integer of the range. `1.0`, `+1`, leading zeros and spaces are unspecified and left
/// out.
pub(crate) fn integer_texts(range: &RangeInclusive<i64>) -> Vec<Spelling> {
    const NO_INTEGER: [(&str, &str); 27] = [
        ("0.5", "a fraction"),
        ("1.5", "a fraction"),
        ("1,5", "a decimal comma"),
        ("1,000", "a separator of thousands"),
        ("1_0", "an underscore between digits"),
        ("1 0", "a space between digits"),
        ("0x1", "hexadecimal"),
        ("1e0", "an exponent"),
        ("1E1", "an exponent"),
        ("1e400", "an exponent beyond any float"),
        ("NaN", "not a number"),
        ("Infinity", "infinity"),
        ("-Infinity", "negative infinity"),
        ("1abc", "a number and letters"),
        ("1%", "a number and a percent sign"),
        ("1\0", "a number and a NUL"),
        ("*", "an asterisk"),
        ("one", "a word"),
        ("true", "a boolean"),
        ("null", "null"),
        ("[1]", "an array"),
        ("1;2", "two numbers"),
        ("1,2", "two numbers"),
        ("1-2", "a range"),
        ("--1", "two signs"),
        ("\u{661}", "a digit of another script"),
        ("\u{ff11}", "a digit in full width"),
    ];
    let outside = outside(range).into_iter().map(Spelling::outside);
    let beyond = BEYOND.map(|(text, reason)| Spelling::malformed(text, reason));
    let other = NO_INTEGER.map(|(text, reason)| Spelling::malformed(text, reason));
    distinct(outside.chain(beyond).chain(other).collect())
}

/// JSON texts that are not an integer of the range. `2.0` for 2 is unspecified and left out.
pub(crate) fn json_integers(range: &RangeInclusive<i64>) -> Vec<Spelling> {
    let start = range.start();
    let other: [(Value, &'static str); 17] = [
        (json!(start.to_string()), AS_STRING),
        (json!(""), EMPTY_STRING),
        (json!(" "), "a blank string"),
        (json!(format!(" {start} ")), "a number as a string, with blanks"),
        (json!(0.5), "a fraction"),
        (json!(1.5), "a fraction"),
        (json!(1.000_001), "a fraction close to a whole number"),
        (json!(true), "true"),
        (json!(false), "false"),
        (json!("many"), "a word"),
        (json!("null"), "null as a string"),
        (json!("1.5"), "a fraction as a string"),
        (json!([]), "an empty array"),
        (json!([1]), "an array"),
        (json!([1, 2]), "an array of two"),
        (json!({}), "an object"),
        (json!({"value": 1}), "an object with the value"),
    ];
    let outside = outside(range).into_iter().map(Spelling::outside);
    let beyond = BEYOND.map(|(text, reason)| Spelling::malformed(text, reason));
    let huge = Spelling::malformed("1e400", "an exponent beyond any float");
    // Zero with a sign is zero.
    let zero = (!range.contains(&0)).then(|| Spelling::malformed("-0.0", "zero with a sign"));
    let other = other.map(|(value, reason)| Spelling::malformed(value.to_string(), reason));
    distinct(outside.chain(beyond).chain([huge]).chain(zero).chain(other).collect())
}

/// Values that a lenient parser is most likely to accept, or to treat as missing.
pub(crate) const LIKELY: [&str; 5] = [BELOW, ZERO, ABOVE, AS_STRING, EMPTY_STRING];

const BELOW: &str = "one below the smallest value";
const ZERO: &str = "zero";
const ABOVE: &str = "one above the largest value";
const AS_STRING: &str = "a number as a string";
const EMPTY_STRING: &str = "an empty string";

/// Beyond 64 bits.
const BEYOND: [(&str, &str); 4] = [
    ("9223372036854775808", "a number that wraps in 64 bits with a sign"),
    ("18446744073709551617", "a number that wraps in 64 bits"),
    ("-9223372036854775809", "a negative number beyond 64 bits"),
    ("1000000000000000000000000000000", "a number beyond 64 bits"),
];

/// Numbers outside the range: its neighbours, those that wrap into it when upper bits are lost, and distant ones.
fn outside(range: &RangeInclusive<i64>) -> Vec<(i64, &'static str)> {
    let (start, end) = (*range.start(), *range.end());
    let candidates = [
        (start.checked_sub(1), BELOW),
        (start.checked_sub(2), "two below the smallest value"),
        (start.checked_sub(100), "far below the smallest value"),
        (Some(0), ZERO),
        (Some(-1), "a negative number"),
        (start.checked_neg(), "the smallest value with a sign"),
        (end.checked_neg(), "the largest value with a sign"),
        (end.checked_add(1), ABOVE),
        (end.checked_add(2), "two above the largest value"),
        (end.checked_mul(2), "twice the largest value"),
        (end.checked_mul(10), "ten times the largest value"),
        (Some(1 << 32), "a number that wraps to zero in 32 bits"),
        (start.checked_add(1 << 8), "a number that wraps in 8 bits"),
        (start.checked_add(1 << 16), "a number that wraps in 16 bits"),
        (Some(i64::from(i32::MAX)), "the largest number of 32 bits"),
        (Some(1 << 31), "a number that wraps in 32 bits with a sign"),
        (start.checked_add(1 << 32), "a number that wraps in 32 bits"),
        (Some(i64::from(i32::MIN)), "the smallest number of 32 bits"),
        (Some((1 << 53) + 1), "a number that no float holds"),
        (Some(i64::MAX), "the largest number of 64 bits"),
        (Some(i64::MIN), "the smallest number of 64 bits"),
    ];
    let numbers = candidates.into_iter().filter_map(|(number, reason)| Some((number?, reason)));
    numbers.filter(|(number, _)| !range.contains(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_within_the_range() {
        for range in [1..=100, 1..=1_000_000, 0..=i64::MAX, 1..=6] {
            let texts = integer_texts(&range).into_iter().chain(json_integers(&range));
            for Spelling { text, is_valid, reason, .. } in texts {
                assert!(!is_valid);
                assert!(!text.parse().is_ok_and(|number: i64| range.contains(&number)), "{text}: {reason}");
            }
        }
    }

    #[test]
    fn neighbours_and_wrapped_numbers_are_included() {
        let texts: Vec<_> = integer_texts(&(1..=100)).into_iter().map(|spelling| spelling.text).collect();
        for number in ["0", "-1", "101", "102", "257", "65537", "4294967297", "18446744073709551617"] {
            assert!(texts.iter().any(|text| text == number), "{number}");
        }
        assert!(json_integers(&(0..=i64::MAX)).iter().any(|value| value.text == "-1"));
    }
}
