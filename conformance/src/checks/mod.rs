//! The checks, and what they share. `README.md` says how to add one.

mod all;
mod extract;
mod extraction;
pub(crate) mod groups;
mod near;
mod plain;
pub(crate) mod quota;
mod registry;
pub(crate) mod relation;
mod requests;
mod row;
mod rule;
mod schema;
mod search;
mod state;
mod template;
mod token;

pub use registry::{UNCOVERED, registry};
pub use requests::UNKNOWN_ADDRESS;

pub(crate) use requests::{first_requests, plain, with_input};
pub(crate) use row::changed;
pub(crate) use rule::apart;
pub(crate) use state::State;
pub(crate) use token::UNKNOWN as UNKNOWN_TOKEN;

use crate::check::{Case, Probe, ProbeContext};
use crate::target::{Fact, Facts};

/// Looks for facts that a run lacks and a service shows by itself, so that a run with a token alone judges more. Errors are the rejection in
/// words, when the account may not extract, and cases of the run are `extracting`.
pub(crate) async fn discover(
    context: &ProbeContext<'_>,
    lacks: impl Fn(Fact) -> bool,
    extracting: &[&Case],
) -> Result<Facts, String> {
    let mut found = Facts::default();
    if lacks(Fact::OwnAddresses) {
        let probe = Probe::new(&search::discovery::DISCOVERY, context);
        found.own_addresses = search::discovery::own_addresses(&probe).await;
    }
    let probe = Probe::new(&extract::discovery::DISCOVERY, context);
    Ok(found.over(extract::discovery::discover(&probe, lacks, extracting).await?))
}
