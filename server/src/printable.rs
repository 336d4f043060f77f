//! Text for people: that of others made safe, and numbers with their nouns.

use std::fmt::Display;

pub use sallyport_contract::printable::{printable, write_json};

/// A number with its noun, in the plural unless the number is one: "1 account", "2 entries".
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == N::from(1) => format!("1 {noun}"),
        // Entries, but gateways.
        Some(stem) if !stem.ends_with('a') => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}
