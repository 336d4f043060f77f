//! The body of a search, the JSON types of its members, and the token.

use super::*;
use crate::checks::token::other_spellings;
use crate::contract::Kind;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.fields.types", type_cases),
    active("search.token.single", |_| vec![other_spellings(SearchToken, OperationId::Search)]),
];

/// Values of types that no text filter has.
type Values = fn() -> Vec<Json>;

const OTHER_TYPES: [(&str, Values); 4] = [
    ("a number", || vec![json!(1), json!(0), json!(1.5), json!(1_767_225_600)]),
    ("a boolean", || vec![json!(true), json!(false)]),
    ("an array", || vec![json!([1]), json!([]), json!(["active"]), json!(["2020-01-01T00:00:00Z"])]),
    ("an object", || vec![json!({"a": 1}), json!({})]),
];

fn type_cases(_: &Scope<'_>) -> Vec<Case> {
    let count = |values: Values| u32::try_from(values().len()).unwrap_or(u32::MAX);
    // The lists include lists of matching values.
    let of_survey = |values: Values| count(values) + if values()[0].is_array() { 3 } else { 0 };
    let texts = kinds().filter(|kind| kind.property.schema.kind == Kind::String);
    let (any_text, closed): (Vec<_>, Vec<_>) = texts.partition(|kind| kind.is_free_text());
    let each = |kinds: Vec<FilterKind>| {
        kinds.into_iter().flat_map(|kind| OTHER_TYPES.map(|(what, values)| (kind, what, values)))
    };
    let label = |kind: FilterKind, what: &str| format!("{}: {what}", kind.property.name);
    let closed = each(closed).flat_map(|(kind, what, values)| {
        let name = &*kind.property.name;
        let values = values().into_iter().map(|value| (format!("{name} is {value}"), field(name, value)));
        cases(kind.clause, [each_invalid(label(kind, what), values)])
    });
    let any_text =
        each(any_text).map(|(kind, what, values)| (label(kind, what), of_survey(values), (kind, values)));
    let any_text = surveyed(any_text, not_ignored_types);
    closed.chain(any_text.into_iter().map(|case| case.needs([Fact::OwnAddresses]))).collect()
}

/// A server may read a number as text, which then matches no instance.
async fn not_ignored_types(probe: &Probe<'_>, (kind, values): (FilterKind, Values)) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    // A list of a matching value is not a value.
    let shown = shown_kinds().filter(|kind| kind.is_free_text());
    let shown = shown.filter_map(|kind| survey.values(|instance| kind.shown(instance)).into_iter().next());
    let known: Vec<_> = shown.filter_map(|filter| filter.as_text().map(str::to_owned)).collect();
    let orders = probe.facts().orders.first().map(|order| order.number.clone());
    let known = known.into_iter().chain(orders).filter(|_| values()[0].is_array());
    for value in values().into_iter().chain(known.map(|value| json!([value]))) {
        let what = format!("{} is {value}", kind.property.name);
        let request = survey.request.clone().field(&kind.property.name, value);
        let Some(found) = read_unless_rejected(probe, kind.clause, &what, &request).await? else { continue };
        if !found.instances.is_empty() {
            let expected = format!("rejected, or no instance: {what}");
            let actual = quantity(found.instances.len(), "instance");
            probe.finding(kind.clause, &expected, &actual, &found.evidence());
        }
    }
    Ok(())
}
