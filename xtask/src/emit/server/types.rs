//! The Rust type of a schema, and the types that the document gives a name.

use std::collections::HashSet;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, quote};
use serde_json::Value;

use super::Emitter;
use crate::{
    emit::name,
    model::{Format, Kind, Property, Schema, Side, field},
};

impl Emitter<'_> {
    /// Every named schema that is a type of its own: enums and objects.
    pub(super) fn named_types(&mut self) -> TokenStream {
        let operations = &self.contract.operations;
        let bodies = operations.iter().filter_map(|operation| Some(&operation.body.as_ref()?.schema));
        let requests: HashSet<&str> = bodies.flat_map(Schema::all).map(|schema| &*schema.pointer).collect();
        let errors = operations.iter().flat_map(|operation| &operation.errors);
        let errors: HashSet<&str> = errors.filter_map(|response| Some(&*response.json()?.pointer)).collect();
        let mut types = TokenStream::new();
        for schema in &self.contract.schemas {
            let Schema { name: Some(name), kind, pointer, .. } = schema else { continue };
            let ident = name::pascal(name);
            match kind {
                Kind::String => types.extend(text_enum(schema, &ident)),
                Kind::Object if requests.contains(pointer.as_str()) => {
                    types.extend(self.object(schema, &ident, Side::Request));
                }
                Kind::Object => {
                    let is_error = errors.contains(pointer.as_str());
                    self.is_stored =
                        !is_error && schema.properties().iter().all(|property| !property.required);
                    types.extend(self.object(schema, &ident, Side::Response));
                    self.is_stored = false;
                    if is_error {
                        types.extend(envelope(schema.properties(), &ident));
                    }
                }
                Kind::Integer | Kind::Boolean | Kind::Array => {}
            }
        }
        types
    }

    fn object(&mut self, schema: &Schema, ident: &Ident, side: Side) -> TokenStream {
        let derive = match side {
            Side::Request => quote!(#[derive(Clone, Debug, Deserialize)]),
            // An object that may be empty, such as capabilities, is stored as it is sent.
            Side::Response if self.is_stored => quote! {
                #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
                #[serde(default, deny_unknown_fields)]
            },
            Side::Response => quote!(#[derive(Clone, Debug, PartialEq, Serialize)]),
        };
        let summary = doc(schema.description.as_deref().unwrap_or(&ident.to_string()));
        let fields = schema.properties().iter().map(|property| {
            let doc = doc(&field::property(property, side).join("\n"));
            self.field(&property.name, property.required, &property.schema, side, doc)
        });
        let fields: Vec<_> = fields.collect();
        let filters = if side == Side::Request { self.filters(schema, ident) } else { None };
        quote! {
            #summary
            #derive
            pub struct #ident { #(#fields)* }
            #filters
        }
    }

    /// A field of a struct. An absent value that has a default is filled in before a request is read.
    pub(super) fn field(
        &mut self,
        name: &str,
        required: bool,
        schema: &Schema,
        side: Side,
        doc: TokenStream,
    ) -> TokenStream {
        let (ident, ty) = (name::snake(name), self.rust_type(schema, side));
        let is_present = required || (side == Side::Request && schema.default.is_some());
        let (attribute, ty) = match (is_present, schema.nullable, side) {
            (true, false, _) => (None, ty),
            (true, true, _) | (false, false, Side::Request) => (None, quote!(Option<#ty>)),
            (false, true, Side::Request) => {
                let nullable = quote!(, default, deserialize_with = "crate::edge::reading::nullable");
                (Some(nullable), quote!(Option<Option<#ty>>))
            }
            (false, _, Side::Response) => {
                (Some(quote!(, skip_serializing_if = "Option::is_none")), quote!(Option<#ty>))
            }
        };
        quote!(#doc #[serde(rename = #name #attribute)] pub #ident: #ty,)
    }

    /// The type of a value of `schema`.
    pub(super) fn rust_type(&mut self, schema: &Schema, side: Side) -> TokenStream {
        let Schema { name, kind, variants, pointer, .. } = schema;
        match (kind, variants.as_deref()) {
            (Kind::Object, _) | (Kind::String, Some(_)) => match name {
                Some(name) => name::pascal(name).into_token_stream(),
                None => {
                    let help = "give it a name under components/schemas";
                    self.report(pointer, "unsupported: an object or an enum without a name", help)
                }
            },
            (Kind::String, None) => match (schema.format, side) {
                (Some(Format::DateTime), Side::Request) => quote!(DateTime),
                (Some(Format::DateTime), Side::Response) => quote!(Timestamp),
                (Some(Format::Ipv4), _) => quote!(std::net::Ipv4Addr),
                _ if schema.endpoint_ports().is_some() => quote!(Address),
                (_, Side::Request) => quote!(String),
                (_, Side::Response) => quote!(SmolStr),
            },
            (Kind::Integer, Some([Value::Number(number)])) => {
                let number = Literal::i64_unsuffixed(number.as_i64().unwrap_or_default());
                quote!(Constant<#number>)
            }
            (Kind::Integer, None) => match (schema.limit("minimum"), schema.limit("maximum")) {
                (Some(0..), Some(0..=0xffff_ffff)) => quote!(u32),
                // Days and counts, of which imports take no others.
                _ if self.is_stored && schema.format.is_none() => quote!(u32),
                _ => quote!(i64),
            },
            (Kind::Integer, _) => quote!(i64),
            (Kind::Boolean, Some([Value::Bool(value)])) => quote!(ConstantBool<#value>),
            (Kind::Boolean, _) => quote!(bool),
            (Kind::Array, _) => {
                let item = schema.items().map(|items| self.rust_type(items, side));
                quote!(Vec<#item>)
            }
        }
    }
}

/// A string enum.
fn text_enum(schema: &Schema, ident: &Ident) -> Option<TokenStream> {
    let values = schema.text_variants()?;
    let variants: Vec<_> = values.iter().map(|value| name::pascal(value)).collect();
    let docs = values.iter().map(|value| format!(" `{}`", value.escape_debug()));
    let doc = doc(schema.description.as_deref().unwrap_or(&ident.to_string()));
    let separators = separators(schema, ident, &variants);
    Some(quote! {
        #doc
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum #ident {
            #(#[doc = #docs] #[serde(rename = #values)] #variants,)*
        }

        named!(#ident { #(#variants = #values),* });

        #separators
    })
}

/// `x-separators`: the text of each value, where it has one.
fn separators(schema: &Schema, ident: &Ident, variants: &[Ident]) -> Option<TokenStream> {
    schema.separators.as_ref()?;
    let texts = schema.text_variants()?.into_iter().map(|value| match schema.separator(value) {
        Some(text) => quote!(Some(#text)),
        None => quote!(None),
    });
    Some(quote! {
        impl #ident {
            /// The text that the value stands for; `None` where another parameter has it.
            #[must_use]
            pub const fn separator(self) -> Option<&'static str> {
                match self { #(Self::#variants => #texts,)* }
            }
        }
    })
}

/// How the body of an error response is filled. A further field that is required stops the build.
fn envelope(properties: &[Property], ident: &Ident) -> TokenStream {
    let values = properties.iter().map(|Property { name, required, .. }| {
        let field = name::snake(name);
        match name.as_str() {
            "code" if *required => quote!(#field),
            "code" => quote!(#field: Some(#field)),
            "message" if *required => quote!(#field: #field.into()),
            "message" => quote!(#field: Some(#field.into())),
            "requestId" => quote!(#field: request_id.map(Into::into)),
            _ => quote!(#field: None),
        }
    });
    quote! {
        impl ErrorEnvelope for #ident {
            #[allow(unused_variables, reason = "the document may have no field for it")]
            fn new(code: i64, message: String, request_id: Option<&str>) -> Self {
                Self { #(#values),* }
            }
        }
    }
}

/// Text as doc comments, a line each.
pub(super) fn doc(text: &str) -> TokenStream {
    // Rustdoc would take <API_KEY> for HTML and [IPv6] for a link.
    let text = text
        .replace('<', "\\<")
        .replace("[IPv6]", "\\[IPv6\\]")
        .replace("`\\[IPv6\\]:port`", "`[IPv6]:port`");
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}
