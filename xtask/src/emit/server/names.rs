//! Names in Rust for names of the document. The lint has rejected those that are none.

use proc_macro2::{Ident, Span};

use crate::names;

pub(super) fn snake(name: &str) -> Ident {
    Ident::new(&names::snake(name), Span::call_site())
}

pub(super) fn capitals(name: &str) -> Ident {
    Ident::new(&names::snake(name).to_ascii_uppercase(), Span::call_site())
}

/// A name that begins with a digit gets a word in front.
pub(super) fn pascal(name: &str) -> Ident {
    let name = names::pascal(name);
    let word = if name.starts_with(|first: char| first.is_ascii_digit()) { "Value" } else { "" };
    Ident::new(&format!("{word}{name}"), Span::call_site())
}
