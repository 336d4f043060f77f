use std::sync::Arc;

use super::upstream::Upstream;
use crate::contract::Contract;
use crate::target::{Facts, Secret, Target};
use crate::wire::{WireError, WireOptions};

/// The service behind the lab, and what is known of it.
#[derive(Debug, Clone)]
pub struct Backend {
    /// The contract.
    pub contract: &'static Contract,
    /// The service.
    pub upstream: Upstream,
    /// Token of the main account.
    pub token: Secret,
    /// What is known of its data. Faults that need a fact that is missing change nothing.
    pub facts: Facts,
}

impl Backend {
    /// The service of a target.
    pub fn new(contract: &'static Contract, target: &Target) -> Result<Arc<Self>, WireError> {
        Self::connected(contract, target, &WireOptions::default())
    }

    /// The service of a target, with the options of the connection to it.
    pub fn connected(
        contract: &'static Contract,
        target: &Target,
        options: &WireOptions,
    ) -> Result<Arc<Self>, WireError> {
        let upstream = Upstream::http(target.base(), options)?;
        Ok(Arc::new(Self { contract, upstream, token: target.token.clone(), facts: target.facts.clone() }))
    }
}
