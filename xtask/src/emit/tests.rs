//! One number changes in the document, and everything that follows from it does.

use super::*;
use crate::fixture::{CONTRACT, edited_text};

fn artifacts(text: &str) -> Vec<Artifact> {
    code(&Document::parse(text).unwrap()).unwrap()
}

#[test]
fn a_changed_limit_reaches_client_server_and_the_embedded_document_and_nothing_else() {
    let halved = edited_text(CONTRACT, "minimum: 1, maximum: «100→50» }");
    let (before, after) = (artifacts(CONTRACT), artifacts(&halved));
    let changed: Vec<_> =
        before.iter().zip(&after).filter(|(one, other)| one != other).map(|(one, _)| one.path).collect();
    assert_eq!(
        changed,
        [
            "openapi/src/generated/table.json",
            "server/src/api/generated.rs",
            "client/src/generated.rs",
            "client/src/contract/generated.rs",
            "openapi/src/generated/contract.json",
        ]
    );
}

#[test]
fn a_new_filter_reaches_the_setters_of_a_search_and_the_flags_of_the_program() {
    let edits = [
        "        status: { match: equal, field: status }\n«→        protocol: { match: contains, field: protocols }\n»",
        "«→        protocol: { type: string, example: socks5, description: A protocol. }\n»        page:\n          description",
    ];
    let declared = include_str!("../../../openapi/openapi.yaml").to_owned();
    let text = edits.iter().fold(declared, |text, edit| edited_text(&text, edit));
    let artifacts = artifacts(&text);
    for (path, part) in [
        ("client/src/search/generated.rs", "pub fn protocol(mut self, value: impl Into<String>) -> Self {"),
        ("client/src/search/generated.rs", "/// Only instances whose `protocols` contain this one."),
        ("client/src/bin/sallyport/generated.rs", "protocol: Option<String>,"),
        ("client/src/bin/sallyport/generated.rs", "whose `protocols` contain this one, such as socks5"),
    ] {
        let file = artifacts.iter().find(|file| file.path == path).unwrap();
        assert!(file.contents.contains(part), "{part}: {}", file.contents);
    }
}

#[test]
fn a_description_is_text_in_the_documentation_of_a_listing() {
    let text = edited_text(
        CONTRACT,
        "description: Returns the custom groups «of→of <API_KEY> at [IPv6], not `[IPv6]:port`, of»",
    );
    let shown =
        "/// Returns the custom groups of \\<API_KEY> at \\[IPv6\\], not `[IPv6]:port`, of the account";
    assert!(artifacts(&text).iter().any(|file| file.path.contains("plain") && file.contents.contains(shown)));
}

/// Edits of the document, and the pointer and message of the only problem.
#[test]
fn what_cannot_be_generated_is_a_problem_at_its_place() {
    let rows: Vec<[String; 3]> =
        serde_saphyr::from_str(include_str!("../../fixtures/generate.yaml")).unwrap();
    for [edit, pointer, message] in rows {
        let mut text = edited_text(CONTRACT, &edit);
        if !text.contains("    TermRule:") {
            text = text.replace("schemas/TermRule", "schemas/Timestamp");
        }
        let problems = code(&Document::parse(&text).unwrap()).unwrap_err();
        let [problem] = &problems[..] else { panic!("{edit:?}: {}", Problem::list(&problems)) };
        assert!(
            problem.pointer.ends_with(&pointer) && problem.message.contains(&message),
            "{edit:?}: {problem}"
        );
        assert!(problem.place.is_some() && !problem.help.is_empty(), "{problem}");
    }
}

/// Only an enum of responses has a variant for other values.
#[test]
fn a_name_that_nothing_else_has_is_free() {
    let free = [
        "        - name: «num→credential»\n",
        "enum: [json, txt«→, other»]",
        "enum: [json, txt«→, \"|\"»]",
        "operationId: «listStaticGroups→impl»",
    ];
    for edit in free {
        assert!(code(&Document::parse(&edited_text(CONTRACT, edit)).unwrap()).is_ok(), "{edit:?}");
    }
}
