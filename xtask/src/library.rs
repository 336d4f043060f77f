//! What a document of other operations than ours gives: an API that reads and writes, from which server, client and contract are
//! made. The generated files lie beside the tests that compile and run them, and must be up to date.

use std::fs;

use crate::{
    document::Document,
    emit,
    fixture::LIBRARY,
    ledger, lint,
    model::{Contract, Method},
    problem::Problem,
};

/// Where the generated files of the library lie, by their paths in our own crates.
const PLACES: [(&str, &str); 4] = [
    ("client/src/generated.rs", "client/tests/library/generated.rs"),
    ("client/src/contract.rs", "client/tests/library/contract.rs"),
    ("server/src/api/generated.rs", "conformance/tests/library/api/generated.rs"),
    ("conformance/src/contract/generated/contract.json", "conformance/tests/library/contract.json"),
];

fn document() -> Document {
    Document::parse(LIBRARY).unwrap()
}

#[test]
fn the_library_is_clean_and_has_each_kind_of_operation() {
    let document = document();
    let problems = lint::run(&document);
    assert!(problems.is_empty(), "{}", Problem::list(&problems));
    let contract = Contract::read(&document).unwrap();
    for method in Method::ALL {
        assert!(contract.operations.iter().any(|operation| operation.method == method), "{method}");
    }
    for status in ["200", "201", "202", "204"] {
        assert!(contract.operations.iter().any(|operation| operation.success.status == status), "{status}");
    }
    assert_eq!(contract.operations.len(), 10);
}

#[test]
fn the_ledger_accounts_for_each_constraint_of_the_library() {
    let document = document();
    let contract = Contract::read(&document).unwrap();
    // Our own waivers, for which the library may have no use, are the only problems.
    let enforcers = [emit::server::enforces, emit::client::enforces];
    let problems = ledger::emit(&document, &contract, &[], enforcers).err().unwrap_or_default();
    let others: Vec<_> =
        problems.iter().filter(|problem| !problem.message.starts_with("unused waiver")).collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// `LIBRARY=write` writes them.
#[test]
fn the_generated_files_of_the_library_are_up_to_date() {
    let artifacts = emit::code(&document()).map_err(|problems| Problem::list(&problems)).unwrap();
    let root = crate::task::root(&std::env::current_dir().unwrap()).unwrap();
    for (path, place) in PLACES {
        let made = artifacts.iter().find(|artifact| artifact.path == path).unwrap();
        let place = root.join(place);
        if std::env::var_os("LIBRARY").is_some_and(|wish| wish == "write") {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(&place, &made.contents).unwrap();
        }
        let found = fs::read_to_string(&place).unwrap_or_default();
        assert!(
            found == made.contents,
            "{}: run `LIBRARY=write cargo test -p xtask library`",
            place.display()
        );
    }
}
