//! What the rules of a search have in common: the members beside which they are tested, and values that the document declares.

use std::sync::LazyLock;

use super::*;
use crate::checks::row::{accept, edits, reject};
use crate::contract::{Boundary, boundaries};
use crate::grammar::LIKELY;

/// Members of a search beside which other rules are tested: their label, and how rows write them.
pub(super) type Company = (&'static str, &'static str);

/// The filters of the document, with a value that it lists, the number for null, an order of the account, or its example. Those with fewer possible values come first. The bounds are not among them, because some of these rules are about the bounds.
pub(super) static FILTERS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut kinds: Vec<_> = kinds().filter(|kind| !kind.is_bound()).collect();
    kinds.sort_by_key(|kind| (kind.is_free_text(), kind.null.is_some(), kind.field.is_none()));
    let filters = kinds.into_iter().flat_map(|kind| {
        let (name, schema) = (kind.property.name.as_str(), &kind.property.schema);
        let values = match (kind.null, &schema.example) {
            (Some(null), _) => vec![null.to_string(), (null + 1).to_string()],
            _ if kind.field.is_none() => vec!["an order".to_owned()],
            _ if !schema.values.is_empty() => vec!["listed".to_owned()],
            (None, example) => vec![example.clone().unwrap_or_default().to_string()],
        };
        let labels = [kind.phrase(), format!("the id of {}", kind.phrase())];
        labels.into_iter().zip(values).map(move |(label, value)| (label, format!("{name}={value}")))
    });
    filters.collect()
});

pub(super) fn filters() -> impl Iterator<Item = Company> {
    FILTERS.iter().map(|(label, parts)| (label.as_str(), parts.as_str()))
}

/// A service may reject it if it is past the last one.
pub(super) const SECOND_PAGE: Company = ("the second page", "page=min+1");

pub(super) const LARGEST_PAGE: Company = ("the largest page size", "pageSize=max");

/// Bounds that include every activation.
pub(super) const A_RANGE: Company =
    ("a range of times", "activatedFrom=1970-01-01T00:00:00Z & activatedTo=2099-12-31T00:00:00Z");

pub(super) const A_PORT: Company = ("an item with a port", "items: \"203.0.113.250:8080\"");

/// Members beside which the values of another member are tested in turn.
pub(super) fn other_members() -> Vec<Company> {
    let mut members: Vec<_> = filters().filter(|(label, _)| !label.starts_with("the id of")).collect();
    for (at, other) in [(2, LARGEST_PAGE), (4, SECOND_PAGE), (5, A_RANGE), (7, A_PORT)] {
        members.insert(at.min(members.len()), other);
    }
    members
}

/// A search that must be rejected. Its label is also its description.
pub(super) fn invalid(label: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Row {
    let label = label.into();
    reject(label.clone(), label, edits).of(Base::SEARCH)
}

pub(super) fn valid(label: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Row {
    let label = label.into();
    accept(label.clone(), label, edits).of(Base::SEARCH)
}

pub(super) fn valid_if(is_allowed: bool, label: impl Into<String>, edits: impl Into<Vec<Edit>>) -> Row {
    if is_allowed { valid(label, edits) } else { invalid(label, edits) }
}

pub(super) fn each_invalid(
    label: impl Into<String>,
    values: impl IntoIterator<Item = (String, Edit)>,
) -> Row {
    invalid(label, []).sending(values.into_iter().map(|(why, edit)| (why, vec![edit])))
}

impl Row {
    /// The row beside other members, which a service may reject for a reason of its own.
    pub(super) fn beside(self, (label, parts): Company) -> Self {
        self.changing(format!("beside {label}"), edits(OperationId::Search, parts)).doubtful()
    }

    /// The row as a change of a search that finds nothing, in case a service validates what it finds.
    pub(super) fn finding_nothing(self, name: &str) -> Self {
        self.changing(name, [field(IPS, [UNKNOWN_ADDRESS].as_slice())])
    }
}

/// Invalid values of a member of the body, written as JSON. The values of one reason share a case, in which each is sent alone, and
/// another case, in which each is sent beside another member, which changes with the reason. Likely mistakes have a case for each
/// other member.
pub(super) fn invalid_members(
    search: &Search,
    name: &'static str,
    reasons: impl IntoIterator<Item = Reason>,
) -> Vec<Case> {
    let is_other =
        |(_, parts): &Company| !parts.split(" & ").any(|part| part.starts_with(&format!("{name}=")));
    let members: Vec<_> = other_members().into_iter().filter(is_other).collect();
    let property = search.operation.body.iter().find(|property| property.name == name);
    // Without one the document can't be read.
    let Some(clause) = property.and_then(|property| property.citations.clause("type")) else {
        return Vec::new();
    };
    let rows = |(at, Reason { text, spellings, .. }): (usize, Reason)| {
        let values =
            spellings.into_iter().map(|value| (format!("{name} is {value}, {text}"), Edit::Raw(name, value)));
        let row = each_invalid(text, values);
        let beside: Vec<_> = match LIKELY.contains(&text) {
            true => members.iter().map(|member| (member.0, *member)).collect(),
            false => members.iter().cycle().skip(at).take(1).map(|member| ("others", *member)).collect(),
        };
        let beside = beside
            .into_iter()
            .map(|(label, member)| row.clone().labelled(format!("{text}, beside {label}")).beside(member));
        let beside: Vec<_> = beside.collect();
        row.with_first_alone().into_iter().chain(beside).collect::<Vec<_>>()
    };
    cases(clause, reasons.into_iter().enumerate().flat_map(rows))
}

/// A case for each of the chosen boundary values of a body property, but for a limit that the contract leaves open. `xtask lint`
/// rejects a document with a limit that cites nothing.
pub(super) fn boundary_cases(
    scope: &Scope<'_>,
    name: &'static str,
    chosen: impl Fn(&Boundary) -> bool,
) -> Vec<Case> {
    let property = scope.contract.search.operation.body.iter().find(|property| property.name == name);
    let boundaries = property.into_iter().flat_map(|property| boundaries(&property.schema));
    let case = |value: Boundary| {
        // The label of a limit does not depend on its value.
        let is_limit = matches!(value.keyword, "minimum" | "maximum");
        let shown = if is_limit { value.reason.to_owned() } else { value.text() };
        let clause = property?.citations.clause(value.keyword)?;
        let why = format!("{name}={}, {}", value.text(), value.reason);
        let row = valid_if(value.allowed, why, [field(name, value.value)]);
        Some(cases(clause, [row.labelled(format!("{name}={shown}"))]))
    };
    boundaries.filter(chosen).filter_map(case).flatten().collect()
}
