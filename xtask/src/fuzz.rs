//! Fuzzes the document: lint, comparison and generators must not panic, and what is generated must be Rust that declares no name
//! twice. `PROPTEST_CASES=10000 cargo test -p xtask fuzz` tries 10,000 documents.

use std::{cell::RefCell, collections::BTreeSet};

use proptest::{prelude::*, sample::Index, sample::select, test_runner::*};
use regex::Regex;

use crate::{diff, document::Document, emit, fixture::CONTRACT, lint};

/// Words that have broken a generator, and values of every kind, as YAML.
const WORDS: &str = r#"""¦" "¦"1"¦"6"¦"-1"¦"|"¦"\r\n"¦"`"¦"*/"¦"\\"¦"\""¦"{"¦"}"¦"//"¦"/"¦"?"¦a-b¦a_b¦aB¦größe¦type¦self¦Self¦gen¦Option¦Vec¦
    String¦Api¦Within¦Result¦string¦array¦object¦http¦integer¦X-Request-Id¦search.page¦"{num.maximum}"¦"```rust\nfn f() {}\n```"¦- ¦
    "\#/components/schemas/TermRule"¦0¦1¦-1¦2¦100¦65536¦9223372036854775807¦-9223372036854775808¦1.5¦null¦true¦false¦[]¦{}"#;

/// A value with all that it holds, `N` columns in.
const VALUE: &str = r"\n {N}\S.*(\n {N} .*)*";

/// What an edit finds, and what it puts in place of one that it found.
const EDITS: [(&str, &str); 7] = [
    (VALUE, ""),
    (VALUE, "OLDOTHER"),
    (VALUE, "OTHER"),
    (r": .+", ": WORD"),
    (r"[\w/$-]+:", "WORD:"),
    (r"\w\b", "OLDWORD"),
    (r".*\n", ""),
];

/// What is wrong with code, as far as can be detected without a compiler.
fn fault(source: &str) -> Option<String> {
    let code = match syn::parse_file(source) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => return Some(error.to_string()),
    };
    let kinds = "struct|enum|trait|type|mod|const|static|fn";
    let words = format!(r"^(?:pub(?:\(\w+\))? )?(?:async )?(?:({kinds}) )?(?:r#)?([a-zA-Z]\w*)");
    let words = Regex::new(&words).unwrap();
    // Formatted code: a line is in the scope of the nearest one before it with less indentation.
    let (mut scopes, mut declared) = (vec![(0, 0, "")], BTreeSet::new());
    let repeated = code.lines().enumerate().find(|(number, line)| {
        let indent = line.len() - line.trim_start().len() + 1;
        scopes.retain(|(outer, ..)| *outer < indent);
        let (_, scope, kind) = scopes[scopes.len() - 1];
        let found = words.captures(line.trim_start());
        let word = |group| found.as_ref().and_then(|found| found.get(group)).map_or("", |word| word.as_str());
        scopes.push((indent, number + 1, word(1)));
        let is_member = matches!(kind, "struct" | "enum") && found.is_some();
        (is_member || !word(1).is_empty()) && !declared.insert((scope, word(2)))
    });
    repeated.map(|(_, line)| format!("declared twice: {line}"))
}

#[test]
fn fuzzed_documents_never_panic_and_never_give_code_that_does_not_compile() {
    let (original, outcomes) = (Document::parse(CONTRACT).unwrap(), RefCell::new(BTreeSet::new()));
    let word = select(WORDS.split('¦').map(str::trim_start).collect::<Vec<_>>());
    let edit = (select(&EDITS[..]), 0..7_usize, any::<Index>(), any::<Index>(), word);
    let cases = std::env::var_os("PROPTEST_CASES").map_or(120, |_| Config::default().cases);
    let config =
        Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..Config::default() };
    let run = TestRunner::new(config).run(&prop::collection::vec(edit, 1..=3), |edits| {
        let mut text = CONTRACT.to_owned();
        for ((pattern, new), level, at, from, word) in edits {
            let pattern = Regex::new(&pattern.replace('N', &(2 * level).to_string())).unwrap();
            let found: Vec<_> = pattern.find_iter(&text).map(|found| found.range()).collect();
            if found.is_empty() {
                continue;
            }
            let [old, other] = [at, from].map(|index| index.get(&found).clone());
            let new =
                new.replace("OLD", &text[old.clone()]).replace("OTHER", &text[other]).replace("WORD", word);
            text.replace_range(old, &new);
        }
        let Ok(document) = Document::parse(&text) else {
            outcomes.borrow_mut().insert("unreadable");
            return Ok(());
        };
        let problems = lint::run(&document);
        prop_assert!(problems.iter().all(|it| it.place.is_some() && !it.help.is_empty()), "{problems:?}");
        // The comparison must not panic on any document.
        let _ = diff::compare(&original, &document);
        // As in `cargo xtask generate`, nothing is made of a document that the lint rejects.
        let code = if problems.is_empty() { emit::code(&document).ok() } else { None };
        outcomes.borrow_mut().insert(if code.is_some() { "generated" } else { "rejected" });
        for file in code.iter().flatten().filter(|file| file.path.ends_with(".rs")) {
            prop_assert_eq!(fault(&file.contents), None, "{}", file.path);
        }
        Ok(())
    });
    assert!(run.is_ok(), "{}", run.unwrap_err());
    assert_eq!(outcomes.borrow().len(), 3, "the documents are too similar: {outcomes:?}");
}

#[test]
fn code_that_declares_a_name_twice_is_a_fault() {
    assert_eq!(fault("struct A; fn a() {} mod b { struct A; }"), None);
    for source in [
        "struct A; enum A {}",
        "struct A { b: u8, b: u8 }",
        "enum A { B, B }",
        "mod a { fn b() {} fn b() {} }",
        "fn",
    ] {
        assert!(fault(source).is_some(), "{source}");
    }
}
