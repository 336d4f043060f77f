use std::borrow::Cow;

/// Escapes text of a service so that it is safe on a terminal and fits on one line: control characters and those that
/// reorder text become Rust escapes such as `\u{1b}` or `\n`. Everything else stays as it is, in every language; escaping
/// twice is the same as escaping once.
///
/// `Display` of [`Error`](crate::Error) does this. Use it for fields that you print yourself.
///
/// ```
/// assert_eq!(sallyport_client::printable("Zürich 北京"), "Zürich 北京");
/// assert_eq!(sallyport_client::printable("\u{1b}[2Jgone\n"), r"\u{1b}[2Jgone\n");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_control(letter) { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    Cow::Owned(shown)
}

/// Control characters (C0, DEL, C1), line and paragraph separators, the controls of the bidirectional algorithm, and the byte
/// order mark, which nothing shows.
fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_control_characters_are_escaped() {
        for (text, shown) in [
            ("\u{1b}]0;title\u{7}", r"\u{1b}]0;title\u{7}"),
            ("\u{9b}31m\u{85}\u{7f}\0", r"\u{9b}31m\u{85}\u{7f}\u{0}"),
            ("\u{feff}192.0.2.1", r"\u{feff}192.0.2.1"),
            ("a\r\n\tb\u{2028}\u{2029}", r"a\r\n\tb\u{2028}\u{2029}"),
            (
                "\u{202e}gpj.exe\u{2066}\u{2069}\u{200f}\u{61c}",
                r"\u{202e}gpj.exe\u{2066}\u{2069}\u{200f}\u{61c}",
            ),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(printable(shown), shown);
        }
        // A combining accent, a joined emoji, a no-break space, Persian with a zero-width non-joiner.
        for text in ["", "a b\"'\\", "Zu\u{308}rich", "👩\u{200d}🔧", "1\u{a0}000", "نمی\u{200c}دانم", "北京"]
        {
            assert!(matches!(printable(text), Cow::Borrowed(shown) if shown == text), "{text}");
        }
    }
}
