//! Invalid integers as text of a query parameter and as values of a JSON body: outside the range, or malformed.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::Spelling;
use super::list::list;

/// Texts for a query parameter that are not an integer of the range.
pub(crate) fn integer_texts(range: &RangeInclusive<i64>) -> Vec<Spelling> {
    [outside(range), list("number beyond 64 bits", range), list("no integer", range)].concat()
}

/// JSON texts that are not an integer of the range.
pub(crate) fn json_integers(range: &RangeInclusive<i64>) -> Vec<Spelling> {
    let huge = Spelling::malformed("1e400", "an exponent beyond any float");
    // Zero with a sign is zero.
    let zero = (!range.contains(&0)).then(|| Spelling::malformed("-0.0", "zero with a sign"));
    let numbers = [outside(range), list("number beyond 64 bits", range)].concat();
    let others = list("no JSON integer", range);
    numbers.into_iter().chain([huge]).chain(zero).chain(others).collect()
}

/// Values that a lenient parser is most likely to accept, or to treat as missing.
pub(super) const LIKELY: [&str; 5] = [BELOW, ZERO, ABOVE, "a number as a string", "an empty string"];

const BELOW: &str = "one below the smallest value";
const ZERO: &str = "zero";
const ABOVE: &str = "one above the largest value";

/// Numbers outside the range: its neighbours, those that wrap into it when upper bits are lost, and distant ones.
fn outside(range: &RangeInclusive<i64>) -> Vec<Spelling> {
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
    let mut seen = BTreeSet::new();
    let numbers = candidates.into_iter().filter_map(|(number, reason)| Some((number?, reason)));
    let outside = numbers.filter(|(number, _)| !range.contains(number) && seen.insert(*number));
    // Its name in labels does not depend on the limit.
    let named = |(number, reason): (i64, &'static str)| Spelling {
        name: reason.to_owned(),
        ..Spelling::malformed(number.to_string(), reason)
    };
    outside.map(named).collect()
}
