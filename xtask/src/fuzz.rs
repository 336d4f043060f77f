//! Fuzzes the document, as text and as a tree: a generator must neither panic nor emit code that does not compile, unless the
//! lint or a generator rejects the document.
//!
//! `XTASK_FUZZ=10000 cargo test -p xtask fuzz` tries 10,000 documents; `XTASK_FUZZ_SEED` is the seed of the first one.

use std::{collections::BTreeSet, panic::AssertUnwindSafe};

use fastrand::Rng;
use serde_json::{Value, json};
use syn::Item;

use crate::{
    diff,
    document::{Document, unescaped},
    emit,
    fixture::{CONTRACT, contract, pointers},
    lint,
};

/// Number of documents by default.
const DOCUMENTS: u64 = 120;

/// Words that have broken a generator, and values of every kind; separated by `¦`.
const WORDS: &str = "¦ ¦1¦6¦-1¦|¦\r\n¦`¦*/¦\\¦\"¦{¦}¦//¦/¦?¦a-b¦a_b¦aB¦größe¦type¦self¦Self¦gen¦Option¦Vec¦String¦Api¦Within¦Result¦string¦\
    array¦object¦http¦integer¦X-Request-Id¦search.page¦{num.maximum}¦```rust\nfn f() {}\n```¦#/components/schemas/TermRule";

fn word(random: &mut Rng) -> &'static str {
    random.choice(WORDS.split('¦').collect::<Vec<_>>()).unwrap()
}

/// The document with a line removed, repeated, moved, cut or extended; `None` where it is no YAML any more.
fn edited_line(random: &mut Rng) -> Option<Document> {
    let mut lines: Vec<String> = CONTRACT.lines().map(str::to_owned).collect();
    let (at, other) = (random.usize(..lines.len()), random.usize(..lines.len()));
    match random.usize(..6) {
        0 | 1 => drop(lines.remove(at)),
        2 => lines.insert(other, lines[at].clone()),
        3 => lines[at] = lines[at].chars().take(random.usize(..40)).collect(),
        4 => lines[at] = format!("  {} {}", lines[at], word(random)),
        _ => lines.truncate(at.max(1)),
    }
    Document::parse(&lines.join("\n")).ok()
}

/// Replaces, removes, renames or extends one value of the tree.
fn edit_tree(random: &mut Rng, original: &Document, pointers: &[String], root: &mut Value) {
    let at = random.choice(pointers).unwrap();
    let (parent, step) = at.rsplit_once('/').unwrap();
    let step = unescaped(step);
    let new = match random.usize(..9) {
        0 => Value::Null,
        1 => json!(random.bool()),
        2 | 3 => json!(random.choice([0, 1, -1, 2, 100, 65_536, i64::MAX, i64::MIN]).unwrap()),
        4 => random.choice([json!(1.5), json!([]), json!({})]).unwrap(),
        5 => original.get(random.choice(pointers).unwrap()).cloned().unwrap(),
        6 => {
            json!(format!("{}{}", original.get(at).and_then(Value::as_str).unwrap_or_default(), word(random)))
        }
        _ => json!(word(random)),
    };
    let action = random.usize(..5);
    // An earlier edit may have removed it.
    match root.pointer_mut(parent) {
        Some(Value::Object(members)) => match action {
            0 => drop(members.shift_remove(&step)),
            1 => drop(members.insert(word(random).to_owned(), new)),
            2 => {
                let value = members.shift_remove(&step).unwrap_or(new);
                members.insert(word(random).to_owned(), value);
            }
            _ => drop(members.insert(step, new)),
        },
        Some(Value::Array(items)) => match step.parse::<usize>() {
            Ok(index) if index < items.len() => match action {
                0 => drop(items.remove(index)),
                1 => items.insert(index, items[index].clone()),
                2 => items.insert(index, new),
                _ => items[index] = new,
            },
            _ => {}
        },
        _ => {}
    }
}

/// The names that items declare, each with its scope and namespace.
fn declared(items: &[Item], scope: &str, found: &mut Vec<String>) {
    for item in items {
        let (namespace, name, members): (_, _, Vec<&syn::Ident>) = match item {
            Item::Struct(one) => {
                ("type", &one.ident, one.fields.iter().filter_map(|field| field.ident.as_ref()).collect())
            }
            Item::Enum(one) => {
                ("type", &one.ident, one.variants.iter().map(|variant| &variant.ident).collect())
            }
            Item::Type(one) => ("type", &one.ident, Vec::new()),
            Item::Trait(one) => {
                let functions = one.items.iter().filter_map(|member| match member {
                    syn::TraitItem::Fn(function) => Some(&function.sig.ident),
                    _ => None,
                });
                ("type", &one.ident, functions.collect())
            }
            Item::Mod(one) => {
                let inner = one.content.as_ref().map_or(&[][..], |(_, items)| items);
                declared(inner, &format!("{scope}{}::", one.ident), found);
                ("type", &one.ident, Vec::new())
            }
            Item::Fn(one) => ("value", &one.sig.ident, Vec::new()),
            Item::Const(one) if one.ident != "_" => ("value", &one.ident, Vec::new()),
            Item::Static(one) => ("value", &one.ident, Vec::new()),
            _ => continue,
        };
        found.push(format!("{namespace} {scope}{name}"));
        found.extend(members.iter().map(|member| format!("member {scope}{name}::{member}")));
    }
}

/// What is wrong with generated code, as far as can be detected without a compiler.
fn fault(source: &str) -> Option<String> {
    let file = match syn::parse_file(source) {
        Ok(file) => file,
        Err(error) => return Some(format!("not Rust: {error}")),
    };
    let (mut names, mut seen) = (Vec::new(), BTreeSet::new());
    declared(&file.items, "", &mut names);
    names.into_iter().find(|name| !seen.insert(name.clone())).map(|name| format!("declares twice: {name}"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Unreadable,
    Rejected,
    Generated,
}

fn outcome(seed: u64, original: &Document, pointers: &[String]) -> Result<Outcome, String> {
    let mut random = Rng::with_seed(seed);
    let document = if random.usize(..3) == 0 {
        let Some(document) = edited_line(&mut random) else { return Ok(Outcome::Unreadable) };
        document
    } else {
        let mut root = original.root().clone();
        (0..=random.usize(..2)).for_each(|_| edit_tree(&mut random, original, pointers, &mut root));
        original.with_root(root)
    };
    let problems = lint::run(&document);
    // The comparison must not panic on any document.
    let _ = diff::compare(original, &document);
    if let Some(problem) = problems.iter().find(|problem| problem.place.is_none() || problem.help.is_empty())
    {
        return Err(format!("no help: {problem}"));
    }
    if !problems.is_empty() {
        return Ok(Outcome::Rejected);
    }
    let Ok(artifacts) = emit::code(&document) else { return Ok(Outcome::Rejected) };
    let mut code = artifacts.iter().filter(|artifact| artifact.path.ends_with(".rs"));
    if let Some(fault) = code.find_map(|one| Some(format!("{}: {}", one.path, fault(&one.contents)?))) {
        return Err(fault);
    }
    Ok(Outcome::Generated)
}

#[test]
fn fuzzed_documents_never_panic_and_never_give_code_that_does_not_compile() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (count, first) = (number("XTASK_FUZZ").unwrap_or(DOCUMENTS), number("XTASK_FUZZ_SEED").unwrap_or(1));
    let original = contract();
    let mut all = pointers(original.root(), "");
    // Clauses are half of the document, and one is like another.
    all.retain(|at| !at.starts_with("/x-clauses/") || at.len() < "/x-clauses/12/section".len());
    let (mut outcomes, mut faults) = (BTreeSet::new(), Vec::new());
    for seed in first..first + count {
        match std::panic::catch_unwind(AssertUnwindSafe(|| outcome(seed, &original, &all))) {
            Ok(Ok(outcome)) => drop(outcomes.insert(outcome)),
            Ok(Err(fault)) => faults.push(format!("seed {seed}: {fault}")),
            Err(_) => faults.push(format!("seed {seed}: panic, see above")),
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(outcomes.len(), 3, "the documents are too similar: {outcomes:?}");
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
