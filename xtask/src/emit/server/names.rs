//! Names in Rust for names of the document.

use proc_macro2::{Ident, Span};

pub(super) use crate::names::{pascal, snake};

/// The name as an identifier; a keyword gets an underscore.
pub(super) fn ident(name: &str) -> Ident {
    let name = if name.starts_with(|first: char| first.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name.to_owned()
    };
    match syn::parse_str::<Ident>(&name) {
        Ok(ident) => ident,
        Err(_) => Ident::new(&format!("{name}_"), Span::call_site()),
    }
}

pub(super) fn type_ident(name: &str) -> Ident {
    ident(&pascal(name))
}

pub(super) fn field_ident(name: &str) -> Ident {
    ident(&snake(name))
}

pub(super) fn constant_ident(name: &str) -> Ident {
    ident(&snake(name).to_ascii_uppercase())
}

/// The variant of an enum for one of its values; a value that begins with a digit gets a word in front.
pub(super) fn variant_ident(value: &str) -> Ident {
    let name = pascal(value);
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        ident(&format!("Value{name}"))
    } else {
        ident(&name)
    }
}
