//! Documentation of what the generated client takes, in the words of the contract's page, so that each parameter has its
//! limits and clauses wherever it is set.

use std::collections::BTreeMap;

use syn::{Attribute, Expr, ExprLit, ImplItem, ImplItemFn, Item, ItemImpl, ItemMod, Lit, parse_quote};

use super::{name, postprocess::name_of};
use crate::{
    emit::docs::field::{self, FieldContext},
    lower,
    model::{Contract, Operation},
};

/// Lines of documentation by the name of a type and the name of its field or setter.
#[derive(Default)]
pub(super) struct Docs(BTreeMap<(String, String), Vec<String>>);

impl Docs {
    /// The docs of each operation's builders, and of the types of bodies.
    pub(super) fn read(contract: &Contract) -> Self {
        let mut docs = Self::default();
        for operation in &contract.operations {
            let mut builders = vec![name::pascal(&operation.id).to_string()];
            if operation.success.content.len() > 1 {
                builders.push(name::pascal(&lower::text_operation_id(&operation.id)).to_string());
            }
            for builder in builders {
                docs.add_builder(contract, operation, &builder);
            }
            docs.add_body(contract, operation);
        }
        docs
    }

    fn add_builder(&mut self, contract: &Contract, operation: &Operation, builder: &str) {
        for parameter in operation.builder_parameters() {
            let lines = field::parameter(contract, operation, parameter).rustdoc();
            self.add(builder, &parameter.name, lines);
        }
        if let Some(body) = &operation.body {
            self.add(builder, "body", field::body(body).rustdoc());
        }
    }

    fn add_body(&mut self, contract: &Contract, operation: &Operation) {
        let Some(body) = &operation.body else { return };
        let Some(owner) = body.schema.name.as_deref().map(name::pascal) else { return };
        let context = FieldContext { anchor: "", of: "", operation: Some(operation) };
        for field in field::properties(contract, context, &body.schema) {
            self.add(&owner.to_string(), field.name(), field.rustdoc());
        }
    }

    fn add(&mut self, owner: &str, name: &str, lines: Vec<String>) {
        self.0.insert((owner.to_owned(), name::snake(name).to_string()), lines);
    }

    /// The lines for `name` of `owner`; empty where it is not a parameter.
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

/// Documents setters of builders and fields of bodies, and shortens progenitor's lists of arguments to links to them.
pub(super) fn document(file: &mut syn::File, docs: &Docs) {
    for item in &mut file.items {
        match item {
            Item::Mod(module) if module.ident == "builder" => document_builders(module, docs),
            Item::Mod(module) if module.ident == "types" => document_bodies(module, docs),
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
                "new" => vec!["A request without arguments; `Client` has a method for it.".to_owned()],
                "body_map" => vec!["Changes the builder of the body.".to_owned()],
                _ => docs.lines(&owner, &name).to_vec(),
            };
            replace(&mut function.attrs, &lines);
        }
    }
}

fn document_bodies(module: &mut ItemMod, docs: &Docs) {
    for item in module.content.iter_mut().flat_map(|(_, items)| items) {
        match item {
            Item::Struct(structure) => {
                let owner = structure.ident.to_string();
                for field in &mut structure.fields {
                    let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                    replace(&mut field.attrs, docs.lines(&owner, &name));
                }
            }
            Item::Mod(inner) if inner.ident == "builder" => document_builders(inner, docs),
            _ => {}
        }
    }
}

/// Replaces the list of arguments, and drops the fragment that tells the text variant of an operation from the other one.
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

fn functions(block: &mut ItemImpl) -> impl Iterator<Item = &mut ImplItemFn> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    #[test]
    fn setters_and_fields_have_limits_default_and_clauses() {
        let contract = Contract::read(&Document::parse(crate::fixture::CONTRACT).unwrap()).unwrap();
        let docs = Docs::read(&contract);
        let facts = |owner: &str, name: &str| docs.lines(owner, name)[2].clone();
        for builder in ["ExtractProxies", "ExtractProxiesText"] {
            assert_eq!(
                facts(builder, "num"),
                "Required; from 1 to 100. Clauses: `extract.num-range`, `extract.num-required`."
            );
            assert!(
                facts(builder, "regions").contains("Default: `GLOBAL`. "),
                "{}",
                facts(builder, "regions")
            );
            assert!(
                facts(builder, "sb").contains("at most 32 bytes of UTF-8; required, and not empty, when")
            );
            assert!(docs.lines(builder, "country").is_empty(), "an alias is not sent");
        }
        assert!(facts("SearchRequest", "activated_to").contains("not earlier than `activatedFrom`"));
        assert!(facts("SearchRequest", "ips").contains("at most 500 distinct items"));
    }

    #[test]
    fn progenitors_docs_are_replaced() {
        let mut docs = Docs::default();
        docs.add("DoIt", "num", vec!["How many.".to_owned(), String::new(), "Required.".to_owned()]);
        let mut file = syn::parse_str(
            "impl Client {
                #[doc = \"Do it\\n\\nSends a `GET` request to `/it#doItText`\\n\\nArguments:\\n- `num`: Old.\\n```ignore\\nx\\n```\"]
                pub fn do_it(&self) {}
            }
            pub mod builder { impl<'a> DoIt<'a> { pub fn new() {} pub fn num(self) {}
                #[doc = \"Sends it\"] pub fn send(self) {} } }",
        )
        .unwrap();
        document(&mut file, &docs);
        let text = prettyplease::unparse(&file);
        assert!(text.contains("request to `/it`\n") && !text.contains("Old."), "{text}");
        assert!(text.contains("- [`num`](builder::DoIt::num): How many.\n"), "{text}");
        assert!(
            text.contains("/// How many.\n        ///\n        /// Required.\n        pub fn num"),
            "{text}"
        );
        assert!(text.contains("///Sends it") && text.contains("/// A request without arguments"), "{text}");
    }
}
