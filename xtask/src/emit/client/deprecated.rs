//! `#[deprecated]` on what callers should stop using: setters of builders, fields and values of enums.

use std::collections::BTreeMap;

use syn::{Attribute, File, ImplItem, Item, ItemMod, parse_quote};

use super::{name, postprocess::name_of};
use crate::{
    lower,
    model::{Contract, Deprecation, Schema},
};

/// What is said of a part, by the name of its type and the name of its field, setter or variant.
#[derive(Default)]
pub(super) struct Deprecated(BTreeMap<(String, String), String>);

impl Deprecated {
    /// The deprecated operations, parameters, fields and values of a contract.
    pub(super) fn read(contract: &Contract) -> Self {
        let mut found = Self::default();
        for operation in &contract.operations {
            for builder in &lower::builder_ids(operation) {
                if let Some(deprecation) = &operation.deprecation {
                    found.add("Client", &name::snake(builder).to_string(), deprecation);
                }
                for parameter in operation.builder_parameters() {
                    if let Some(deprecation) = &parameter.deprecation {
                        let owner = name::pascal(builder).to_string();
                        found.add(&owner, &name::snake(&parameter.name).to_string(), deprecation);
                    }
                }
            }
            let bodies = operation.body.iter().map(|body| &body.schema);
            let results = operation.success.content.iter().map(|media| &media.schema);
            let parameters = operation.parameters.iter().map(|parameter| &parameter.schema);
            let schemas = bodies.chain(results).chain(parameters).flat_map(Schema::all);
            schemas.for_each(|schema| found.add_schema(schema));
        }
        found
    }

    /// The values of an enum, and the properties of an object.
    fn add_schema(&mut self, schema: &Schema) {
        let Some(owner) = schema.name.as_deref().map(|name| name::pascal(name).to_string()) else { return };
        for (value, deprecation) in &schema.deprecated_values {
            self.add(&owner, &name::pascal(value).to_string(), deprecation);
        }
        for property in schema.properties() {
            if let Some(deprecation) = &property.schema.deprecation {
                self.add(&owner, &name::snake(&property.name).to_string(), deprecation);
            }
        }
    }

    fn add(&mut self, owner: &str, name: &str, deprecation: &Deprecation) {
        self.0.insert((owner.to_owned(), name.to_owned()), deprecation.to_string());
    }

    /// The attribute of a part; none where it is not deprecated.
    pub(super) fn attribute(&self, owner: &str, name: &str) -> Option<Attribute> {
        let note = self.0.get(&(owner.to_owned(), name.to_owned()))?;
        Some(parse_quote!(#[deprecated(note = #note)]))
    }

    /// Marks the parts of a generated file. The generated code goes on using them.
    pub(super) fn mark(&self, file: &mut File) {
        if self.0.is_empty() {
            return;
        }
        file.attrs.push(parse_quote!(#![allow(deprecated, reason = "what is deprecated can still be sent")]));
        self.mark_items(&mut file.items);
    }

    fn mark_items(&self, items: &mut [Item]) {
        for item in items {
            match item {
                Item::Struct(item) => {
                    let owner = item.ident.to_string();
                    for field in &mut item.fields {
                        // A builder keeps its arguments in fields that nobody else sees.
                        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                        if matches!(field.vis, syn::Visibility::Public(_)) {
                            field.attrs.extend(self.attribute(&owner, &name));
                        }
                    }
                }
                Item::Enum(item) => {
                    let owner = item.ident.to_string();
                    for variant in &mut item.variants {
                        variant.attrs.extend(self.attribute(&owner, &variant.ident.to_string()));
                    }
                }
                Item::Impl(block) if block.trait_.is_none() => {
                    let owner = name_of(&block.self_ty);
                    for item in &mut block.items {
                        let ImplItem::Fn(function) = item else { continue };
                        let mark = self.attribute(&owner, &function.sig.ident.to_string());
                        function.attrs.extend(mark);
                    }
                }
                Item::Mod(ItemMod { content: Some((_, items)), .. }) => self.mark_items(items),
                _ => {}
            }
        }
    }
}
