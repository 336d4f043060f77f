//! Fragments of the document as the emitted OpenAPI shall show them.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use serde_json::{Map, Value, json};

use super::{Emitter, names};
use crate::{
    document::{reference, values},
    model::{Kind, Schema},
};

/// A named part with its schema and description: a parameter or a header.
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    pub(super) required: bool,
    pub(super) description: Option<&'a str>,
    /// The schema as the document has it at the place of use, `$ref` included.
    pub(super) schema: Value,
}

impl Emitter<'_> {
    /// The impl that gives `ty` the schema `source` under `name`.
    pub(super) fn described(
        &mut self,
        ty: &TokenStream,
        name: &str,
        source: &Value,
        pointer: &str,
    ) -> TokenStream {
        let source = stripped(source);
        if let Err(error) = serde_json::from_value::<schemars::schema::Schema>(source.clone()) {
            let help = "keep to the keywords that openapi/README.md names";
            self.reject::<()>(pointer, format!("Dropshot cannot hold this schema: {error}"), help);
        }
        let mut referred: Vec<&str> = Vec::new();
        for target in values(&source).into_iter().filter_map(reference) {
            let name = target.strip_prefix("/components/schemas/");
            referred.extend(name.filter(|name| !referred.contains(name)));
        }
        let referred = referred.iter().map(|name| self.marker(name));
        let json = raw(&source.to_string());
        quote!(described!(#ty, #name, #json, [#(#referred),*]);)
    }

    /// The impl that gives `ty` the members of a query, a set of headers or a response's headers.
    pub(super) fn described_members(
        &mut self,
        ty: &TokenStream,
        members: &[Member<'_>],
        pointer: &str,
    ) -> TokenStream {
        let mut properties = Map::new();
        for Member { name, description, schema, .. } in members {
            // Dropshot takes the description for the part and leaves what is inside `allOf` as it is.
            properties.insert((*name).to_owned(), json!({"description": description, "allOf": [schema]}));
        }
        let required: Vec<_> =
            members.iter().filter(|member| member.required).map(|member| member.name).collect();
        let source = json!({"type": "object", "properties": properties, "required": required});
        self.described(ty, &ty.to_string(), &source, pointer)
    }

    /// A parameter or header with what stands under `schema` at its definition. Dropshot documents only scalars in a query, so
    /// that an array is shown by its items; `project` does the same.
    pub(super) fn member<'m>(
        &self,
        name: &'m str,
        required: bool,
        description: &'m Option<String>,
        pointer: &str,
    ) -> Member<'m> {
        let schema = self.document.get(&format!("{pointer}/schema")).unwrap_or(&Value::Null);
        let schema = self.document.resolve(schema).get("items").unwrap_or(schema).clone();
        Member { name, required, description: description.as_deref(), schema }
    }

    /// Types that exist for their schema alone: named schemas that Rust knows as a general type.
    pub(super) fn schema_markers(&mut self) -> TokenStream {
        let contract = self.contract;
        let mut markers = TokenStream::new();
        for schema in &contract.schemas {
            let Some(name) = schema.name.as_deref().filter(|_| !self.has_own_type(schema)) else { continue };
            let ident = names::type_ident(name);
            let doc = format!(" `{name}` of the document.");
            let described = self.described(&quote!(#ident), name, &schema.source, &schema.pointer);
            markers.extend(quote! {
                #[doc = #doc]
                #[derive(Debug, serde::Deserialize)]
                pub struct #ident {}
                #described
            });
        }
        quote! {
            /// Schemas of the document whose values have general types in Rust, for documentation alone.
            pub mod schemas {
                use super::*;

                #markers
            }
        }
    }

    /// Whether a named schema is a type of its own: an enum, or an object of a response.
    pub(super) fn has_own_type(&self, schema: &Schema) -> bool {
        match &schema.kind {
            Kind::Object { .. } => {
                let bodies = self.contract.operations.iter().filter_map(|operation| operation.body.as_ref());
                let mut sent = bodies.flat_map(|body| body.schema.all());
                !sent.any(|inner| inner.pointer == schema.pointer)
            }
            _ => schema.text_variants().is_some(),
        }
    }

    /// The path of the type that has the schema of that name.
    pub(super) fn marker(&self, name: &str) -> TokenStream {
        let ident = names::type_ident(name);
        let own = self.contract.schemas.iter().find(|schema| schema.name.as_deref() == Some(name));
        if own.is_none_or(|schema| self.has_own_type(schema)) {
            quote!(crate::api::generated::#ident)
        } else {
            quote!(crate::api::generated::schemas::#ident)
        }
    }
}

/// Text as a raw string, which people can read.
fn raw(text: &str) -> TokenStream {
    let literal = format!("r##\"{text}\"##");
    match literal.parse::<Literal>() {
        Ok(literal) if !text.contains("\"##") => quote!(#literal),
        _ => quote!(#text),
    }
}

/// The fragment without our extensions, which Dropshot would show.
fn stripped(source: &Value) -> Value {
    match source {
        Value::Object(map) => map
            .iter()
            .filter(|(key, value)| !(key.starts_with("x-") || *key == "description" && value.is_null()))
            .map(|(key, value)| {
                // The names of properties are not keywords.
                let inner = match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        properties.iter().map(|(name, schema)| (name.clone(), stripped(schema))).collect()
                    }
                    ("example" | "default" | "enum", value) => value.clone(),
                    (_, value) => stripped(value),
                };
                (key.clone(), inner)
            })
            .collect(),
        Value::Array(list) => list.iter().map(stripped).collect(),
        scalar => scalar.clone(),
    }
}
