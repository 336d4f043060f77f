//! The words of a text: its numbers, its lists and its phrases about limits.

/// A text as words, each with what separates it from the next.
#[derive(Debug)]
pub(super) struct Words<'a> {
    words: Vec<(&'a str, Break)>,
}

/// What follows a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    Space,
    Comma,
    /// The end of a sentence or of a part of it.
    End,
}

const PUNCTUATION: [char; 11] = ['`', '.', ',', ';', ':', '(', ')', '"', '\'', '!', '?'];

impl<'a> Words<'a> {
    pub(super) fn read(text: &'a str) -> Words<'a> {
        let pieces = text.split(|letter: char| letter.is_whitespace() || letter == '=');
        let mut words: Vec<(&str, Break)> = Vec::new();
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            let word = piece.trim_matches(PUNCTUATION);
            let end = piece.trim_end_matches('`').chars().last().unwrap_or_default();
            let is_end = matches!(end, '.' | ';' | ':' | ')' | '!' | '?');
            let after = if end == ',' {
                Break::Comma
            } else if is_end {
                Break::End
            } else {
                Break::Space
            };
            if !word.is_empty() {
                words.push((word, after));
            }
        }
        Words { words }
    }

    pub(super) fn first(&self) -> Option<&'a str> {
        self.words.first().map(|(word, _)| *word)
    }

    pub(super) fn has(&self, wanted: &str) -> bool {
        self.words.iter().any(|(word, _)| *word == wanted)
    }

    /// The whole numbers, without those of standards, such as in `RFC 3339`.
    pub(super) fn numbers(&self) -> impl Iterator<Item = i64> + '_ {
        self.words.iter().enumerate().filter_map(|(index, (word, _))| {
            let before = index.checked_sub(1).map(|before| self.words[before].0);
            if before == Some("RFC") { None } else { number(word) }
        })
    }

    /// The words of each list: `a, b or c` has three. The first word of a longer entry does not count.
    pub(super) fn lists(&self) -> Vec<Vec<&'a str>> {
        let mut lists = Vec::new();
        let mut list: Vec<&str> = Vec::new();
        let is_joint = |word: &str| matches!(word, "or" | "and");
        let mut index = 0;
        while let Some((word, after)) = self.words.get(index) {
            index += 1;
            let joint_follows = self.words.get(index).is_some_and(|(next, _)| is_joint(next));
            if is_joint(word) {
                continue;
            }
            let goes_on = *after == Break::Comma || *after == Break::Space && joint_follows;
            let ends_here = *after == Break::End || self.words.len() == index;
            let is_joined = !list.is_empty();
            if goes_on || is_joined && ends_here {
                list.push(word);
            }
            if !goes_on && !list.is_empty() {
                lists.push(std::mem::take(&mut list));
            }
        }
        lists.retain(|list| list.len() > 1);
        lists
    }

    /// The numbers that a phrase gives as limits: `at most 3`, `at least 3`, `up to 3`, `from 1 to 3`, `3 bytes`.
    pub(super) fn bounds(&self) -> Vec<i64> {
        let mut found = Vec::new();
        for (index, (word, _)) in self.words.iter().enumerate() {
            let Some(number) = number(word) else { continue };
            let back = |steps: usize| index.checked_sub(steps).map_or("", |at| self.words[at].0);
            let next = |steps: usize| self.words.get(index + steps).map_or("", |(word, _)| *word);
            let is_bound = matches!((back(2), back(1)), ("at", "most" | "least") | ("up", "to"))
                || back(1) == "from" && next(1) == "to"
                || back(1) == "to" && back(3) == "from"
                || matches!(next(1), "bytes" | "characters");
            if is_bound {
                found.push(number);
            }
        }
        found
    }
}

/// A whole number, perhaps below zero, without a point, a unit or letters.
fn number(word: &str) -> Option<i64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    digits.chars().all(|letter| letter.is_ascii_digit()).then(|| word.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_alone() {
        let numbers = |text| Words::read(text).numbers().collect::<Vec<_>>();
        assert_eq!(numbers("With lb=6, from 1 to `100`; HTTP 200."), [6, 1, 100, 200]);
        assert_eq!(numbers("from -30 to 30, 2026-01-01 - and no more"), [-30, 30]);
        assert_eq!(
            numbers("RFC 3339, every field of 2.3, UTF-8, IPv4, socks5, /openapi/v1"),
            Vec::<i64>::new()
        );
    }

    #[test]
    fn lists_end_before_longer_entries() {
        let lists = |text| Words::read(text).lists();
        assert_eq!(
            lists("status is provisioning, active, expired, cancelled or failed; anything else is rejected."),
            [vec!["provisioning", "active", "expired", "cancelled", "failed"]]
        );
        assert_eq!(lists("protocol is http or socks5, http when absent."), [vec!["http", "socks5"]]);
        assert!(lists("A group has no list.").is_empty());
    }

    #[test]
    fn phrases_give_limits() {
        let bounds = |text| Words::read(text).bounds();
        assert_eq!(
            bounds("At 7 ports, at most 500 distinct, from 1 to 65535, 32 bytes, up to 9."),
            [500, 1, 65535, 32, 9]
        );
        assert_eq!(bounds("Page number as asked for, from 1."), Vec::<i64>::new());
    }
}
