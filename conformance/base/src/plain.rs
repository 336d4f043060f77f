//! Makes untrusted text (of a target, a report, a recording, a configuration) safe to print.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Untrusted text on one line. Characters that would move the cursor, change colours or reverse the direction of writing become
/// escapes such as `\u{1b}`. All untrusted text reaches a screen through this function.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    replaced(text, is_control, |shown, c| shown.extend(c.escape_unicode()))
}

/// The same, but keeps line breaks and tabs.
#[must_use]
pub fn plain_lines(text: &str) -> Cow<'_, str> {
    let acts = |c| is_control(c) && !matches!(c, '\n' | '\t');
    replaced(text, acts, |shown, c| shown.extend(c.escape_unicode()))
}

/// JSON with the same characters as JSON escapes. They can only occur in its strings.
pub fn plain_json(json: &str) -> Cow<'_, str> {
    // Line breaks stand between the parts of a document: those in strings are escapes already.
    let acts = |c| is_control(c) && (!c.is_ascii() || c == '\u{7f}');
    replaced(json, acts, |shown, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

fn replaced(text: &str, acts: fn(char) -> bool, push: fn(&mut String, char)) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) { push(&mut shown, c) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Whether a character is not printable: ASCII and Latin-1 controls, line and paragraph separators, direction marks, zero-width
/// characters, tags, and two noncharacters that XML forbids.
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'
                | '\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_shown_and_all_else_stays() {
        let text = "a\u{1b}[2J\u{9b}31m\u{202e}b\u{2066}\n\u{7f}\u{2028}c";
        assert_eq!(plain(text), r"a\u{1b}[2J\u{9b}31m\u{202e}b\u{2066}\u{a}\u{7f}\u{2028}c");
        assert_eq!(plain_lines("a\n\tb\r"), "a\n\tb\\u{d}");
        assert_eq!(plain("plain, äöü, 東京, \u{1f600}"), "plain, äöü, 東京, \u{1f600}");
        let value = serde_json::Value::from(text);
        let json = plain_json(&value.to_string()).into_owned();
        assert!(json.is_ascii() && !json.contains('\u{7f}'), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).ok(), Some(value));
    }
}
