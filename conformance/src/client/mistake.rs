//! Which findings are one mistake of a client.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};

/// A hash that is the same in each process.
pub(super) fn hash(value: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::new().hash_one(value)
}

/// The text with each number replaced by `#`.
pub(super) fn without_numbers(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if words.ends_with('#') => {}
            '0'..='9' => words.push('#'),
            c => words.push(c),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_make_no_other_mistake() {
        assert_eq!(without_numbers("page 257 of 12.5 s, x1"), "page # of #.# s, x#");
        assert_ne!(hash((without_numbers("a"), "b")), hash((without_numbers("ab"), "")));
    }
}
