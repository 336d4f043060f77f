//! Numbers with their nouns.

use std::fmt::Display;

/// A number with its noun, in the plural unless the number is one: "1 check", "0 requests", "2 entries".
#[must_use]
pub fn quantity<N: Display + PartialEq + TryFrom<u8>>(count: N, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if N::try_from(1).is_ok_and(|one| count == one) => format!("{count} {noun}"),
        // Entries, but gateways.
        Some(stem) if !stem.ends_with('a') => format!("{count} {stem}ies"),
        _ if noun.ends_with('s') => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0_u64, 1, 2].map(|count| quantity(count, "check")), ["0 checks", "1 check", "2 checks"]);
        assert_eq!(
            ["entry", "gateway", "address"].map(|noun| quantity(2, noun)),
            ["2 entries", "2 gateways", "2 addresses"]
        );
    }
}
