//! Which problems are one mistake of a client.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};

/// What was expected and found, without the numbers. It is a hash, so that nothing of what a client wrote is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mistake(u64);

impl Mistake {
    /// `said` is a hash of what the command said of its error.
    pub(super) fn new(expected: &str, actual: &str, said: Option<u64>) -> Self {
        Self(hash((without_numbers(expected), without_numbers(actual), said)))
    }
}

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
    use crate::client::evidence::Exit;

    #[test]
    fn numbers_make_no_other_mistake() {
        let mistake = |expected: &str, actual: &str| Mistake::new(expected, actual, None);
        let early = mistake("no request for 2.00 s after HTTP 429", "the next one came after 0.05 s");
        assert_eq!(
            early,
            mistake("no request for 3600.00 s after HTTP 429", "the next one came after 10.5 s")
        );
        assert_ne!(early, mistake("no request for 2.00 s", "the next one came after 0.05 s"));
        assert_ne!(mistake("a", "b"), mistake("ab", ""));
        assert_eq!(without_numbers("page 257 of 12.5 s, x1"), "page # of #.# s, x#");
    }

    #[test]
    fn other_words_of_a_client_are_another_mistake() {
        let failed = |exit: Exit, words: &str| {
            let said = Some(hash((exit, without_numbers(words))));
            Mistake::new("a result", "an error", said)
        };
        assert_eq!(failed(Exit::Code(1), "at line 7"), failed(Exit::Code(1), "at line 12"));
        assert_ne!(failed(Exit::Code(1), "at line 7"), failed(Exit::Code(7), "at line 7"));
        assert_ne!(failed(Exit::Code(1), "no JSON"), failed(Exit::Code(1), "a timeout"));
    }
}
