use aho_corasick::{AhoCorasick, BuildError};

use crate::wire::{Secret, base64_forms};

/// Searches each response at once for all texts that must never appear in one, plain and in base64 as in authentication headers.
/// Each has the minimum length of a secret, so that its base64 does not occur by coincidence.
#[derive(Debug, Default)]
pub struct Canaries(Option<AhoCorasick>);

impl Canaries {
    /// A search for these canaries. Empty ones are ignored.
    ///
    /// # Errors
    /// When they are too many or too long for one search.
    pub fn new(canaries: &[Secret]) -> Result<Self, BuildError> {
        let texts = canaries.iter().map(Secret::expose).filter(|text| !text.is_empty());
        let forms = |text: &str| base64_forms(text.as_bytes()).into_iter().chain([text.to_owned()]);
        let texts: Vec<String> = texts.flat_map(forms).collect();
        (!texts.is_empty()).then(|| AhoCorasick::new(texts)).transpose().map(Self)
    }

    /// Whether a text contains one of them.
    pub fn found_in(&self, text: &[u8]) -> bool {
        self.0.as_ref().is_some_and(|search| search.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn canaries_are_found_plain_and_in_base64() {
        let canaries = ["hunter2-hunter2", "sixsix", ""].map(|text| Secret::new("CANARIES", text));
        let canaries = Canaries::new(&canaries).expect("few and short");
        let [long, short] =
            ["user:hunter2-hunter2", "user:sixsix"].map(|text| format!("Basic {}", STANDARD.encode(text)));
        for text in ["a hunter2-hunter2.", "xsixsixx", &long, &short] {
            assert!(canaries.found_in(text.as_bytes()), "{text}");
        }
        for text in ["", "hunter2", "aHVudGVy", "six"] {
            assert!(!canaries.found_in(text.as_bytes()), "{text}");
        }
        assert!(!Canaries::new(&[]).expect("nothing to search for").found_in(b"anything"));
    }
}
