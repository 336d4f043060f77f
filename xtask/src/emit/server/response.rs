//! Responses: the objects of a success, the envelopes of an error.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};

use super::{Emitter, names, types::doc};
use crate::model::{Kind, Operation, Property, Schema, Side};

/// The fields that an error's envelope can have, and what stands in them.
const ENVELOPE: [(&str, &str); 3] = [("code", "integer"), ("message", "string"), ("requestId", "string")];

impl Emitter<'_> {
    /// Every named schema that is a type of its own: enums, and the objects of responses.
    pub(super) fn named_types(&mut self) -> TokenStream {
        let contract = self.contract;
        let errors: BTreeSet<&str> = contract
            .operations
            .iter()
            .flat_map(|operation| &operation.errors)
            .filter_map(|response| response.json()?.name.as_deref())
            .collect();
        let mut types = TokenStream::new();
        for schema in contract.schemas.iter().filter(|schema| self.has_own_type(schema)).collect::<Vec<_>>() {
            let Some(name) = schema.name.as_deref() else { continue };
            types.extend(match &schema.kind {
                Kind::Object { properties } if errors.contains(name) => {
                    self.envelope(schema, name, properties)
                }
                Kind::Object { properties } => self.object(schema, name, properties),
                _ => self.text_enum(schema, &names::pascal(name), Side::Request),
            });
        }
        types
    }

    /// Whether a named schema is a type of its own: an enum, or an object of a response.
    fn has_own_type(&self, schema: &Schema) -> bool {
        match &schema.kind {
            Kind::Object { .. } => {
                let bodies = self.contract.operations.iter().filter_map(|operation| operation.body.as_ref());
                let mut sent = bodies.flat_map(|body| body.schema.all());
                !sent.any(|inner| inner.pointer == schema.pointer)
            }
            _ => schema.text_variants().is_some(),
        }
    }

    fn object(&mut self, schema: &Schema, name: &str, properties: &[Property]) -> Option<TokenStream> {
        let ident = names::type_ident(name);
        let doc = doc(&schema.description, &schema.citation, &format!("`{name}` of the document."));
        let mut fields = TokenStream::new();
        let mut enums = TokenStream::new();
        for property in properties {
            let (field, own) = self.response_field(name, property)?;
            fields.extend(field);
            enums.extend(own);
        }
        Some(quote! {
            #doc
            #[derive(Clone, Debug, PartialEq, Serialize)]
            pub struct #ident { #fields }
            #enums
        })
    }

    /// A field of a response, and the enum that it has for itself, if any.
    fn response_field(
        &mut self,
        owner: &str,
        property: &Property,
    ) -> Option<(TokenStream, Option<TokenStream>)> {
        let Property { name, required, schema } = property;
        let hint = format!("{owner}-{name}");
        let ty = self.rust_type(schema, &hint, Side::Response)?;
        let own = match (&schema.kind, &schema.name, &schema.variants) {
            (Kind::String { .. }, None, Some(_)) => {
                Some(self.text_enum(schema, &names::pascal(&hint), Side::Response)?)
            }
            _ => None,
        };
        let ident = names::field_ident(name);
        let doc = doc(&schema.description, &schema.citation, &format!("`{name}`."));
        let field = match (required, schema.nullable) {
            (true, false) => quote!(#[serde(rename = #name)] pub #ident: #ty,),
            (true, true) => quote!(#[serde(rename = #name)] pub #ident: Option<#ty>,),
            (false, false) => {
                quote!(#[serde(rename = #name, skip_serializing_if = "Option::is_none")] pub #ident: Option<#ty>,)
            }
            (false, true) => {
                let help = "make the field of the response required or not nullable";
                let message = "unsupported: a field of a response that may be absent and null";
                return self.reject(&schema.pointer, message, help);
            }
        };
        Some((quote!(#doc #field), own))
    }

    /// The body of error responses.
    fn envelope(&mut self, schema: &Schema, name: &str, properties: &[Property]) -> Option<TokenStream> {
        let object = self.object(schema, name, properties)?;
        let ident = names::type_ident(name);
        let mut values = TokenStream::new();
        for Property { name, required, schema } in properties {
            let known = ENVELOPE.iter().any(|(known, kind)| known == name && *kind == schema.kind.name());
            let plain = !schema.nullable && schema.variants.is_none();
            let field = names::field_ident(name);
            let value = match name.as_str() {
                _ if !known || !plain => {
                    let help =
                        "an envelope has an integer `code`, a string `message` and a string `requestId`";
                    let message = "the server cannot fill this field of an error response";
                    return self.reject(&schema.pointer, message, help);
                }
                "code" => quote!(code),
                "message" => quote!(message),
                _ if *required => {
                    let help = "leave requestId optional; a rejection by Dropshot itself has none";
                    return self.reject(&schema.pointer, "requestId is required in an error response", help);
                }
                _ => {
                    values.extend(quote!(#field: request_id.map(str::to_owned),));
                    continue;
                }
            };
            values.extend(if *required { quote!(#value,) } else { quote!(#field: Some(#value),) });
        }
        let request_id = if properties.iter().any(|property| property.name == "requestId") {
            quote!(request_id)
        } else {
            quote!(_)
        };
        Some(quote! {
            #object

            impl ErrorEnvelope for #ident {
                fn new(code: i64, message: String, #request_id: Option<&str>) -> Self {
                    Self { #values }
                }
            }
        })
    }

    /// The name of the one schema that all error responses of an operation have.
    pub(super) fn error_type(&mut self, operation: &Operation) -> Option<TokenStream> {
        let names: BTreeSet<_> =
            operation.errors.iter().filter_map(|response| response.json()?.name.clone()).collect();
        let named = operation
            .errors
            .iter()
            .all(|response| response.json().is_some_and(|schema| schema.name.is_some()));
        match (names.len(), named, names.first()) {
            (1, true, Some(name)) => Some(names::type_ident(name).into_token_stream()),
            _ => {
                let help = "give all error responses of the operation one named JSON schema";
                let message = "the error responses of the operation have several bodies or none";
                self.reject(&operation.pointer, message, help)
            }
        }
    }
}
