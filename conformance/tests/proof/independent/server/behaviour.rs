//! What a server does differently: one fault at most, and its decisions on unspecified behaviour.

use super::edit::Edit;
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
    rule: String,
    circumstance: Option<String>,
    /// What it does, where its row says it.
    edits: Vec<Edit>,
}

impl ActiveFault {
    /// The fault with that id, and what its row says that it does.
    pub(crate) fn new(id: &str, edit: Option<&'static str>) -> Self {
        let (rule, circumstance) = match id.split_once('@') {
            Some((rule, circumstance)) => (rule, Some(circumstance)),
            None => (id, None),
        };
        let edits = edit.map(Edit::parse_all).unwrap_or_default();
        Self { rule: rule.into(), circumstance: circumstance.map(Into::into), edits }
    }

    /// Whether it breaks `rule` in these circumstances.
    pub(crate) fn breaks(&self, rule: &str, tags: &Tags) -> bool {
        self.rule == rule && self.is_here(tags)
    }

    /// As [`Self::breaks`], for a rule whose name is made of two parts.
    pub(crate) fn breaks_part(&self, first: &str, second: &str, tags: &Tags) -> bool {
        let fits = self.rule.strip_prefix(first).and_then(|rest| rest.strip_prefix('-')) == Some(second);
        fits && self.is_here(tags)
    }

    /// Whether the fault's rule begins so.
    pub(crate) fn is_of(&self, family: &str) -> bool {
        self.rule.starts_with(family)
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
