//! The document changes the code: every constraint that the server declares to enforce, and every construct that it rejects.

use serde_json::json;

use super::{emit, enforces, tokens};
use crate::{
    document::Document,
    fixture::{assert_constraints_change, bare, edited},
    model::{Constraint, Side},
    problem::Problem,
};

fn code(document: &Document) -> Result<String, Vec<Problem>> {
    emit(document).map(|artifacts| artifacts.into_iter().map(|artifact| artifact.contents).collect())
}

#[test]
fn every_declared_constraint_changes_the_code() {
    let is_declared = |one: &Constraint| enforces(one) && !is_fixed(one);
    let changed = assert_constraints_change(is_declared, |document| tokens(document).map(bare));
    assert!(changed > 80, "only {changed} constraints were changed");
}

/// Constraints that the edge enforces whatever the document says.
fn is_fixed(constraint: &Constraint) -> bool {
    // A token is always a non-empty text; which transports and parameters carry it moves the code.
    let token = constraint.credential && ["type", "minLength", "required"].contains(&constraint.keyword);
    // Every integer has 64 bits.
    let width = constraint.keyword == "format" && constraint.value == json!("int64");
    // Error responses get their headers and media type from `OperationResponse`, plain text from `Content::Text`.
    let response = constraint.side == Side::Response
        && (constraint.at.starts_with("429")
            || constraint.at.starts_with("default header")
            || constraint.at.ends_with(" text"));
    token || width || response
}

#[test]
fn what_the_server_cannot_express_is_a_problem_with_its_operation() {
    for (edit, words) in [
        ("«        - apiKeyHeader: []\n→»", None),
        ("«      x-credentials-agree: extract.token-equal\n→»", Some("may differ")),
        ("schema: { type: «string, x-max-utf8-bytes: 32→integer» }", Some("cannot read this separator")),
        ("x-separators: {« \"1\": \"\\r\\n\",→»", Some("several custom values")),
        ("when: { parameter: lb, equals: \"«6→5»\" }", Some("no rule says")),
        ("          bound: «activatedFrom→cityCode»\n", Some("cannot enforce this rule")),
        ("          property: «activatedTo→activatedUntil»\n", Some("names no body field")),
        (
            "name: { type: string, «→maxLength: 80, »description: Name given",
            Some("unsupported in a response: a string with `maxLength: 80`"),
        ),
        (
            "          type: string\n«→          format: ipv4\n»          x-clause: search.country\n",
            Some("unsupported in a request: a string with `format: \"ipv4\"`"),
        ),
        ("code: { type: integer, enum: [0«→, 1»],", Some("does not enforce this `enum`")),
        (
            "schema: { type: integer, «minimum: 1, maximum: 100→nullable: true» }",
            Some("cannot read this value"),
        ),
        ("          x-falls-back-to: «X-Request-Id→X-Other»\n", Some("names no header")),
    ] {
        match (code(&edited(edit)), words) {
            (Ok(_), None) => {}
            (Err(problems), Some(words)) => {
                let problem = problems.iter().find(|problem| problem.message.contains(words));
                let problem = problem.unwrap_or_else(|| panic!("{edit:?}: {problems:#?}"));
                assert!(problem.place.is_some() && !problem.help.is_empty(), "{problem}");
            }
            (outcome, _) => panic!("{edit:?}: {}", outcome.is_ok()),
        }
    }
}

#[test]
fn a_header_is_written_as_its_schema_says() {
    let partial = "{ type: string }\n              example: \"true\"";
    let header = |schema: &str| code(&edited(&format!("«{partial}→{schema}»")));
    for (schema, written) in [
        ("{ type: string }", "HeaderValue::try_from(value)?"),
        ("{ type: integer }", "number(value)?"),
        ("{ type: integer, minimum: 0 }", "number(value.get())?"),
        ("{ type: boolean }", "HeaderValue::from_static(if value"),
    ] {
        let code = header(schema).unwrap();
        let (_, after) = code.split_once("from_static(\"x-proxy-partial\")").unwrap();
        let after: String = after.split_whitespace().collect();
        let written: String = written.split_whitespace().collect();
        assert!(after.get(..80).is_some_and(|begin| begin.contains(&written)), "{schema}: {after:.120}");
    }
    assert!(header("{ type: integer, enum: [1, 2] }").is_err());
}
