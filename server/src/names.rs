//! Suggestions for misspelled names.

/// Maximum length of a text, in characters, that is compared with names.
const MAX_LENGTH: usize = 40;

/// The known name that is most similar to `name`, if it differs only in letter case or in at most two letters.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.chars().nth(MAX_LENGTH).is_some() {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let name = plain(name);
    known
        .iter()
        .map(|candidate| (strsim::levenshtein(&name, &plain(candidate)), *candidate))
        .filter(|(distance, candidate)| *distance <= 2 && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
