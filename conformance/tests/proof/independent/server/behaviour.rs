//! What a server does differently: one fault at most, and its decisions on unspecified behaviour.

use minijinja::Value;

use super::edit::Edit;
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

/// The fault that a server has: a rule, and perhaps the one circumstance in which it breaks it (`rule@circumstance`).
#[derive(Debug, Default)]
pub(crate) struct ActiveFault {
    id: String,
    circumstance: Option<String>,
    /// What it does, where its row says it.
    edits: Vec<Edit>,
    rules: Vec<Rule>,
}

impl ActiveFault {
    /// The fault with that id, and what its row says that it does.
    pub(crate) fn new(id: &str, row: Option<&'static str>) -> Self {
        let (id, circumstance) = match id.split_once('@') {
            Some((id, circumstance)) => (id, Some(circumstance)),
            None => (id, None),
        };
        let mut fault = Self { id: id.into(), circumstance: circumstance.map(Into::into), ..Self::default() };
        for part in row.into_iter().flat_map(|row| row.split("; ")) {
            match Rule::parse(part) {
                Some(rule) => fault.rules.push(rule),
                None => fault.edits.push(Edit::parse(part)),
            }
        }
        fault
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
        self.rules.iter().find(|rule| rule.place == place && self.is_here(tags))?.value(known())
    }

    /// What it does to an object of a response in these circumstances.
    pub(crate) fn edits(&self, object: &str, tags: &Tags) -> impl Iterator<Item = &Edit> {
        let is_here = self.is_here(tags);
        self.edits.iter().filter(move |edit| is_here && edit.object == object)
    }

    fn is_here(&self, tags: &Tags) -> bool {
        self.circumstance.as_deref().is_none_or(|wanted| tags.contains(&wanted))
    }
}

/// The decisions on what the contract leaves open in which a server differs from the plain one, by name.
pub(crate) type Decisions = Vec<&'static str>;
