//! Escapes untrusted text, such as names of an import, for terminals and JSON.

use std::{
    borrow::Cow,
    fmt::Display,
    io::{self, Write},
};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The text, safe to print on one line: characters that control a terminal or reorder a line are escaped as in Rust, such as
/// `\u{1b}` or `\n`. All other characters of any language are unchanged.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control_character) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_control_character(letter) { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    Cow::Owned(shown)
}

/// A number with its noun, in the plural unless the number is one: "1 account", "2 entries".
#[must_use]
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == N::from(1) => format!("1 {noun}"),
        // Entries, but gateways.
        Some(stem) if !stem.ends_with('a') => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

/// Writes a value as one line of compact JSON. Characters that control a terminal are escaped in JSON's own way.
///
/// # Errors
/// The output cannot be written, or the value cannot be written as JSON.
pub fn write_json(mut output: impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut output, Plain))?;
    output.write_all(b"\n")
}

/// Control characters (C0, DEL, C1), line and paragraph separators, the controls of the bidirectional algorithm, and the
/// byte order mark, which is invisible.
fn is_control_character(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Compact JSON in which control characters are escaped also where JSON does not require it.
struct Plain;

impl Formatter for Plain {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some((place, letter)) =
            rest.char_indices().find(|(_, letter)| is_control_character(*letter))
        {
            let (before, after) = rest.split_at(place);
            // All control characters are below U+10000, so one escape is enough.
            write!(writer, "{before}\\u{:04x}", u32::from(letter))?;
            rest = after.get(letter.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTROLS: &str =
        "\u{1b}[2J\u{9b}31m\u{7f}\0\r\n\t\u{85}\u{2028}\u{202e}\u{2066}\u{200f}\u{61c}\u{feff}";
    const ORDINARY: &str = "a b\"'\\ Zu\u{308}rich 👩\u{200d}🔧 1\u{a0}000 نمی\u{200c}دانم 北京";

    #[test]
    fn only_control_characters_are_escaped() {
        let shown =
            r"\u{1b}[2J\u{9b}31m\u{7f}\u{0}\r\n\t\u{85}\u{2028}\u{202e}\u{2066}\u{200f}\u{61c}\u{feff}";
        assert_eq!(printable(CONTROLS), shown);
        assert_eq!(printable(shown), shown);
        assert_eq!(printable(ORDINARY), ORDINARY);
    }

    #[test]
    fn nouns_follow_their_numbers() {
        assert_eq!(counted(1_u64, "entry"), "1 entry");
        assert_eq!(
            ["entry", "gateway", "token"].map(|noun| counted(0_i64, noun)),
            ["0 entries", "0 gateways", "0 tokens"]
        );
    }

    #[test]
    fn json_is_safe_and_lossless() {
        let text = format!("{ORDINARY}{CONTROLS}{ORDINARY}");
        let mut line = Vec::new();
        write_json(&mut line, &[&text]).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert!(!line.trim_end_matches('\n').contains(is_control_character), "{line}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&line).unwrap(), [text]);
        assert!(line.contains("北京") && line.contains(r"\u009b"), "{line}");
    }
}
