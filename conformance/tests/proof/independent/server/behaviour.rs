//! What a server does differently: one fault at most, and its decisions on unspecified behaviour.

use minijinja::Value;

use super::rule::Rule;
use super::world::Instance;

/// Names of the circumstances that hold for a request, an instance or a response. A fault may be bound to one of them.
pub(crate) type Tags = Vec<&'static str>;

/// The circumstances with those of `more` that hold.
pub(crate) fn with_tags(tags: &Tags, more: impl IntoIterator<Item = (bool, &'static str)>) -> Tags {
    let more = more.into_iter().filter_map(|(holds, tag)| holds.then_some(tag));
    tags.iter().copied().chain(more).collect()
}

/// The circumstances of a request as they are for one of its instances, which may be of the other IP version.
pub(crate) fn tags_of_instance(tags: &Tags, instance: &Instance) -> Tags {
    let of_request = tags.iter().copied().filter(|tag| *tag != "ipv6").collect();
    with_tags(&of_request, [(instance.ip.is_ipv6(), "ipv6")])
}

/// What is different: the fault that a server has, perhaps in one circumstance alone (`rule@circumstance`), and its decisions.
#[derive(Debug, Default)]
pub(crate) struct ActiveFault {
    id: String,
    circumstance: Option<String>,
    /// What it does, where its row says it.
    rules: Vec<Rule>,
    /// What the server decides so, whatever the circumstances are.
    decided: Vec<Rule>,
}

impl ActiveFault {
    /// The fault with that id, what its row says that it does, and the rows of the server's decisions.
    pub(crate) fn new(id: &str, row: Option<&'static str>, decided: Vec<&'static str>) -> Self {
        let (id, circumstance) =
            id.split_once('@').map_or((id, None), |(id, tag)| (id, Some(tag.to_owned())));
        let id = id.to_owned();
        let rules = row.into_iter().flat_map(Rule::parse_all).collect();
        Self { id, circumstance, rules, decided: decided.into_iter().flat_map(Rule::parse_all).collect() }
    }

    /// Whether it is that one, in these circumstances.
    pub(crate) fn is(&self, id: &str, tags: &Tags) -> bool {
        self.id == id && self.is_here(tags)
    }

    /// Whether it has something at a place, whatever the circumstances are.
    pub(crate) fn is_at(&self, place: &str) -> bool {
        self.rules.iter().any(|rule| rule.place == place)
    }

    /// What it has at a place in these circumstances. `known` has the values that its row may name.
    pub(crate) fn at(&self, place: &str, tags: &Tags, known: impl FnOnce() -> Value) -> Option<Value> {
        self.here(tags).find(|rule| rule.place == place)?.value(known())
    }

    /// What it makes of members of an object of a response in these circumstances.
    pub(crate) fn members(&self, object: &str, tags: &Tags) -> impl Iterator<Item = &Rule> {
        self.here(tags).filter(move |rule| rule.member_of(object).is_some())
    }

    fn here(&self, tags: &Tags) -> impl Iterator<Item = &Rule> {
        let is_here = self.is_here(tags);
        self.rules.iter().filter(move |_| is_here).chain(&self.decided)
    }

    fn is_here(&self, tags: &Tags) -> bool {
        self.circumstance.as_deref().is_none_or(|wanted| tags.contains(&wanted))
    }
}

/// The decisions on what the contract leaves open in which a server differs from the plain one, by name.
pub(crate) type Decisions = Vec<&'static str>;
