//! Checks that follow from the declaration of an operation, so that a new one is judged without a line of its own.

use std::slice::from_ref;
use std::sync::LazyLock;

use super::requests::with_input;
use super::row::{Base, Row, cases, with};
use super::rule::{blocks, stated};
use super::schema;
use super::token::other_spellings;
use crate::check::{Case, Check, Cost, Run};
use crate::contract::{Boundary, Clause, Contract, Input, Operation, OperationId, boundaries};

/// A rule of `plain.txt`: its name, whether it is of the plain operations alone, the clauses declared for it, and how it is run.
type Program = (&'static str, bool, fn(&'static Operation) -> &'static [Clause], Run);

const PROGRAMS: [Program; 6] = [
    ("envelope.schema", false, |of| &of.success.clauses, Run::Passive(schema::judge)),
    ("envelope.success", false, |of| from_ref(&of.success.clause), Run::Declared(success)),
    ("headers.request-id", false, request_id_clauses, Run::Passive(schema::judge_request_id)),
    ("headers.callers-id", true, |of| request_id_clauses(of).get(1..).unwrap_or_default(), Run::STATED),
    ("input.declared", true, |of| &of.input_clauses, Run::Declared(input)),
    ("token.single", true, |of| from_ref(&of.token_clause), Run::Declared(other_spellings)),
];

/// Those of the body and of the header.
fn request_id_clauses(operation: &Operation) -> &[Clause] {
    operation.success.request_id.as_ref().map_or(&[], |clauses| clauses)
}

fn success(operation: &Operation) -> Vec<Case> {
    let gateways = u32::from(operation.id == OperationId::Extract);
    vec![Case::for_data("", Cost::extraction(1, gateways), operation.id, schema::succeeds)]
}

/// The checks of every operation, and those of the plain ones alone, in whose place others have their own.
pub(super) static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let contract = Contract::embedded().into_iter();
    contract
        .flat_map(|contract| contract.operations().flat_map(|operation| of(contract, operation)))
        .collect()
});

fn of(contract: &Contract, operation: &'static Operation) -> impl Iterator<Item = Check> {
    let is_plain = contract.plain.contains_key(&operation.id);
    let programs = PROGRAMS.into_iter().filter(move |(_, of_plain, ..)| is_plain || !of_plain);
    programs.filter_map(|(name, _, clauses, run)| {
        let mut lines = rule_named(name)?.lines().skip(1).map(str::trim_start);
        let (title, why, clauses) = (lines.next()?, lines.next()?, clauses(operation));
        let (id, operation) = (operation.id.named(name), Some(operation.id));
        let check = Check { id, title, why, operation, clauses, run, stated, ..Check::TEMPLATE };
        (!clauses.is_empty()).then_some(check)
    })
}

fn rule_named(name: &str) -> Option<&'static str> {
    blocks(include_str!("plain.txt")).find(|rule| rule.lines().next() == Some(name))
}

/// The text of the rule of a check that follows from a declaration.
pub(super) fn rule(check: &Check) -> Option<&'static str> {
    rule_named(check.id.split_once('.')?.1)
}

fn input(operation: &Operation) -> Vec<Case> {
    let (id, is_safe) = (operation.id, operation.is_safe);
    let values = operation.parameters.iter().chain(&operation.body).flat_map(move |input| {
        // What is accepted by an operation that writes changes data of the account.
        let values =
            boundaries(&input.schema).into_iter().filter(move |value| is_safe || !value.allowed).map(Some);
        let absent = input.is_required.then_some(None);
        values.chain(absent).filter_map(move |value| declared(id, input, value))
    });
    let forms = [("no object", "[]"), ("cut short", "{"), ("empty", "")].into_iter();
    let forms = forms.filter_map(move |(label, text)| {
        let edit = with(move |_, request| Ok(request.body("application/json", text)));
        Some(Row::new(Base::Static(id), Some(operation.body_clause?), label, false, vec![edit]))
    });
    cases(operation.success.clause, values.chain(forms))
}

fn declared(id: OperationId, input: &Input, value: Option<Boundary>) -> Option<Row> {
    let name = &input.name;
    let (keyword, allowed) =
        value.as_ref().map_or(("required", false), |value| (value.keyword, value.allowed));
    let clause = input.citations.clause(keyword)?;
    let why = match &value {
        None => format!("{name} is absent"),
        // The label of a limit does not depend on its value.
        Some(value) if matches!(keyword, "enum" | "type" | "format") => {
            format!("{name}={}, {}", value.text(), value.reason)
        }
        Some(value) => format!("{name}: {}", value.reason),
    };
    let input = input.clone();
    let value = value.map(|value| value.value);
    let edit = with(move |_, request| Ok(with_input(request, &input, value.clone())));
    Some(Row::new(Base::Static(id), Some(clause), &why, allowed, vec![edit]))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn each_program_has_its_words_and_each_rule_a_program() {
        let rules = blocks(include_str!("plain.txt"));
        let names = rules.filter_map(|rule| rule.lines().next().filter(|_| rule.lines().count() >= 3));
        assert!(names.eq(PROGRAMS.map(|(name, ..)| name)));
    }

    #[test]
    fn values_follow_the_declaration() {
        let mut file: Value = serde_json::from_str(sallyport_contract::JSON).expect("JSON");
        let listing = &mut file["document"]["paths"]["/openapi/v1/static/groups"]["get"];
        let parameter = |name, place, schema: Value| json!({"name": name, "in": place, "required": true, "schema": schema, "x-clause": "groups.empty"});
        listing["parameters"].as_array_mut().expect("a list").extend([
            parameter("limit", "query", json!({"type": "integer", "minimum": 1, "maximum": 9})),
            parameter("X-Tag", "header", json!({"type": "string", "maxLength": 3})),
        ]);
        let name = json!({"type": "string", "minLength": 1, "x-clause": "groups.order"});
        let schema = json!({"type": "object", "required": ["name"], "properties": {"name": name}});
        listing["requestBody"] =
            json!({"x-clause": "groups.fields", "content": {"application/json": {"schema": schema}}});
        let contract = Contract::from_json(&file.to_string()).expect("a valid contract");
        let labels: Vec<_> = input(contract.groups()).iter().map(|case| case.label().to_owned()).collect();
        insta::assert_snapshot!(labels.join("\n"));
    }
}
