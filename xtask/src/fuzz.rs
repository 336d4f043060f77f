//! Mutates the document, as text and as a tree: a generator must neither panic nor emit code that does not compile,
//! unless the lint or a generator rejects the mutant.
//!
//! `XTASK_FUZZ=10000 cargo test -p xtask fuzz` tries 10,000 mutants; `XTASK_FUZZ_SEED` is the seed of the first one.

use std::{collections::BTreeSet, panic::AssertUnwindSafe};

use jiff::civil::date;
use serde_json::{Map, Value, json};

use crate::{
    diff,
    document::Document,
    emit,
    fixture::{CONTRACT, contract, pointers},
    lint,
};

/// Number of mutants by default.
const MUTANTS: u64 = 60;

/// Words that have broken a generator, and values of every kind.
const WORDS: [&str; 40] = [
    "",
    " ",
    "type",
    "self",
    "Self",
    "gen",
    "Option",
    "Vec",
    "String",
    "Api",
    "Within",
    "Result",
    "größe",
    "a-b",
    "a_b",
    "aB",
    "1",
    "6",
    "-1",
    "|",
    "\r\n",
    "`",
    "```rust\nfn f() {}\n```",
    "*/",
    "\\",
    "\"",
    "{",
    "}",
    "{num.maximum}",
    "//",
    "/",
    "?",
    "X-Request-Id",
    "integer",
    "string",
    "array",
    "object",
    "http",
    "search.page",
    "#/components/schemas/TermRule",
];

/// Pseudo-random numbers that are the same for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// One mutant, as a document or as a text that is none.
fn mutant(
    seed: u64,
    original: &Document,
    pointers: &[String],
) -> Result<Document, Vec<crate::problem::Problem>> {
    let mut random = Random(seed);
    if random.below(3) == 0 {
        let text = mutated_text(&mut random);
        return Document::parse(&text);
    }
    let mut root = original.root().clone();
    for _ in 0..=random.below(2) {
        mutate_tree(&mut random, original, pointers, &mut root);
    }
    Ok(original.with_root(root))
}

fn mutated_text(random: &mut Random) -> String {
    let mut lines: Vec<String> = CONTRACT.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(2) {
        let at = random.below(lines.len());
        let other = random.below(lines.len());
        match random.below(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            3 => lines[at] = format!("  {}", lines[at]),
            4 => lines[at] = lines[at].trim_start().to_owned(),
            5 => {
                let cut: String = lines[at].chars().take(random.below(40)).collect();
                lines[at] = cut;
            }
            6 => lines[at] = format!("{} {}", lines[at], random.pick(&WORDS)),
            _ => lines.truncate(at.max(1)),
        }
    }
    lines.join("\n")
}

/// A value of any kind, or another part of the document.
fn value(random: &mut Random, original: &Document, pointers: &[String]) -> Value {
    match random.below(9) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(*random.pick(&[0i64, 1, -1, 2, 100, 65_536, i64::MAX, i64::MIN])),
        3 => json!(1.5),
        4 => json!([]),
        5 => json!({}),
        6 => original.get(random.pick(pointers).as_str()).cloned().unwrap_or_default(),
        _ => json!(*random.pick(&WORDS)),
    }
}

fn mutate_tree(random: &mut Random, original: &Document, pointers: &[String], root: &mut Value) {
    let at = random.pick(pointers).clone();
    let (parent, step) = at.rsplit_once('/').unwrap();
    let step = step.replace("~1", "/").replace("~0", "~");
    let action = random.below(6);
    let new = value(random, original, pointers);
    // An earlier mutation may have removed it.
    let Some(parent) = root.pointer_mut(parent) else { return };
    match parent {
        Value::Object(members) => match action {
            0 => drop(members.shift_remove(&step)),
            1 => drop(members.insert((*random.pick(&WORDS)).to_owned(), new)),
            2 => {
                let name = (*random.pick(&WORDS)).to_owned();
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
fn nudge(random: &mut Random, value: Option<&mut Value>) {
    match value {
        Some(Value::Number(number)) => {
            let by = *random.pick(&[-1, 1, 50]);
            *number = number.as_i64().unwrap_or(0).saturating_add(by).into();
        }
        Some(Value::Bool(flag)) => *flag = !*flag,
        Some(Value::String(text)) => {
            let word = *random.pick(&WORDS);
            if random.below(2) == 0 { text.push_str(word) } else { text.insert_str(0, word) }
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
    let (mut types, mut values) = (BTreeSet::new(), BTreeSet::new());
    for item in items {
        let (scope, name) = match item {
            syn::Item::Struct(item) => {
                let mut fields = BTreeSet::new();
                let mut names = item.fields.iter().filter_map(|field| field.ident.as_ref());
                if let Some(field) = names.find(|field| !fields.insert(field.to_string())) {
                    return Some(format!("{}::{field}", item.ident));
                }
                (&mut types, &item.ident)
            }
            syn::Item::Enum(item) => {
                let mut variants = BTreeSet::new();
                let mut names = item.variants.iter().map(|variant| &variant.ident);
                if let Some(variant) = names.find(|variant| !variants.insert(variant.to_string())) {
                    return Some(format!("{}::{variant}", item.ident));
                }
                (&mut types, &item.ident)
            }
            syn::Item::Type(item) => (&mut types, &item.ident),
            syn::Item::Trait(item) => {
                let mut functions = BTreeSet::new();
                for member in &item.items {
                    if let syn::TraitItem::Fn(function) = member
                        && !functions.insert(function.sig.ident.to_string())
                    {
                        return Some(format!("{}::{}", item.ident, function.sig.ident));
                    }
                }
                (&mut types, &item.ident)
            }
            syn::Item::Mod(item) => {
                let inner = item.content.as_ref().and_then(|(_, items)| repeated(items));
                if inner.is_some() {
                    return inner;
                }
                (&mut types, &item.ident)
            }
            syn::Item::Fn(item) => (&mut values, &item.sig.ident),
            syn::Item::Const(item) if item.ident != "_" => (&mut values, &item.ident),
            syn::Item::Static(item) => (&mut values, &item.ident),
            _ => continue,
        };
        if !scope.insert(name.to_string()) {
            return Some(name.to_string());
        }
    }
    None
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MutantOutcome {
    Unreadable,
    Rejected,
    Generated,
}

fn run_mutant(seed: u64, original: &Document, pointers: &[String]) -> Result<MutantOutcome, String> {
    let Ok(document) = mutant(seed, original, pointers) else { return Ok(MutantOutcome::Unreadable) };
    let problems = lint::run(&document);
    // The comparison must not panic on any document.
    let _ = diff::compare(original, &document, date(2026, 6, 1));
    if let Some(problem) = problems.first() {
        return if problem.help.is_empty() {
            Err(format!("no help: {problem}"))
        } else {
            Ok(MutantOutcome::Rejected)
        };
    }
    let Ok(artifacts) = emit::code(&document) else { return Ok(MutantOutcome::Rejected) };
    match artifacts.iter().find_map(|artifact| fault(artifact.path, &artifact.contents)) {
        Some(fault) => Err(fault),
        None => {
            let _ = emit::pages(&document, &[]);
            Ok(MutantOutcome::Generated)
        }
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
    for seed in first..first + count {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| run_mutant(seed, &original, &all)));
        match outcome {
            Ok(Ok(outcome)) => outcomes[outcome as usize] += 1,
            Ok(Err(fault)) => faults.push(format!("seed {seed}: {fault}")),
            Err(panic) => {
                let said = panic.downcast_ref::<String>().cloned();
                let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                faults.push(format!("seed {seed}: panic: {}", said.unwrap_or_default()));
            }
        }
    }
    println!(
        "{count} documents: {} unreadable, {} rejected, {} generated",
        outcomes[0], outcomes[1], outcomes[2]
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
