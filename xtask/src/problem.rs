//! A problem of the document: its position, its message and what to do.

use std::fmt;

/// A line and column of the document, both starting at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// A problem that prevents generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// JSON pointer of the offending value; empty for the document as a whole.
    pub(crate) pointer: String,
    /// Position of the value in the file; `None` when the file could not be parsed.
    pub(crate) place: Option<Place>,
    /// What was expected and what was found.
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: String,
}

/// Path of the document, relative to the root of the workspace.
pub(crate) const DOCUMENT: &str = "openapi/openapi.yaml";

impl Problem {
    /// Sorts problems by position, those without one first.
    pub(crate) fn sort(problems: &mut [Problem]) {
        problems.sort_by(|a, b| (a.place, &a.pointer, &a.message).cmp(&(b.place, &b.pointer, &b.message)));
    }

    /// The problems as one text.
    #[cfg(test)]
    pub(crate) fn list(problems: &[Problem]) -> String {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    /// The problem as a text that begins with the name of its file.
    pub(crate) fn in_file(&self, file: &str) -> String {
        let Problem { pointer, place, message, help } = self;
        let mut text = file.to_owned();
        if let Some(Place { line, column }) = place {
            text += &format!(":{line}:{column}");
        }
        text += &format!(": {message}");
        if !pointer.is_empty() {
            text += &format!("\n  pointer: {pointer}");
        }
        text + &format!("\n  help:    {help}")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.in_file(DOCUMENT))
    }
}

/// What to do about an unknown word: the name that is meant, or `otherwise` where none is similar.
pub(crate) fn suggestion<'n>(word: &str, names: impl Iterator<Item = &'n str>, otherwise: &str) -> String {
    nearest(word, names).map_or_else(|| otherwise.to_owned(), |name| format!("did you mean `{name}`?"))
}

/// The most similar name; `None` when more than a third of it differs.
fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let lower = word.to_lowercase();
    names
        .map(|name| (strsim::levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance * 3 <= name.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_suggested() {
        assert_eq!(nearest("minimun", ["minimum", "maximum"].into_iter()), Some("minimum"));
        assert_eq!(nearest("xyz", ["minimum", "type"].into_iter()), None);
    }
}
