//! The conforming variations, by what they decide.

mod accounts;
mod entries;
mod extract;
mod http;
mod rejections;
mod search;

use crate::lab::Variation;

pub(crate) fn all() -> Vec<Variation> {
    let tables = [
        accounts::variations,
        entries::variations,
        extract::variations,
        http::variations,
        rejections::variations,
        search::variations,
    ];
    tables.into_iter().flat_map(|variations| variations()).collect()
}
