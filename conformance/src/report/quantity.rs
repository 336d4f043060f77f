//! Numbers with their nouns.

use std::fmt::Display;

/// A number with its noun, in the plural unless the number is one: "1 check", "0 requests".
#[must_use]
pub fn quantity<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let end = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0_u64, 1, 2].map(|count| quantity(count, "check")), ["0 checks", "1 check", "2 checks"]);
    }
}
