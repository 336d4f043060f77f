//! The conforming variations, by what they decide.

mod accounts;
mod entries;
mod extract;
mod http;
mod rejections;
mod search;

use crate::lab::{Call, Variation};

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

/// Keeps the parameters of the query that fit, by name and value.
fn keep_params(call: &mut Call<'_>, mut fits: impl FnMut(&str, &str) -> bool) {
    let mut params = call.params();
    params.retain(|(name, value)| fits(name, value));
    call.set_params(&params);
}
