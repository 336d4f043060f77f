//! Which findings are one mistake of a client.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};

/// A hash that is the same in each process.
pub(super) fn hash(value: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::new().hash_one(value)
}

/// The text with each number replaced by `#`.
pub(super) fn without_numbers(text: &str) -> String {
    let mut words: Vec<char> = text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
    words.dedup_by(|one, before| (*one, *before) == ('#', '#'));
    words.into_iter().collect()
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
