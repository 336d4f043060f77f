//! The parsers of the edge against anything at all: they never panic, and they agree with other crates, or with slow parsers that
//! were written from the specifications alone. `PROPTEST_CASES=100000` looks longer.

mod forwarded;
mod json;
mod operations;
mod query;

use proptest::prelude::*;

/// Texts that are made of these parts, which `¦` separates, some of them damaged: a byte more, less or different. Texts at random
/// are nearly all rejected at their first letter and would try little.
fn patched(parts: &'static str) -> impl Strategy<Value = String> {
    let parts: Vec<&str> = parts.split('¦').collect();
    let whole = prop::collection::vec(prop::sample::select(parts), 0..12).prop_map(|parts| parts.concat());
    (whole, any::<prop::sample::Index>(), prop::option::weighted(0.3, any::<char>()), 0_usize..3).prop_map(
        |(whole, place, other, removed)| {
            let mut letters: Vec<char> = whole.chars().collect();
            if let Some(other) = other {
                let place = place.index(letters.len() + 1);
                let end = letters.len().min(place + removed);
                letters.splice(place..end, [other]);
            }
            letters.into_iter().collect()
        },
    )
}

/// Such texts, and any others.
fn texts(parts: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![4 => patched(parts), 1 => any::<String>()]
}
