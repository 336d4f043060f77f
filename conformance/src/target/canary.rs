use std::ops::Range;

use aho_corasick::{AhoCorasick, BuildError};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::Secret;
use crate::wire::base64_forms;

/// Searches responses for texts that must never appear in one, plain and in base64 as in authentication headers. One search finds
/// all of them, because every response of a run is searched.
#[derive(Debug, Default)]
pub struct Canaries {
    search: Option<AhoCorasick>,
    /// For each pattern of the search, its canary, and whether the pattern is so short that any base64 may contain it. Such a word
    /// is decoded before it counts.
    patterns: Vec<(Secret, bool)>,
}

impl Canaries {
    /// Minimum length of a canary whose base64 does not occur by coincidence, in bytes.
    const MIN_UNIQUE: usize = 6;

    /// A search for these canaries. Empty ones are ignored.
    ///
    /// # Errors
    /// When they are too many or too long for one search.
    pub fn new(canaries: &[Secret]) -> Result<Self, BuildError> {
        let (mut texts, mut patterns) = (Vec::new(), Vec::new());
        for canary in canaries.iter().filter(|canary| !canary.expose().is_empty()) {
            let text = canary.expose();
            texts.push(text.to_owned());
            patterns.push((canary.clone(), false));
            for form in base64_forms(text.as_bytes()).into_iter().filter(|form| !form.is_empty()) {
                texts.push(form);
                patterns.push((canary.clone(), text.len() < Self::MIN_UNIQUE));
            }
        }
        let search = (!texts.is_empty()).then(|| AhoCorasick::new(texts)).transpose()?;
        Ok(Self { search, patterns })
    }

    /// Whether a text contains one of them.
    pub fn found_in(&self, text: &[u8]) -> bool {
        let Some(search) = &self.search else { return false };
        // A long word may have thousands of matches, so it is decoded once.
        let mut word = Word::default();
        search.find_overlapping_iter(text).any(|found| {
            let pattern = self.patterns.get(found.pattern().as_usize());
            pattern.is_some_and(|(canary, is_short)| {
                !is_short || word.around(text, found.range()).contains(canary.expose())
            })
        })
    }
}

/// A word in base64.
#[derive(Default)]
struct Word {
    place: Range<usize>,
    decoded: Option<Vec<u8>>,
    /// Canaries that it is known not to contain.
    without: Vec<String>,
}

impl Word {
    fn around(&mut self, text: &[u8], place: Range<usize>) -> &mut Self {
        if self.place.start <= place.start && place.end <= self.place.end && !self.place.is_empty() {
            return self;
        }
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
        // Matches come from left to right, so this word begins behind the last one.
        let known = self.place.end.min(place.start);
        let begin = text[known..place.start].iter().rposition(|byte| !is_base64(byte));
        let begin = begin.map_or(known, |before| known + before + 1);
        let end = text[place.end..].iter().position(|byte| !is_base64(byte));
        let end = end.map_or(text.len(), |after| place.end + after);
        let word = &text[begin..end];
        let decoded = STANDARD_NO_PAD.decode(word).or_else(|_| URL_SAFE_NO_PAD.decode(word)).ok();
        *self = Self { place: begin..end, decoded, without: Vec::new() };
        self
    }

    fn contains(&mut self, canary: &str) -> bool {
        if self.without.iter().any(|known| known == canary) {
            return false;
        }
        let is_in = |bytes: &Vec<u8>| bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
        let is_found = self.decoded.as_ref().is_some_and(is_in);
        if !is_found {
            self.without.push(canary.to_owned());
        }
        is_found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canaries_are_found_plain_and_in_base64() {
        let canaries = ["hunter2-hunter2", "pw1", ""].map(|text| Secret::new("CANARIES", text));
        let canaries = Canaries::new(&canaries).expect("few and short");
        let [basic, short] = ["user:hunter2-hunter2", "user:pw1"]
            .map(|text| format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(text)));
        for text in ["a hunter2-hunter2.", "xpw1x", &basic, &short] {
            assert!(canaries.found_in(text.as_bytes()), "{text}");
        }
        for text in ["", "hunter2", "aHVudGVy", "cHcx/!", "xxcHcx"] {
            assert!(!canaries.found_in(text.as_bytes()), "{text}");
        }
        assert!(!Canaries::new(&[]).expect("nothing to search for").found_in(b"anything"));
    }
}
