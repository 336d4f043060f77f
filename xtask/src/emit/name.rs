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

/// The noun that a property is about: `countryCode` as `country`.
pub(super) fn noun(property: &str) -> String {
    let noun = ["Code", "Id", "No"].iter().find_map(|end| property.strip_suffix(end));
    names::snake(noun.filter(|noun| !noun.is_empty()).unwrap_or(property))
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
