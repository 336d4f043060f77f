//! Checks that follow from the declaration of an operation, so that a new one is judged without a line of its own.

use std::slice::from_ref;
use std::sync::LazyLock;

use super::extraction::Place;
use super::requests::with_input;
use super::row::{Base, Credential, Edit, Row, accept, cases, reject, with};
use super::schema;
use super::token::{one_token, other_spellings};
use crate::check::{Case, Check, Cost};
use crate::contract::{Boundary, Contract, Input, Operation, OperationId, boundaries};
use crate::target::Fact;

/// The checks of every operation, and those of the plain ones alone, in whose place others have their own.
pub(super) static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let contract = Contract::embedded().into_iter();
    contract
        .flat_map(|contract| {
            contract.operations().flat_map(of_all).chain(contract.plain.values().flat_map(of_plain))
        })
        .collect()
});

fn of_all(operation: &'static Operation) -> Vec<Check> {
    let (id, success) = (operation.id, &operation.success);
    let check = |name, clauses| Check::new(id, id.named(name), clauses);
    let mut checks = vec![
        check("envelope.schema", &success.clauses)
            .title("every success matches its schema in the OpenAPI document")
            .why("Clients that are generated from the document fail on a field that is missing or of another type.")
            .passive(schema::judge),
        check("envelope.success", from_ref(&success.clause))
            .title("a valid request gets the HTTP status and the code of a success")
            .why("Clients check both; when they disagree, a success is discarded or an error is taken for a success.")
            .declared(|operation| {
                let gateways = u32::from(operation.id == OperationId::Extract);
                vec![Case::for_data("", Cost::extraction(1, gateways), operation.id, schema::succeeds)]
            }),
    ];
    if let Some(clauses) = &success.request_id {
        checks.push(
            check("headers.request-id", clauses)
                .title("`X-Request-Id` and `requestId` of a success are not empty")
                .why("Support can't find a call without its id.")
                .passive(schema::judge_request_id),
        );
    }
    checks
}

fn of_plain(operation: &'static Operation) -> Vec<Check> {
    let id = operation.id;
    let check = |name, clauses| Check::new(id, id.named(name), clauses);
    let mut checks = vec![
        check("token.single", from_ref(&operation.token_clause))
            .title("one non-empty token is accepted: a missing, empty or repeated one is rejected")
            .why("With two tokens, whose data is read depends on the order in which a service reads them.")
            .declared(|operation| {
                let (base, clause) = (Base::Static(operation.id), operation.token_clause);
                let label = "the tokens of two accounts are sent";
                let two = reject(label, label, [Edit::AddToken(Credential::Supplied(Fact::SecondToken))]);
                let two = two.of(base.clone()).needing(Fact::SecondToken);
                let rows = one_token(&base, |wrong| wrong.label).into_iter().chain([two]);
                cases(clause, rows).into_iter().chain([other_spellings(clause, operation.id)]).collect()
            }),
    ];
    if let Some([_, clause]) = &operation.success.request_id {
        checks.push(
            check("headers.callers-id", from_ref(clause))
                .title("a success has its headers also when the caller sends a request id")
                .why("Proxies add an id to every call. A service that adopts it may leave out its own headers.")
                .declared(|operation| {
                    let clause =
                        operation.success.request_id.map_or(operation.success.clause, |[_, of_header]| of_header);
                    // A passive check judges the headers of all responses; this one is to a request with an id.
                    let why = "a request id of the caller in a header that every call may have";
                    let row = accept("", why, [Edit::Id(Place::Header, 0)]).of(Base::Static(operation.id));
                    cases(clause, [row])
                }),
        );
    }
    if !operation.input_clauses.is_empty() {
        checks.push(
            check("input.declared", &operation.input_clauses)
                .title("values that the document allows are accepted, and others are rejected")
                .why("A value that is accepted beyond a limit is cut or stored as another one, and a valid one that is rejected stops its caller.")
                .declared(|operation| input(operation).collect()),
        );
    }
    checks
}

fn input(operation: &Operation) -> impl Iterator<Item = Case> {
    let (id, is_safe) = (operation.id, operation.is_safe);
    let values = operation.parameters.iter().chain(&operation.body).flat_map(move |input| {
        // What is accepted by an operation that writes changes data of the account.
        let values =
            boundaries(&input.schema).into_iter().filter(move |value| is_safe || !value.allowed).map(Some);
        let absent = input.is_required.then_some(None);
        values.chain(absent).filter_map(move |value| declared(input, value))
    });
    let forms = [("no object", "[]"), ("cut short", "{"), ("empty", "")].into_iter();
    let forms = forms.filter_map(move |(label, text)| {
        let edit = with(move |_, request| Ok(request.body("application/json", text)));
        Some(reject(label, label, [edit]).citing(operation.body_clause?))
    });
    let rows = values.chain(forms).map(move |row| row.of(Base::Static(id)));
    cases(operation.success.clause, rows).into_iter()
}

fn declared(input: &Input, value: Option<Boundary>) -> Option<Row> {
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
    let row = if allowed { accept(why.clone(), why, [edit]) } else { reject(why.clone(), why, [edit]) };
    Some(row.citing(clause))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

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
        let labels: Vec<_> = input(contract.groups()).map(|case| case.label().to_owned()).collect();
        insta::assert_snapshot!(labels.join("\n"));
    }
}
