//! Rust names for what the document names.

use proc_macro2::{Ident, Span};

/// `groupId`, `X-Proxy-Partial` and `sb` as `group_id`, `x_proxy_partial` and `sb`: the names that progenitor gives.
pub(super) fn snake(name: &str) -> Ident {
    Ident::new(&snake_text(name), Span::call_site())
}

/// `page_size` and the like in capitals, for constants.
pub(super) fn constant(name: &str) -> Ident {
    Ident::new(&snake_text(name).to_uppercase(), Span::call_site())
}

/// `extractProxies` as `ExtractProxies`, and `in-use` as `InUse`.
pub(super) fn pascal(name: &str) -> Ident {
    let text: String = snake_text(name).split('_').map(capitalised).collect();
    let text = if text.starts_with(|first: char| first.is_ascii_digit()) { format!("X{text}") } else { text };
    Ident::new(if text.is_empty() { "X" } else { &text }, Span::call_site())
}

/// A name for a separator: control characters by their names, other text by its letters and digits.
pub(super) fn separator(text: &str) -> Ident {
    let mut words = String::new();
    for character in text.chars() {
        match character {
            '\r' => words.push_str("_cr"),
            '\n' => words.push_str("_lf"),
            '\t' => words.push_str("_tab"),
            ' ' => words.push_str("_space"),
            letter if letter.is_ascii_alphanumeric() => words.push(letter),
            _ => words.push('_'),
        }
    }
    pascal(&words)
}

/// A description as one line of documentation.
pub(super) fn sentence(description: &str) -> String {
    let words: Vec<&str> = description.split_whitespace().collect();
    format!(" {}", words.join(" "))
}

fn snake_text(name: &str) -> String {
    let mut text = String::new();
    let mut previous = '_';
    for character in name.chars() {
        let apart = previous.is_ascii_lowercase() || previous.is_ascii_digit();
        if !character.is_ascii_alphanumeric() {
            if previous != '_' {
                text.push('_');
            }
            previous = '_';
            continue;
        }
        if character.is_ascii_uppercase() && apart {
            text.push('_');
        }
        text.push(character.to_ascii_lowercase());
        previous = character;
    }
    text.trim_end_matches('_').to_owned()
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_rust() {
        for (name, expected) in
            [("groupId", "group_id"), ("X-Proxy-Partial", "x_proxy_partial"), ("sb", "sb")]
        {
            assert_eq!(snake(name), expected);
        }
        for (name, expected) in
            [("extractProxies", "ExtractProxies"), ("in-use", "InUse"), ("6", "X6"), ("", "X")]
        {
            assert_eq!(pascal(name), expected);
        }
        for (text, expected) in [("\r\n", "CrLf"), ("/br", "Br"), ("\t", "Tab"), ("|", "X")] {
            assert_eq!(separator(text), expected);
        }
    }
}
