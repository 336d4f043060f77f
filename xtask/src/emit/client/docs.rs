//! Documentation of the generated client, with the limits and clauses of each parameter and field.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use syn::{Attribute, ImplItem, ItemEnum, ItemImpl, ItemStruct, parse_quote, visit_mut::VisitMut};

use super::postprocess::name_of;
use crate::{
    emit::{field, name},
    lower,
    model::{Contract, Operation, Schema},
};

/// Lines of documentation by the name of a type and the name of its field, setter or variant.
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
            let variant = name::pascal(value).to_string();
            self.0.insert((owner.to_owned(), variant), vec![format!("{words}.")]);
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

    /// Puts the lines for `name` of `owner` in place of the docs; leaves them where there are none.
    fn replace(&self, owner: &str, name: &Ident, attributes: &mut Vec<Attribute>) {
        let lines = self.lines(owner, &name.to_string());
        if !lines.is_empty() {
            attributes.retain(|attribute| !attribute.path().is_ident("doc"));
            attributes.splice(0..0, self::attributes(lines));
        }
    }
}

/// Adds limits and clauses to the documentation that progenitor writes.
impl VisitMut for &Docs {
    fn visit_item_struct_mut(&mut self, structure: &mut ItemStruct) {
        let owner = structure.ident.to_string();
        for field in &mut structure.fields {
            if let Some(name) = &field.ident {
                self.replace(&owner, name, &mut field.attrs);
            }
        }
    }

    fn visit_item_enum_mut(&mut self, choice: &mut ItemEnum) {
        let owner = choice.ident.to_string();
        for variant in &mut choice.variants {
            self.replace(&owner, &variant.ident, &mut variant.attrs);
        }
    }

    fn visit_item_impl_mut(&mut self, block: &mut ItemImpl) {
        let owner = name_of(&block.self_ty);
        for item in &mut block.items {
            if let ImplItem::Fn(function) = item {
                self.replace(&owner, &function.sig.ident, &mut function.attrs);
            }
        }
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
