//! Rust names for what the document names.

use proc_macro2::{Ident, Span};

use crate::names;

/// `groupId`, `X-Proxy-Partial` and `sb` as `group_id`, `x_proxy_partial` and `sb`: the names that progenitor gives.
pub(super) fn snake(name: &str) -> Ident {
    Ident::new(&names::snake(name), Span::call_site())
}

/// `page_size` and the like in capitals, for constants.
pub(super) fn constant(name: &str) -> Ident {
    Ident::new(&names::snake(name).to_uppercase(), Span::call_site())
}

/// `extractProxies` as `ExtractProxies`, and `in-use` as `InUse`.
pub(super) fn pascal(name: &str) -> Ident {
    let text = names::pascal(name);
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
