//! The conforming variations, by what they decide.

/// A table of variations: `"id": "What it decides.", flag => what it does;`. The flags are methods of [`Variation`]. Those about some operations leave the requests of others alone.
macro_rules! variations {
    ($($prefix:literal { $($id:literal: $decides:literal $(, $flag:ident)* => $act:expr;)+ })+) => {
        vec![$($(
            Variation::row(concat!($prefix, $id), $decides, $crate::lab::faults::row::Act::new($act))$(.$flag())*
        ),+),+]
    };
}

mod accounts;
mod extract;
mod http;
mod rejections;
mod search;

use crate::lab::faults::row::{Act, reply};
use crate::lab::{Call, Reply, Variation};

pub(crate) fn all() -> Vec<Variation> {
    let tables = [
        accounts::variations,
        extract::variations,
        http::variations,
        rejections::variations,
        search::variations,
    ];
    tables.into_iter().flat_map(|variations| variations()).collect()
}

/// Changes the rejections that are not the server's own failures.
fn rejection(change: impl Fn(&Call<'_>, &mut Reply) + Send + Sync + 'static) -> Act {
    reply(move |call, reply| {
        if reply.status.is_client_error() {
            change(call, reply);
        }
    })
}

/// Keeps the parameters of the query that fit, by name and value.
fn keep_params(call: &mut Call<'_>, mut fits: impl FnMut(&str, &str) -> bool) {
    let mut params = call.params();
    params.retain(|(name, value)| fits(name, value));
    call.set_params(&params);
}
