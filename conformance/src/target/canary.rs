use std::ops::Range;

use aho_corasick::{AhoCorasick, BuildError};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::Secret;
use crate::wire::base64_forms;

/// Searches responses for the texts that must never appear in one, as they are and in base64 as authentication headers have
/// them. All of them are searched for at once: every response of a run is looked at.
#[derive(Debug, Default)]
pub struct Canaries {
    search: Option<AhoCorasick>,
    /// For each pattern of the search, the canary that it may stand for.
    meant: Vec<DecodedCanary>,
}

struct DecodedCanary {
    canary: Secret,
    /// Its few characters may stand in any base64, so that a word is decoded before it counts.
    doubtful: bool,
}

impl std::fmt::Debug for DecodedCanary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.canary)
    }
}

impl Canaries {
    /// Bytes of a canary whose base64 is long enough to be no coincidence.
    const SURE: usize = 6;

    /// A search for these; an empty one is left out.
    ///
    /// # Errors
    /// When they are too many or too long to be searched for at once.
    pub fn new(canaries: &[Secret]) -> Result<Self, BuildError> {
        let (mut patterns, mut meant) = (Vec::new(), Vec::new());
        for canary in canaries.iter().filter(|canary| !canary.expose().is_empty()) {
            let text = canary.expose();
            patterns.push(text.to_owned());
            meant.push(DecodedCanary { canary: canary.clone(), doubtful: false });
            for form in base64_forms(text.as_bytes()).into_iter().filter(|form| !form.is_empty()) {
                patterns.push(form);
                meant.push(DecodedCanary { canary: canary.clone(), doubtful: text.len() < Self::SURE });
            }
        }
        let search = (!patterns.is_empty()).then(|| AhoCorasick::new(patterns)).transpose()?;
        Ok(Self { search, meant })
    }

    /// Whether a text holds one of them.
    #[must_use]
    pub fn found_in(&self, text: &[u8]) -> bool {
        let Some(search) = &self.search else { return false };
        // A long word may hold thousands of places that look like a canary; it is decoded once.
        let mut word = Word::default();
        search.find_overlapping_iter(text).any(|found| {
            let meant = self.meant.get(found.pattern().as_usize());
            meant.is_some_and(|meant| {
                !meant.doubtful || word.around(text, found.range()).holds(meant.canary.expose())
            })
        })
    }
}

/// A word in base64, and what it stands for.
#[derive(Default)]
struct Word {
    place: Range<usize>,
    decoded: Option<Vec<u8>>,
    /// Canaries that it does not hold.
    without: Vec<String>,
}

impl Word {
    fn around(&mut self, text: &[u8], place: Range<usize>) -> &mut Self {
        if self.place.start <= place.start && place.end <= self.place.end && !self.place.is_empty() {
            return self;
        }
        let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
        // Matches come from left to right, so nothing before the last word belongs to this one.
        let known = self.place.end.min(place.start);
        let begin = text[known..place.start].iter().rposition(|byte| !of_word(byte));
        let begin = begin.map_or(known, |before| known + before + 1);
        let end = text[place.end..].iter().position(|byte| !of_word(byte));
        let end = end.map_or(text.len(), |after| place.end + after);
        let word = &text[begin..end];
        let decoded = STANDARD_NO_PAD.decode(word).or_else(|_| URL_SAFE_NO_PAD.decode(word)).ok();
        *self = Self { place: begin..end, decoded, without: Vec::new() };
        self
    }

    fn holds(&mut self, canary: &str) -> bool {
        if self.without.iter().any(|known| known == canary) {
            return false;
        }
        let holds = |bytes: &Vec<u8>| bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
        let held = self.decoded.as_ref().is_some_and(holds);
        if !held {
            self.without.push(canary.to_owned());
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canaries_are_found_as_they_are_and_in_base64() {
        let canaries = [
            Secret::new("CANARIES", "hunter2-hunter2"),
            Secret::new("CANARIES", "pw1"),
            Secret::new("CANARIES", ""),
        ];
        let canaries = Canaries::new(&canaries).expect("few and short");
        let basic =
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode("user:hunter2-hunter2"));
        let short = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode("user:pw1"));
        for text in ["a hunter2-hunter2.", "xpw1x", &basic, &short] {
            assert!(canaries.found_in(text.as_bytes()), "{text}");
        }
        for text in ["", "hunter2", "aHVudGVy", "cHcx/!", "xxcHcx"] {
            assert!(!canaries.found_in(text.as_bytes()), "{text}");
        }
        assert!(!Canaries::new(&[]).expect("nothing to search for").found_in(b"anything"));
    }
}
