use std::sync::Arc;

use super::upstream::Upstream;
use crate::contract::Contract;
use crate::target::{Facts, Secret, Target};

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
    ///
    /// # Errors
    /// TLS cannot be initialised.
    pub fn new(contract: &'static Contract, target: &Target) -> Result<Arc<Self>, reqwest::Error> {
        let upstream = Upstream::http(target.base().as_str())?;
        Ok(Arc::new(Self { contract, upstream, token: target.token.clone(), facts: target.facts.clone() }))
    }
}
