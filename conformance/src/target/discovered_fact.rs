use schemars::JsonSchema;
use serde::Serialize;

use super::{Fact, Facts};

/// A fact that the tester did not supply and a run found out by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiscoveredFact {
    /// The environment variable that supplies it.
    pub variable: &'static str,
    /// What it is, in words.
    pub description: &'static str,
    /// Its value, as the configuration writes it.
    pub value: String,
}

impl DiscoveredFact {
    /// Every fact among these. Secrets are never discovered, so none is shown.
    pub(crate) fn all(facts: &Facts) -> Vec<Self> {
        let discovered = |fact: Fact| {
            let value = facts.toml(fact)?;
            Some(Self { variable: fact.variable(), description: fact.description(), value })
        };
        Fact::ALL.into_iter().filter_map(discovered).collect()
    }
}
