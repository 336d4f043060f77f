use schemars::JsonSchema;
use serde::Serialize;

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
        let list = |texts: &[String]| texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
        let region = |region: &Option<String>| quoted(region.as_deref().unwrap_or_default());
        let values = [
            (Fact::OwnAddresses, format!("[{}]", list(&facts.own_addresses))),
            (Fact::ScarceRegion, region(&facts.scarce_region)),
            (Fact::EmptyRegion, region(&facts.empty_region)),
            (Fact::EntitledProtocols, format!("[{}]", list(&facts.entitled_protocols))),
        ];
        let discovered = |(fact, value): (Fact, String)| {
            facts.has(fact).then(|| Self {
                variable: fact.variable(),
                description: fact.description(),
                value,
            })
        };
        values.into_iter().filter_map(discovered).collect()
    }
}
