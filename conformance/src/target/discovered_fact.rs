use schemars::JsonSchema;
use serde::Serialize;

use super::contradiction::values;
use super::{Fact, Facts, quoted};

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
    /// Every fact among these that a run can discover.
    pub(crate) fn all(facts: &Facts) -> Vec<Self> {
        let discovered = |fact: Fact| {
            let values = values(facts, fact).iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
            let is_region = matches!(fact, Fact::ScarceRegion | Fact::EmptyRegion);
            facts.has(fact).then(|| Self {
                variable: fact.variable(),
                description: fact.description(),
                value: if is_region { values } else { format!("[{values}]") },
            })
        };
        let facts = [Fact::OwnAddresses, Fact::ScarceRegion, Fact::EmptyRegion, Fact::EntitledProtocols];
        facts.into_iter().filter_map(discovered).collect()
    }
}
