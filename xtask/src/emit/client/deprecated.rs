//! `#[deprecated]` on what callers should stop using: setters of builders, fields and values of enums.

use std::collections::BTreeMap;

use syn::{Attribute, File, ItemEnum, ItemImpl, ItemStruct, Visibility, parse_quote, visit_mut::VisitMut};

use super::{docs::functions, name, postprocess::name_of};
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
                for parameter in operation.distinct_parameters() {
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
    fn attribute(&self, owner: &str, name: &str) -> Option<Attribute> {
        let note = self.0.get(&(owner.to_owned(), name.to_owned()))?;
        Some(parse_quote!(#[deprecated(note = #note)]))
    }

    /// Marks the parts of a generated file. The generated code goes on using them.
    pub(super) fn mark(&self, file: &mut File) {
        if self.0.is_empty() {
            return;
        }
        file.attrs.push(parse_quote!(#![allow(deprecated, reason = "what is deprecated can still be sent")]));
        Marks(self).visit_file_mut(file);
    }
}

struct Marks<'a>(&'a Deprecated);

impl VisitMut for Marks<'_> {
    fn visit_item_struct_mut(&mut self, item: &mut ItemStruct) {
        let owner = item.ident.to_string();
        // A builder keeps its arguments in fields that nobody else sees.
        for field in item.fields.iter_mut().filter(|field| matches!(field.vis, Visibility::Public(_))) {
            let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
            field.attrs.extend(self.0.attribute(&owner, &name));
        }
    }

    fn visit_item_enum_mut(&mut self, item: &mut ItemEnum) {
        for variant in &mut item.variants {
            variant.attrs.extend(self.0.attribute(&item.ident.to_string(), &variant.ident.to_string()));
        }
    }

    fn visit_item_impl_mut(&mut self, block: &mut ItemImpl) {
        if block.trait_.is_none() {
            let owner = name_of(&block.self_ty);
            for function in functions(block) {
                function.attrs.extend(self.0.attribute(&owner, &function.sig.ident.to_string()));
            }
        }
    }
}
