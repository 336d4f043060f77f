//! Documentation of the generated client, with the limits and clauses of each parameter and field.

use std::collections::BTreeMap;

use syn::{
    Attribute, Expr, ExprLit, ImplItem, ImplItemFn, Item, ItemImpl, ItemMod, Lit, LitStr, Variant,
    parse_quote,
};

use super::{name, postprocess::name_of};
use crate::{
    emit::field,
    lower,
    model::{Contract, Operation, Schema},
};

/// Lines of documentation by the name of a type and the name of its field or setter, or the value of a variant.
#[derive(Default)]
pub(super) struct Docs(BTreeMap<(String, String), Vec<String>>);

impl Docs {
    /// The docs of each type, and of each operation's builders.
    pub(super) fn read(contract: &Contract) -> Self {
        let mut docs = Self::default();
        let responses = lower::reachable_from_responses(contract);
        for schema in &contract.schemas {
            let Some(name) = &schema.name else { continue };
            docs.add_schema(contract, schema, &name::pascal(name).to_string(), responses.contains(name));
        }
        for operation in &contract.operations {
            for builder in lower::builder_ids(operation) {
                docs.add_builder(contract, operation, &name::pascal(&builder).to_string());
            }
            docs.add_body(contract, operation);
        }
        docs
    }

    /// The fields of an object, or the values of an enum. A field of a response may be missing although it is required, so that
    /// its type says whether it is there.
    fn add_schema(&mut self, contract: &Contract, schema: &Schema, owner: &str, is_response: bool) {
        for field in field::properties(contract, None, schema) {
            let lines = if is_response { field.response_rustdoc() } else { field.rustdoc() };
            self.add(owner, field.name(), lines);
        }
        for (value, words) in field::values(contract, schema) {
            self.0.insert((owner.to_owned(), value.to_owned()), vec![format!("{words}.")]);
        }
    }

    fn add_builder(&mut self, contract: &Contract, operation: &Operation, builder: &str) {
        for parameter in operation.distinct_parameters() {
            let lines = field::parameter(contract, operation, parameter).rustdoc();
            self.add(builder, &parameter.name, lines);
        }
        if let Some(body) = &operation.body {
            self.add(builder, "body", field::body(contract, body).rustdoc());
        }
    }

    fn add_body(&mut self, contract: &Contract, operation: &Operation) {
        let Some(body) = &operation.body else { return };
        let Some(owner) = body.schema.name.as_deref().map(name::pascal) else { return };
        for field in field::properties(contract, Some(operation), &body.schema) {
            self.add(&owner.to_string(), field.name(), field.rustdoc());
        }
    }

    fn add(&mut self, owner: &str, name: &str, lines: Vec<String>) {
        self.0.insert((owner.to_owned(), name::snake(name).to_string()), lines);
    }

    /// The lines for `name` of `owner`; empty where the document has no such name.
    pub(super) fn lines(&self, owner: &str, name: &str) -> &[String] {
        self.0.get(&(owner.to_owned(), name.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The names that `owner` has docs for, each with its first line.
    pub(super) fn summaries(&self, owner: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter(move |((of, _), _)| of == owner)
            .filter_map(|((_, name), lines)| Some((name.as_str(), lines.first()?.as_str())))
    }
}

/// Lines as attributes, one each, so that they are printed as line comments.
pub(super) fn attributes<S: AsRef<str>>(lines: &[S]) -> Vec<Attribute> {
    let lines = lines.iter().map(|line| match line.as_ref() {
        "" => String::new(),
        text => format!(" {text}"),
    });
    lines.map(|line| parse_quote!(#[doc = #line])).collect()
}

/// What the generated module is, in its own documentation.
const MODULE: [&str; 3] = [
    "The client that progenitor generates from the document: a builder for each operation, and the types of bodies.",
    "",
    "It changes whenever the document does, and checks no limit; [`Client`](crate::Client) does.",
];

/// Adds limits and clauses to the documentation that progenitor writes, and links in place of its lists of arguments.
pub(super) fn document(file: &mut syn::File, docs: &Docs) {
    for line in MODULE {
        let line = if line.is_empty() { String::new() } else { format!(" {line}") };
        file.attrs.push(parse_quote!(#![doc = #line]));
    }
    for item in &mut file.items {
        match item {
            Item::Mod(module) if module.ident == "builder" => document_builders(module, docs),
            Item::Mod(module) if module.ident == "types" => document_types(module, docs),
            Item::Impl(block) if block.trait_.is_none() && name_of(&block.self_ty) == "Client" => {
                functions(block).for_each(|function| document_operation(function, docs));
            }
            _ => {}
        }
    }
}

fn document_builders(module: &mut ItemMod, docs: &Docs) {
    for item in module.content.iter_mut().flat_map(|(_, items)| items) {
        let Item::Impl(block) = item else { continue };
        let owner = name_of(&block.self_ty);
        for function in functions(block) {
            let name = function.sig.ident.to_string();
            let lines = match name.as_str() {
                "send" => {
                    function.attrs.iter().filter_map(doc_of).map(|line| without_fragment(&line)).collect()
                }
                "new" => vec!["A request without arguments; `Client` has a method for it.".to_owned()],
                "body_map" => vec!["Changes the builder of the body.".to_owned()],
                _ => docs.lines(&owner, &name).to_vec(),
            };
            replace(&mut function.attrs, &lines);
        }
    }
}

fn document_types(module: &mut ItemMod, docs: &Docs) {
    for item in module.content.iter_mut().flat_map(|(_, items)| items) {
        match item {
            Item::Struct(structure) => {
                let owner = structure.ident.to_string();
                for field in &mut structure.fields {
                    let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                    replace(&mut field.attrs, docs.lines(&owner, &name));
                }
            }
            Item::Enum(choice) => {
                let owner = choice.ident.to_string();
                for variant in &mut choice.variants {
                    let lines = docs.lines(&owner, &value_of(variant));
                    replace(&mut variant.attrs, lines);
                }
            }
            Item::Impl(block) if block.trait_.is_none() => {
                let builders = functions(block).filter(|function| function.sig.ident == "builder");
                let lines = ["A builder with a setter for each field.".to_owned()];
                builders.for_each(|function| replace(&mut function.attrs, &lines));
            }
            Item::Mod(inner) if inner.ident == "builder" => document_body_builders(inner, docs),
            _ => {}
        }
    }
}

fn document_body_builders(module: &mut ItemMod, docs: &Docs) {
    for item in module.content.iter_mut().flat_map(|(_, items)| items) {
        let Item::Struct(structure) = item else { continue };
        let name = structure.ident.to_string();
        let line = format!(
            "Builds a [`{name}`](super::{name}); a missing required field is an error when it is sent."
        );
        replace(&mut structure.attrs, &[line]);
    }
    document_builders(module, docs);
}

/// The value of the document that a variant stands for.
fn value_of(variant: &Variant) -> String {
    let mut value = variant.ident.to_string();
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        // It fails on a key with a value of its own, beside which progenitor puts no `rename`.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                value = meta.value()?.parse::<LitStr>()?.value();
            }
            Ok(())
        });
    }
    value
}

/// Replaces the list of arguments, and drops the fragment that distinguishes the text variant of an operation.
fn document_operation(function: &mut ImplItemFn, docs: &Docs) {
    let builder = name::pascal(&function.sig.ident.to_string()).to_string();
    for attribute in &mut function.attrs {
        let Some(text) = doc_of(attribute) else { continue };
        let Some((before, example)) = text.split_once("```ignore") else { continue };
        let (before, _) = before.split_once("Arguments:").unwrap_or((before, ""));
        let list: String = docs
            .summaries(&builder)
            .map(|(name, summary)| format!("- [`{name}`](builder::{builder}::{name}): {summary}\n"))
            .collect();
        let lines: String = before.lines().map(|line| format!("{}\n", without_fragment(line))).collect();
        let heading = if list.is_empty() { "" } else { "Arguments:\n" };
        let text = format!("{lines}{heading}{list}\n```ignore{example}");
        *attribute = parse_quote!(#[doc = #text]);
    }
}

/// "Sends a `GET` request to `/path#operation`" with the path alone.
fn without_fragment(line: &str) -> String {
    match line.split_once('#') {
        Some((path, _)) if line.starts_with("Sends a `") => format!("{path}`"),
        _ => line.to_owned(),
    }
}

pub(super) fn functions(block: &mut ItemImpl) -> impl Iterator<Item = &mut ImplItemFn> {
    block.items.iter_mut().filter_map(|item| match item {
        ImplItem::Fn(function) => Some(function),
        _ => None,
    })
}

/// Puts `lines` in place of the docs; leaves them where there are none.
fn replace(attributes: &mut Vec<Attribute>, lines: &[String]) {
    if !lines.is_empty() {
        attributes.retain(|attribute| !attribute.path().is_ident("doc"));
        attributes.splice(0..0, self::attributes(lines));
    }
}

fn doc_of(attribute: &Attribute) -> Option<String> {
    let value = &attribute.meta.require_name_value().ok().filter(|pair| pair.path.is_ident("doc"))?.value;
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
