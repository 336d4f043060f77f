//! Mutates the document, as text and as a tree: a generator must neither panic nor emit code that does not compile,
//! unless the lint or a generator rejects the mutant.
//!
//! `XTASK_FUZZ=10000 cargo test -p xtask fuzz` tries 10,000 mutants; `XTASK_FUZZ_SEED` is the seed of the first one.

use std::{collections::BTreeSet, panic::AssertUnwindSafe};

use fastrand::Rng;
use jiff::civil::date;
use serde_json::{Map, Value, json};

use crate::{
    diff,
    document::{Document, unescaped},
    emit,
    fixture::{CONTRACT, contract, pointers},
    lint,
    problem::Problem,
};

/// Number of mutants by default.
const MUTANTS: u64 = 60;

/// Of so many lines of the document, one is removed in a mutant.
const LINES: usize = 23;

/// Words that have broken a generator, and values of every kind.
const WORDS: [&[&str]; 2] = [
    &[
        "", " ", "1", "6", "-1", "|", "\r\n", "`", "*/", "\\", "\"", "{", "}", "//", "/", "?", "a-b", "a_b",
        "aB", "größe", "type", "self", "Self", "gen", "Option", "Vec", "String", "Api", "Within", "Result",
        "string", "array", "object", "http",
    ],
    &[
        "integer",
        "X-Request-Id",
        "search.page",
        "{num.maximum}",
        "```rust\nfn f() {}\n```",
        "#/components/schemas/TermRule",
    ],
];

/// What makes a mutant.
#[derive(Clone, Copy, Debug)]
enum Mutation {
    /// Random changes, the same for the same seed.
    Seed(u64),
    /// The removal of one line.
    Line(usize),
}

/// One mutant, as a document or as a text that is none.
fn mutant(mutation: Mutation, original: &Document, pointers: &[String]) -> Result<Document, Vec<Problem>> {
    let mut random = match mutation {
        Mutation::Seed(seed) => Rng::with_seed(seed),
        Mutation::Line(removed) => {
            let lines = CONTRACT.lines().enumerate().filter(|(index, _)| *index != removed);
            return Document::parse(&lines.map(|(_, line)| line).collect::<Vec<_>>().join("\n"));
        }
    };
    if random.usize(..3) == 0 {
        let text = mutated_text(&mut random);
        return Document::parse(&text);
    }
    let mut root = original.root().clone();
    for _ in 0..=random.usize(..2) {
        mutate_tree(&mut random, original, pointers, &mut root);
    }
    Ok(original.with_root(root))
}

fn word(random: &mut Rng) -> &'static str {
    random.choice(WORDS.concat()).unwrap()
}

fn mutated_text(random: &mut Rng) -> String {
    let mut lines: Vec<String> = CONTRACT.lines().map(str::to_owned).collect();
    for _ in 0..=random.usize(..2) {
        let at = random.usize(..lines.len());
        let other = random.usize(..lines.len());
        match random.usize(..8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            3 => lines[at] = format!("  {}", lines[at]),
            4 => lines[at] = lines[at].trim_start().to_owned(),
            5 => {
                let cut: String = lines[at].chars().take(random.usize(..40)).collect();
                lines[at] = cut;
            }
            6 => lines[at] = format!("{} {}", lines[at], word(random)),
            _ => lines.truncate(at.max(1)),
        }
    }
    lines.join("\n")
}

/// A value of any kind, or another part of the document.
fn value(random: &mut Rng, original: &Document, pointers: &[String]) -> Value {
    match random.usize(..9) {
        0 => Value::Null,
        1 => json!(random.bool()),
        2 => json!(random.choice([0, 1, -1, 2, 100, 65_536, i64::MAX, i64::MIN])),
        3 => json!(1.5),
        4 => json!([]),
        5 => json!({}),
        6 => original.get(random.choice(pointers).unwrap()).cloned().unwrap_or_default(),
        _ => json!(word(random)),
    }
}

fn mutate_tree(random: &mut Rng, original: &Document, pointers: &[String], root: &mut Value) {
    let at = random.choice(pointers).unwrap();
    let (parent, step) = at.rsplit_once('/').unwrap();
    let step = unescaped(step);
    let action = random.usize(..6);
    let new = value(random, original, pointers);
    // An earlier mutation may have removed it.
    let Some(parent) = root.pointer_mut(parent) else { return };
    match parent {
        Value::Object(members) => match action {
            0 => drop(members.shift_remove(&step)),
            1 => drop(members.insert(word(random).to_owned(), new)),
            2 => {
                let name = word(random).to_owned();
                let renamed = members.iter().map(|(key, value)| {
                    let key = if *key == step { name.clone() } else { key.clone() };
                    (key, value.clone())
                });
                *members = renamed.collect::<Map<_, _>>();
            }
            3 => nudge(random, members.get_mut(&step)),
            _ => drop(members.insert(step, new)),
        },
        Value::Array(items) => {
            let Some(index) = step.parse::<usize>().ok().filter(|index| *index < items.len()) else { return };
            match action {
                0 => drop(items.remove(index)),
                1 => items.insert(index, items[index].clone()),
                2 => items.insert(index, new),
                3 => nudge(random, items.get_mut(index)),
                _ => items[index] = new,
            }
        }
        _ => {}
    }
}

/// A small change of a value, such as a typing error.
fn nudge(random: &mut Rng, value: Option<&mut Value>) {
    match value {
        Some(Value::Number(number)) => {
            let by = random.choice([-1, 1, 50]).unwrap();
            *number = number.as_i64().unwrap_or(0).saturating_add(by).into();
        }
        Some(Value::Bool(flag)) => *flag = !*flag,
        Some(Value::String(text)) => {
            let word = word(random);
            if random.bool() { text.push_str(word) } else { text.insert_str(0, word) }
        }
        _ => {}
    }
}

/// What is wrong with generated code, as far as can be detected without a compiler.
fn fault(path: &str, source: &str) -> Option<String> {
    if !path.ends_with(".rs") {
        return None;
    }
    match syn::parse_file(source) {
        Err(error) => Some(format!("{path} is not Rust: {error}")),
        Ok(file) => repeated(&file.items).map(|name| format!("{path} declares `{name}` twice")),
    }
}

/// A name that stands twice in one scope: of types and modules, of functions and constants, of fields or of variants.
fn repeated(items: &[syn::Item]) -> Option<String> {
    let (mut types, mut values) = (Vec::new(), Vec::new());
    for item in items {
        let (name, members) = match item {
            syn::Item::Struct(item) => {
                (&item.ident, item.fields.iter().filter_map(|field| field.ident.as_ref()).collect())
            }
            syn::Item::Enum(item) => {
                (&item.ident, item.variants.iter().map(|variant| &variant.ident).collect())
            }
            syn::Item::Trait(item) => {
                let functions = item.items.iter().filter_map(|member| match member {
                    syn::TraitItem::Fn(function) => Some(&function.sig.ident),
                    _ => None,
                });
                (&item.ident, functions.collect())
            }
            syn::Item::Mod(item) => {
                if let Some(inner) = item.content.as_ref().and_then(|(_, items)| repeated(items)) {
                    return Some(inner);
                }
                (&item.ident, Vec::new())
            }
            syn::Item::Type(item) => (&item.ident, Vec::new()),
            syn::Item::Fn(syn::ItemFn { sig: syn::Signature { ident, .. }, .. })
            | syn::Item::Const(syn::ItemConst { ident, .. })
            | syn::Item::Static(syn::ItemStatic { ident, .. }) => {
                values.extend(Some(ident).filter(|name| *name != "_"));
                continue;
            }
            _ => continue,
        };
        if let Some(member) = twice(&members) {
            return Some(format!("{name}::{member}"));
        }
        types.push(name);
    }
    twice(&types).or(twice(&values)).map(ToString::to_string)
}

fn twice<'n>(names: &[&'n syn::Ident]) -> Option<&'n syn::Ident> {
    let mut seen = BTreeSet::new();
    names.iter().copied().find(|name| !seen.insert(name.to_string()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MutantOutcome {
    Unreadable,
    Rejected,
    Generated,
}

fn run_mutant(mutation: Mutation, original: &Document, pointers: &[String]) -> Result<MutantOutcome, String> {
    let Ok(document) = mutant(mutation, original, pointers) else { return Ok(MutantOutcome::Unreadable) };
    let problems = lint::run(&document);
    // The comparison must not panic on any document.
    let _ = diff::compare(original, &document, date(2026, 6, 1));
    if let Some(problem) = problems.first() {
        return match problem {
            Problem { help, place: Some(_), .. } if !help.is_empty() => Ok(MutantOutcome::Rejected),
            _ => Err(format!("no help: {problem}")),
        };
    }
    let Ok(artifacts) = emit::code(&document) else { return Ok(MutantOutcome::Rejected) };
    match artifacts.iter().find_map(|artifact| fault(artifact.path, &artifact.contents)) {
        Some(fault) => Err(fault),
        None => Ok(MutantOutcome::Generated),
    }
}

#[test]
fn fuzzed_documents_never_panic_and_never_give_code_that_does_not_compile() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (count, first) = (number("XTASK_FUZZ").unwrap_or(MUTANTS), number("XTASK_FUZZ_SEED").unwrap_or(1));
    let original = contract();
    let mut all = pointers(original.root(), "");
    // Clauses are half of the document, and one is like another.
    all.retain(|at| !at.starts_with("/x-clauses/") || at.len() < "/x-clauses/12/section".len());
    let (mut outcomes, mut faults) = ([0u64; 3], Vec::new());
    let seeds = (first..first + count).map(Mutation::Seed);
    let lines = (0..CONTRACT.lines().count()).step_by(LINES).map(Mutation::Line);
    for mutation in seeds.chain(lines) {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| run_mutant(mutation, &original, &all)));
        match outcome {
            Ok(Ok(outcome)) => outcomes[outcome as usize] += 1,
            Ok(Err(fault)) => faults.push(format!("{mutation:?}: {fault}")),
            Err(panic) => {
                let said = panic.downcast_ref::<String>().cloned();
                let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                faults.push(format!("{mutation:?}: panic: {}", said.unwrap_or_default()));
            }
        }
    }
    println!(
        "{} documents: {} unreadable, {} rejected, {} generated",
        outcomes.iter().sum::<u64>(),
        outcomes[0],
        outcomes[1],
        outcomes[2]
    );
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(outcomes.iter().all(|count| *count > 0), "the mutants are too similar: {outcomes:?}");
}

#[test]
fn code_that_declares_a_name_twice_is_a_fault() {
    assert_eq!(fault("a.rs", "struct A; fn a() {}"), None);
    for source in [
        "struct A; enum A {}",
        "struct A { b: u8, b: u8 }",
        "enum A { B, B }",
        "mod a { fn b() {} fn b() {} }",
        "fn",
    ] {
        assert!(fault("a.rs", source).is_some(), "{source}");
    }
}
