//! Fuzzes the document: lint, comparison and generators must not panic, and what is generated must be Rust that declares no name
//! twice. `PROPTEST_CASES=10000 cargo test -p xtask fuzz` tries 10,000 documents.

use std::{cell::RefCell, collections::BTreeSet};

use proptest::{collection::vec, prelude::*, sample::Index, sample::select, test_runner::*};
use regex::Regex;

use crate::{diff, document::Document, emit, fixture::CONTRACT, lint};

/// The first line that declares a name twice. The scope of a line is the nearest one before it with less indentation.
fn repeated(code: &str) -> Option<&str> {
    let words = r"^(?:pub(?:\(\w+\))? )?(?:async )?(?:(struct|enum|trait|type|mod|const|static|fn) )?(?:r#)?([a-zA-Z]\w*)|";
    let (words, mut scopes, mut declared) = (Regex::new(words).unwrap(), vec![(0, "", "")], BTreeSet::new());
    code.lines().find(|line| {
        let indent = line.len() - line.trim_start().len() + 1;
        scopes.retain(|(outer, ..)| *outer < indent);
        let (_, around, scope) = scopes[scopes.len() - 1];
        let found = words.captures(line.trim_start()).unwrap();
        let [kind, name] = [1, 2].map(|group| found.get(group).map_or("", |word| word.as_str()));
        scopes.push((indent, kind, line));
        let is_declared = !kind.is_empty() || matches!(around, "struct" | "enum") && !name.is_empty();
        is_declared && !declared.insert((scope.as_ptr(), name))
    })
}

#[test]
fn fuzzed_documents_never_panic_and_never_give_code_that_does_not_compile() {
    let (edits, words, code): (Vec<(String, String)>, Vec<String>, [String; 5]) =
        serde_saphyr::from_str(include_str!("../fixtures/fuzz.yaml")).unwrap();
    assert_eq!(code.map(|code| repeated(&code).is_none()), [true, false, false, false, false]);
    let edit = (select(edits), 0..7_usize, any::<Index>(), any::<Index>(), select(words));
    let (original, outcomes) = (Document::parse(CONTRACT).unwrap(), RefCell::new(BTreeSet::new()));
    let config = Config { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..Config::default() };
    let cases = std::env::var_os("PROPTEST_CASES").map_or(120, |_| config.cases);
    let run = TestRunner::new(Config { cases, ..config }).run(&vec(edit, 1..=3), |edits| {
        let mut text = CONTRACT.to_owned();
        for ((pattern, new), level, at, from, word) in edits {
            let pattern = Regex::new(&pattern.replace('N', &(2 * level).to_string())).unwrap();
            let found: Vec<_> = pattern.find_iter(&text).map(|found| found.range()).collect();
            let Some(last) = found.len().checked_sub(1) else { continue };
            let [old, other] = [at, from].map(|index| found[index.index(last + 1)].clone());
            let new = new.replace("OLD", &text[old.clone()]).replace("OTHER", &text[other]);
            text.replace_range(old, &new.replace("WORD", &word));
        }
        let document = Document::parse(&text);
        let problems = document.as_ref().map_or_else(Clone::clone, lint::run);
        prop_assert!(problems.iter().all(|it| it.place.is_some() && !it.help.is_empty()), "{problems:?}");
        let _ = document.as_ref().map(|document| diff::compare(&original, document));
        let code = document.as_ref().ok().filter(|_| problems.is_empty()).and_then(|it| emit::code(it).ok());
        outcomes.borrow_mut().insert((document.is_ok(), code.is_some()));
        for file in code.iter().flatten().filter(|file| file.path.ends_with(".rs")) {
            prop_assert!(syn::parse_file(&file.contents).is_ok(), "{}", file.path);
            prop_assert_eq!(repeated(&file.contents), None, "{}", file.path);
        }
        Ok(())
    });
    assert!(run.is_ok(), "{}", run.unwrap_err());
    assert_eq!(outcomes.borrow().len(), 3, "the documents are too similar: {outcomes:?}");
}
