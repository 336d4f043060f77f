//! Fuzzes the document, as text and as a tree: lint, comparison and generators must not panic, and no generator may emit code that
//! does not compile, unless the lint or a generator rejects the document.
//!
//! `PROPTEST_CASES=10000 cargo test -p xtask fuzz` tries 10,000 documents.

use std::{cell::RefCell, collections::BTreeSet};

use proptest::{
    prelude::*,
    sample::{Index, select},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value, json};
use syn::{Item, TraitItem};

use crate::{
    diff,
    document::{Document, unescaped},
    emit,
    fixture::{CONTRACT, contract, pointers, remove},
    lint,
};

/// Number of documents by default.
const DOCUMENTS: u32 = 120;

/// Words that have broken a generator, and values of every kind; separated by `¦`.
const WORDS: &str = "¦ ¦1¦6¦-1¦|¦\r\n¦`¦*/¦\\¦\"¦{¦}¦//¦/¦?¦a-b¦a_b¦aB¦größe¦type¦self¦Self¦gen¦Option¦Vec¦String¦Api¦Within¦Result¦string¦\
    array¦object¦http¦integer¦X-Request-Id¦search.page¦{num.maximum}¦```rust\nfn f() {}\n```¦#/components/schemas/TermRule";

/// An edit: what is done, where, and with what. An index is taken from the lines, or from the pointers of all values.
type Edit = (u8, Index, Index, Value);

fn edit() -> impl Strategy<Value = Edit> {
    let numbers = [0, 1, -1, 2, 100, 65_536, i64::MAX, i64::MIN].map(Value::from);
    let others = [Value::Null, json!(true), json!(false), json!(1.5), json!([]), json!({})];
    let words: Vec<Value> = WORDS.split('¦').map(Value::from).collect();
    let value = prop_oneof![select(numbers.to_vec()), select(others.to_vec()), select(words)];
    (0..15_u8, any::<Index>(), any::<Index>(), value)
}

/// The document with an edit; `None` where it is no YAML any more, or has nothing to edit there.
fn with(document: &Document, all: &[String], (action, at, from, value): &Edit) -> Option<Document> {
    let word = value.as_str().unwrap_or("a");
    if *action < 5 {
        let mut lines: Vec<String> = CONTRACT.lines().map(str::to_owned).collect();
        let (at, from) = (at.index(lines.len()), from.index(lines.len()));
        match action {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[from].clone()),
            2 => lines[at] = lines[at].chars().take(from % 40).collect(),
            3 => lines[at] = format!("  {} {word}", lines[at]),
            _ => lines.truncate(at.max(1)),
        }
        return Document::parse(&lines.join("\n")).ok();
    }
    let mut root = document.root().clone();
    let at = at.get(all);
    let old = root.pointer_mut(at)?;
    match action {
        5..=8 => *old = value.clone(),
        9 | 10 => *old = json!(format!("{}{word}", old.as_str().unwrap_or_default())),
        11 => *old = document.get(from.get::<String>(all)).cloned().unwrap_or_default(),
        12 | 13 => remove(&mut root, at),
        _ => {
            let (around, name) = at.rsplit_once('/')?;
            let members = root.pointer_mut(around)?.as_object_mut()?;
            let value = members.shift_remove(&unescaped(name))?;
            members.insert(word.to_owned(), value);
        }
    }
    Some(document.with_root(root))
}

/// The names that items declare, each with its scope: a type, a value, or a member of a type.
fn declared(items: &[Item], scope: &str) -> Vec<String> {
    let mut found = Vec::new();
    for item in items {
        let (kind, name, members): (_, _, Vec<&syn::Ident>) = match item {
            Item::Struct(one) => {
                ("type", &one.ident, one.fields.iter().filter_map(|field| field.ident.as_ref()).collect())
            }
            Item::Enum(one) => ("type", &one.ident, one.variants.iter().map(|one| &one.ident).collect()),
            Item::Trait(one) => {
                let functions = one.items.iter().filter_map(|item| match item {
                    TraitItem::Fn(function) => Some(&function.sig.ident),
                    _ => None,
                });
                ("type", &one.ident, functions.collect())
            }
            Item::Type(syn::ItemType { ident, .. }) | Item::Mod(syn::ItemMod { ident, .. }) => {
                ("type", ident, Vec::new())
            }
            Item::Const(syn::ItemConst { ident, .. }) if ident == "_" => continue,
            Item::Const(syn::ItemConst { ident, .. }) | Item::Static(syn::ItemStatic { ident, .. }) => {
                ("value", ident, Vec::new())
            }
            Item::Fn(one) => ("value", &one.sig.ident, Vec::new()),
            _ => continue,
        };
        found.push(format!("{kind} {scope}{name}"));
        found.extend(members.iter().map(|member| format!("member {scope}{name}::{member}")));
        if let Item::Mod(syn::ItemMod { content: Some((_, items)), .. }) = item {
            found.extend(declared(items, &format!("{scope}{name}::")));
        }
    }
    found
}

/// What is wrong with generated code, as far as can be detected without a compiler.
fn fault(source: &str) -> Option<String> {
    let file = match syn::parse_file(source) {
        Ok(file) => file,
        Err(error) => return Some(format!("not Rust: {error}")),
    };
    let mut seen = BTreeSet::new();
    let twice = declared(&file.items, "").into_iter().find(|name| !seen.insert(name.clone()));
    twice.map(|name| format!("declares twice: {name}"))
}

/// What became of a document.
fn outcome(original: &Document, document: Option<&Document>) -> Result<&'static str, TestCaseError> {
    let Some(document) = document else { return Ok("unreadable") };
    let problems = lint::run(document);
    // The comparison must not panic on any document.
    let _ = diff::compare(original, document);
    for problem in &problems {
        prop_assert!(problem.place.is_some() && !problem.help.is_empty(), "no help: {problem}");
    }
    let Some(code) = emit::code(document).ok().filter(|_| problems.is_empty()) else { return Ok("rejected") };
    for file in code.iter().filter(|file| file.path.ends_with(".rs")) {
        let fault = fault(&file.contents);
        prop_assert!(fault.is_none(), "{}: {fault:?}", file.path);
    }
    Ok("generated")
}

#[test]
fn fuzzed_documents_never_panic_and_never_give_code_that_does_not_compile() {
    let original = contract();
    let mut all = pointers(original.root(), "");
    // Clauses are half of the document, and one is like another.
    all.retain(|at| !at.starts_with("/x-clauses/") || at.len() < "/x-clauses/12/section".len());
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(DOCUMENTS);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcomes = RefCell::new(BTreeSet::new());
    let edits = prop::collection::vec(edit(), 1..=3);
    let run = runner.run(&edits, |edits| {
        let first = with(&original, &all, &edits[0]);
        let edited = edits[1..].iter().fold(first, |document, edit| {
            document.map(|document| with(&document, &all, edit).unwrap_or(document))
        });
        outcomes.borrow_mut().insert(outcome(&original, edited.as_ref())?);
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
