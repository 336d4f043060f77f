//! Sends one value beyond each limit of a request, which must be rejected. Values within the limits may be rejected for reasons
//! that only the service knows, such as an id that does not exist, so they are not judged.

use serde_json::{Value, json};

use super::{request::request_with, skip_changes, token_for, valid_request};
use crate::check::{Case, Cost, Probe, Scope, Stop};
use crate::contract::{
    Boundary, Citations, Clause, Kind, OperationId, OtherId, OtherOperation, Parameter, Place, Property,
    Schema, boundaries,
};
use crate::quantity::quantity;
use crate::wire::Request;

#[derive(Debug, Clone)]
struct Change {
    operation: OtherId,
    target: Target,
    /// The values that replace the valid one; `None` to leave it out.
    values: Option<Vec<Value>>,
    clause: Clause,
    why: String,
}

#[derive(Debug, Clone)]
enum Target {
    Parameter(String, Place),
    Property(String),
}

/// Lists with more items are not sent, since generic checks do not know how large an item is.
const MAX_ITEMS: usize = 2_000;

pub(super) fn cases(_: &Scope<'_>, other: &OtherOperation) -> Vec<Case> {
    let OperationId::Other(operation) = other.operation.id else { return Vec::new() };
    let mut cases = Vec::new();
    let mut add = |citations: &Citations, target: &Target, invalid: Vec<Invalid>| {
        for Invalid { label, keyword, values, why } in invalid {
            let Some(clause) = citations.clause(keyword) else { continue };
            let change = Change { operation, target: target.clone(), values, clause, why };
            let case = Case::for_data(label, Cost::requests(1), change, rejects);
            cases.push(case.sharing(other.operation.id.prefix(), Cost::requests(1)));
        }
    };
    for parameter in other.own_parameters() {
        let target = Target::Parameter(parameter.name.clone(), parameter.place);
        add(&parameter.citations, &target, of_parameter(parameter));
    }
    for property in &other.properties {
        let target = Target::Property(property.name.clone());
        add(&property.citations, &target, of_property(property, other.body.as_ref()));
    }
    cases
}

async fn rejects(probe: &Probe<'_>, change: Change) -> Result<(), Stop> {
    let other = probe.contract().other(change.operation);
    skip_changes(probe, other)?;
    let good = valid_request(other, token_for(probe, other));
    let invalid = changed(other, &good, probe, &change);
    probe.rejects_after_control(change.clause, &change.why, &good, &invalid).await
}

fn changed(other: &OtherOperation, good: &Request, probe: &Probe<'_>, change: &Change) -> Request {
    let values = || change.values.iter().flatten().map(text);
    match &change.target {
        Target::Property(name) => match change.values.as_deref() {
            None => good.clone().without_field(name),
            Some([value]) => good.clone().field(name, value.clone()),
            Some(items) => good.clone().field(name, items.to_vec()),
        },
        Target::Parameter(name, Place::Query) => {
            values().fold(good.clone().without_query(name), |request, value| request.add_query(name, value))
        }
        Target::Parameter(name, Place::Header) => {
            values().fold(good.clone().without_header(name), |request, value| request.header(name, value))
        }
        Target::Parameter(name, Place::Path) => {
            let value = values().next().unwrap_or_default();
            request_with(other, token_for(probe, other), Some((name, &value)))
        }
    }
}

/// The label of a case, with the size of a long text in place of the text.
fn label(name: &str, value: &Value) -> String {
    const MAX_LENGTH: usize = 40;
    let text = text(value);
    match text.chars().count() {
        0..=MAX_LENGTH => format!("{name}={text}"),
        length => format!("{name}/{length}-characters-{}-bytes", text.len()),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

struct Invalid {
    label: String,
    keyword: &'static str,
    values: Option<Vec<Value>>,
    why: String,
}

fn of_parameter(parameter: &Parameter) -> Vec<Invalid> {
    let Parameter { name, place, required, schema, .. } = parameter;
    let mut invalid = absent_or_beyond(name, *required && *place != Place::Path, schema);
    if let Some(item) = parameter.example().into_iter().next().map(Value::from) {
        let counts = counts(schema).filter(|(count, _)| *count > 0);
        invalid
            .extend(counts.map(|(count, keyword)| of_count(name, count, keyword, vec![item.clone(); count])));
    }
    invalid
}

fn of_property(property: &Property, body: Option<&Value>) -> Vec<Invalid> {
    let Property { name, required, schema, .. } = property;
    let mut invalid = absent_or_beyond(name, *required, schema);
    let example = body.and_then(|body| body.get(name)).or(schema.example.as_ref());
    if let Some(item) = example.and_then(Value::as_array).and_then(|items| items.first()) {
        let items = |count| vec![Value::Array(vec![item.clone(); count])];
        invalid.extend(counts(schema).map(|(count, keyword)| of_count(name, count, keyword, items(count))));
    }
    if matches!(schema.kind, Kind::Object | Kind::Array | Kind::Boolean) {
        let (label, why) = (format!("{name}=7"), format!("{name} is a number"));
        invalid.push(Invalid { label, keyword: "type", values: Some(vec![json!(7)]), why });
    }
    invalid
}

fn absent_or_beyond(name: &str, is_required: bool, schema: &Schema) -> Vec<Invalid> {
    let absent = is_required.then(|| Invalid {
        label: format!("{name}/absent"),
        keyword: "required",
        values: None,
        why: format!("{name} is absent"),
    });
    let beyond = boundaries(schema).into_iter().filter(|boundary| !boundary.allowed);
    let beyond = beyond.map(|Boundary { value, keyword, reason, .. }| Invalid {
        label: label(name, &value),
        keyword,
        values: Some(vec![value]),
        why: format!("{name}, {reason}"),
    });
    absent.into_iter().chain(beyond).collect()
}

fn of_count(name: &str, count: usize, keyword: &'static str, values: Vec<Value>) -> Invalid {
    let (label, why) = (format!("{name}/{count}-items"), format!("{name} with {}", quantity(count, "item")));
    Invalid { label, keyword, values: Some(values), why }
}

/// Numbers of items beyond the limits of a list.
fn counts(schema: &Schema) -> impl Iterator<Item = (usize, &'static str)> {
    let below = schema.min_items.and_then(|min| min.checked_sub(1)).map(|count| (count, "minItems"));
    let above = schema.max_items.map(|max| max + 1).filter(|count| *count <= MAX_ITEMS);
    below.into_iter().chain(above.map(|count| (count, "maxItems")))
}
