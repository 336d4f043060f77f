//! Emits `contract.json`, all that the suite knows of the contract, and `clause.rs`, the ids that its checks cite.
//!
//! ```text
//! sha256       of openapi/openapi.yaml
//! clauses      [{ id, section, text, observable, reason?,
//!                 inferred?, inferred-null?, line }]  sorted by id; line in openapi/openapi.yaml
//! unspecified  [{ id, text, line }]                   sorted by id
//! schemas      { name: JSON Schema draft 2020-12 }    for `$defs`; `x-clause` kept
//! document     the OpenAPI document without its clauses and unspecified behaviours
//! ```

use serde_json::{Value, json};

use super::{GENERATED, json_schema};
use crate::{artifact::Artifact, document::Document, model::Contract, problem::Problem};

const INDEX: &str = "conformance/src/contract/generated/contract.json";
const IDS: &str = "conformance/src/contract/generated/clause.rs";

/// The index of clauses, the lowered schemas and the document itself.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let members = document.root().as_object().into_iter().flatten();
    let rest = members.filter(|(key, _)| !matches!(key.as_str(), "x-clauses" | "x-unspecified"));
    let index = json!({
        "sha256": document.sha256(),
        "clauses": contract.clauses,
        "unspecified": contract.unspecified,
        "schemas": json_schema::definitions(document.get("/components/schemas")),
        "document": Value::Object(rest.map(|(key, value)| (key.clone(), value.clone())).collect()),
    });
    Ok(vec![
        Artifact { path: INDEX, contents: format!("{index:#}\n") },
        Artifact { path: IDS, contents: ids(&contract) },
    ])
}

/// Both kinds of ids as enums; `ids!` in the suite gives them their methods.
fn ids(contract: &Contract) -> String {
    let mut clauses: Vec<_> = contract.clauses.iter().map(|clause| (&*clause.id, &*clause.text)).collect();
    let mut unspecified: Vec<_> = contract.unspecified.iter().map(|open| (&*open.id, &*open.text)).collect();
    clauses.sort_unstable();
    unspecified.sort_unstable();
    format!(
        "{GENERATED}\n\n\
         use super::ids::ids;\n\n\
         ids! {{\n    /// One rule of the contract (`x-clauses`).\n    Clause {{\n{}    }}\n}}\n\n\
         ids! {{\n    /// Behaviour that the contract leaves open (`x-unspecified`). No check may fail on it.\n    \
         Unspecified {{\n{}    }}\n}}\n",
        variants(&clauses),
        variants(&unspecified)
    )
}

fn variants(entries: &[(&str, &str)]) -> String {
    entries
        .iter()
        .map(|(id, text)| {
            format!("        /// {}\n        {} = {id:?},\n", in_docs(&first_words(text)), variant(id))
        })
        .collect()
}

/// `search.ips-dedup-limit` as `SearchIpsDedupLimit`. What is unspecified has a type of its own, so `open.` says nothing.
fn variant(id: &str) -> String {
    let words = id.strip_prefix("open.").unwrap_or(id).split(['.', '-']).filter(|word| !word.is_empty());
    words.map(|word| format!("{}{}", word[..1].to_uppercase(), &word[1..])).collect()
}

/// A text for a doc comment, in which brackets would be a link.
fn in_docs(text: &str) -> String {
    text.replace('[', "\\[").replace(']', "\\]")
}

fn first_words(text: &str) -> String {
    const MAX_WORDS: usize = 14;
    let words: Vec<&str> = text.split_whitespace().collect();
    let cut = if words.len() > MAX_WORDS { " …" } else { "" };
    format!("{}{cut}", words[..words.len().min(MAX_WORDS)].join(" "))
}
