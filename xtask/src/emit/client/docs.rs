//! Documentation of the generated client, with the limits and clauses of each parameter and field.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use syn::{Attribute, ImplItem, ItemImpl, ItemStruct, parse_quote, visit_mut::VisitMut};

use super::postprocess::name_of;
use crate::{
    emit::{field, name},
    lower,
    model::{Contract, Side},
};

/// Lines of documentation by the name of a type and the name of its field or setter.
#[derive(Default)]
pub(super) struct Docs(BTreeMap<(String, String), Vec<String>>);

impl Docs {
    /// The docs of each type, and of each operation's builders.
    pub(super) fn read(contract: &Contract) -> Self {
        let mut docs = Self::default();
        let responses = lower::reachable_from_responses(contract);
        for schema in &contract.schemas {
            let Some(name) = &schema.name else { continue };
            let side = if responses.contains(name) { Side::Response } else { Side::Request };
            for property in schema.properties() {
                docs.add(&name::pascal(name).to_string(), &property.name, field::property(property, side));
            }
        }
        for operation in &contract.operations {
            for builder in lower::builder_ids(operation) {
                let owner = name::pascal(&builder).to_string();
                for parameter in operation.distinct_parameters() {
                    docs.add(&owner, &parameter.name, field::parameter(parameter));
                }
                if let Some(body) = &operation.body {
                    docs.add(&owner, "body", field::body(body));
                }
            }
        }
        docs
    }

    fn add(&mut self, owner: &str, name: &str, lines: Vec<String>) {
        self.0.insert((owner.to_owned(), name::snake(name).to_string()), lines);
    }

    /// The lines for `name` of `owner`; empty where the document has no such name.
    fn lines(&self, owner: &str, name: &str) -> &[String] {
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
