//! Sends one value beyond each limit of a request. What is within them may be rejected for reasons that only the service knows,
//! such as an id that does not exist, so only rejections are judged.

use serde_json::{Value, json};

use super::{refuses_to_change, request::request_with, token_for, valid_request};
use crate::check::{Case, Cost, Probe, Scope, Stop};
use crate::contract::{
    Boundary, Clause, Kind, OperationId, OtherId, OtherOperation, Parameter, Place, Property, Schema,
    boundaries,
};
use crate::quantity::quantity;
use crate::wire::Request;

/// What a case does to a valid request.
#[derive(Debug, Clone)]
struct Change {
    operation: OtherId,
    target: Target,
    /// The values in place of the valid one; none to leave it out.
    values: Option<Vec<Value>>,
    clause: Clause,
    why: String,
}

#[derive(Debug, Clone)]
enum Target {
    Parameter(String, Place),
    Property(String),
}

/// More items than this are not sent: a generic check knows nothing of how large an item may be.
const MOST_ITEMS: usize = 2_000;

pub(super) fn cases(_: &Scope<'_>, other: &OtherOperation) -> Vec<Case> {
    let OperationId::Other(id) = other.operation.id else { return Vec::new() };
    let mut cases = Vec::new();
    for parameter in other.own_parameters() {
        of_parameter(id, parameter, &mut cases);
    }
    for property in &other.properties {
        of_property(id, property, other.body.as_ref(), &mut cases);
    }
    let shared = other.operation.id.prefix();
    let case = |(label, change): (String, Change)| {
        Case::with(label, Cost::requests(1), change, |probe, change| Box::pin(rejects(probe, change)))
            .sharing(shared, Cost::requests(1))
    };
    cases.into_iter().map(case).collect()
}

async fn rejects(probe: &Probe<'_>, change: Change) -> Result<(), Stop> {
    let other = probe.contract().other(change.operation);
    refuses_to_change(probe, other)?;
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

/// The label of a case: a long text is described by its size.
fn label(name: &str, value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = text(value);
    match text.chars().count() {
        0..=LONGEST => format!("{name}={text}"),
        length => format!("{name}/{length}-characters-{}-bytes", text.len()),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn of_parameter(id: OtherId, parameter: &Parameter, cases: &mut Vec<(String, Change)>) {
    let Parameter { name, place, required, schema, citations, .. } = parameter;
    let mut add = |label: String, keyword: &str, values, why: String| {
        let Some(clause) = citations.clause(keyword) else { return };
        let target = Target::Parameter(name.clone(), *place);
        cases.push((label, Change { operation: id, target, values, clause, why }));
    };
    if *required && *place != Place::Path {
        add(format!("{name}/absent"), "required", None, format!("{name} is absent"));
    }
    for Boundary { value, keyword, reason, .. } in beyond(schema) {
        add(label(name, &value), keyword, Some(vec![value]), format!("{name}, {reason}"));
    }
    let item = parameter.example().into_iter().next().map(Value::from);
    for (count, keyword) in counts(schema).filter(|(count, _)| *count > 0) {
        let Some(item) = &item else { continue };
        add(
            format!("{name}/{count}-items"),
            keyword,
            Some(vec![item.clone(); count]),
            format!("{name} with {}", quantity(count, "item")),
        );
    }
}

fn of_property(id: OtherId, property: &Property, body: Option<&Value>, cases: &mut Vec<(String, Change)>) {
    let Property { name, required, schema, citations } = property;
    let mut add = |label: String, keyword: &str, values, why: String| {
        let Some(clause) = citations.clause(keyword) else { return };
        let target = Target::Property(name.clone());
        cases.push((label, Change { operation: id, target, values, clause, why }));
    };
    if *required {
        add(format!("{name}/absent"), "required", None, format!("{name} is absent"));
    }
    for Boundary { value, keyword, reason, .. } in beyond(schema) {
        add(label(name, &value), keyword, Some(vec![value]), format!("{name}, {reason}"));
    }
    let shown = body.and_then(|body| body.get(name)).or(schema.example.as_ref());
    let item = shown.and_then(Value::as_array).and_then(|items| items.first());
    for (count, keyword) in counts(schema) {
        let Some(item) = item else { continue };
        let items = Value::Array(vec![item.clone(); count]);
        add(
            format!("{name}/{count}-items"),
            keyword,
            Some(vec![items]),
            format!("{name} with {}", quantity(count, "item")),
        );
    }
    if matches!(schema.kind, Kind::Object | Kind::Array | Kind::Boolean) {
        add(format!("{name}=7"), "type", Some(vec![json!(7)]), format!("{name} is a number"));
    }
}

/// The values that the schema does not allow.
fn beyond(schema: &Schema) -> impl Iterator<Item = Boundary> {
    boundaries(schema).into_iter().filter(|boundary| !boundary.allowed)
}

/// Numbers of items beyond the limits of a list.
fn counts(schema: &Schema) -> impl Iterator<Item = (usize, &'static str)> {
    let below = schema.min_items.and_then(|least| least.checked_sub(1)).map(|count| (count, "minItems"));
    let above = schema.max_items.map(|most| most + 1).filter(|count| *count <= MOST_ITEMS);
    below.into_iter().chain(above.map(|count| (count, "maxItems")))
}
