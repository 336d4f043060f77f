//! Names in Rust for names of the document. The lint has rejected those that are none.

use proc_macro2::{Ident, Span};

pub(super) use crate::emit::name::{constant as capitals, snake};
use crate::names;

/// A name that begins with a digit gets a word in front.
pub(super) fn pascal(name: &str) -> Ident {
    let name = names::pascal(name);
    let word = if name.starts_with(|first: char| first.is_ascii_digit()) { "Value" } else { "" };
    Ident::new(&format!("{word}{name}"), Span::call_site())
}
