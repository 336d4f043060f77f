//! Text of others, such as a service, an import or an argument, made safe for terminals and in JSON.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Escapes text of others so that it is safe on a terminal and fits on one line: control characters and those that reorder text
/// become Rust escapes such as `\u{1b}` or `\n`. Everything else stays as it is, in every language; escaping twice is the same as
/// escaping once.
///
/// ```
/// use sallyport_contract::printable::printable;
///
/// assert_eq!(printable("Zürich 北京"), "Zürich 北京");
/// assert_eq!(printable("\u{1b}[2Jgone\n"), r"\u{1b}[2Jgone\n");
/// ```
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

/// Writes a value as one line of compact JSON. The characters that [`printable`] escapes are escaped in JSON's own way, so that no text
/// is changed.
///
/// # Errors
/// The output cannot be written, or the value cannot be written as JSON.
pub fn write_json(mut output: impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut output, Plain))?;
    output.write_all(b"\n")
}

/// Control characters (C0, DEL, C1), line and paragraph separators, the controls of the bidirectional algorithm, and the byte order
/// mark, which nothing shows.
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
        "\u{1b}]0;title\u{7}\u{9b}31m\u{7f}\0\r\n\t\u{85}\u{2028}\u{202e}\u{2066}\u{200f}\u{61c}\u{feff}";
    /// With a combining accent, a joined emoji, a no-break space, and Persian with a zero-width non-joiner.
    const ORDINARY: &str = "a b\"'\\ Zu\u{308}rich 👩\u{200d}🔧 1\u{a0}000 نمی\u{200c}دانم 北京";

    #[test]
    fn only_control_characters_are_escaped() {
        let shown = r"\u{1b}]0;title\u{7}\u{9b}31m\u{7f}\u{0}\r\n\t\u{85}\u{2028}\u{202e}\u{2066}\u{200f}\u{61c}\u{feff}";
        assert_eq!(printable(CONTROLS), shown);
        for text in [shown, ORDINARY, ""] {
            assert!(matches!(printable(text), Cow::Borrowed(shown) if shown == text), "{text}");
        }
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
