//! What a server does differently: one fault at most, and its decisions on unspecified behaviour.

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
}

impl ActiveFault {
    /// The fault with that id.
    pub(crate) fn new(id: &str) -> Self {
        let (rule, circumstance) = match id.split_once('@') {
            Some((rule, circumstance)) => (rule, Some(circumstance)),
            None => (id, None),
        };
        Self { rule: rule.into(), circumstance: circumstance.map(Into::into) }
    }

    /// Whether it breaks `rule` in these circumstances.
    pub(crate) fn breaks(&self, rule: &str, tags: &Tags) -> bool {
        self.rule == rule && self.circumstance.as_deref().is_none_or(|wanted| tags.contains(&wanted))
    }

    /// Whether the fault's rule begins so.
    pub(crate) fn is_of(&self, family: &str) -> bool {
        self.rule.starts_with(family)
    }

    /// As [`Self::breaks`], for a rule whose name is made of two parts.
    pub(crate) fn breaks_part(&self, first: &str, second: &str, tags: &Tags) -> bool {
        let fits = self.rule.strip_prefix(first).and_then(|rest| rest.strip_prefix('-')) == Some(second);
        fits && self.breaks(&format!("{first}-{second}"), tags)
    }
}

/// The decisions on what the contract leaves open in which a server differs from the plain one, by name.
pub(crate) type Decisions = Vec<&'static str>;
