//! The headers of a success.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{Emitter, names, types::doc};
use crate::model::{Kind, Operation, Side};

/// The name of a header, which is looked at when the server is built, and not with every call.
pub(super) fn header_name(name: &str) -> TokenStream {
    let lower = name.to_ascii_lowercase();
    quote!(const { HeaderName::from_static(#lower) })
}

impl Emitter<'_> {
    /// The struct of an operation's success headers, and how they are written.
    pub(super) fn success_headers(&mut self, operation: &Operation) -> Option<TokenStream> {
        let ident = format_ident!("{}Headers", names::pascal(&operation.id));
        let mut fields = TokenStream::new();
        let mut writes = TokenStream::new();
        let mut enums = TokenStream::new();
        for header in &operation.success.headers {
            let name = &header.name;
            let constant = header_name(name);
            let hint = format!("{}-{name}", operation.id);
            let ty = self.rust_type(&header.schema, &hint, Side::Response)?;
            let field = names::field_ident(name);
            let doc = doc(&header.description, &header.citation, &format!("`{name}`."));
            let text = match &header.schema.kind {
                Kind::String { .. } if header.schema.variants.is_some() => {
                    if header.schema.name.is_none() {
                        enums.extend(self.text_enum(
                            &header.schema,
                            &names::pascal(&hint),
                            Side::Response,
                        )?);
                    }
                    quote!(HeaderValue::from_static(value.as_str()))
                }
                Kind::String { .. } => quote!(HeaderValue::try_from(value)?),
                Kind::Integer { .. } | Kind::Boolean if header.schema.variants.is_some() => {
                    let help = "leave out the enum, or make it one of strings";
                    let message = "unsupported: a header with a numeric `enum`";
                    return self.reject(&header.schema.pointer, message, help);
                }
                Kind::Integer { minimum: None, maximum: None, .. } => quote!(number(value)?),
                Kind::Integer { .. } => quote!(number(value.get())?),
                Kind::Boolean => quote!(HeaderValue::from_static(if value { "true" } else { "false" })),
                _ => {
                    let help = "use a string, an integer or a boolean";
                    let message = "unsupported: a header that is a list or an object";
                    return self.reject(&header.schema.pointer, message, help);
                }
            };
            if header.required {
                fields.extend(quote!(#doc pub #field: #ty,));
                writes.extend(quote!(let value = self.#field; headers.insert(#constant, #text);));
            } else {
                fields.extend(quote!(#doc pub #field: Option<#ty>,));
                writes.extend(quote!(if let Some(value) = self.#field { headers.insert(#constant, #text); }));
            }
        }
        let headers = if operation.success.headers.is_empty() { quote!(_) } else { quote!(headers) };
        let summary = format!(" Headers of a success of `{}`.", operation.id);
        Some(quote! {
            #[doc = #summary]
            #[derive(Clone, Debug, PartialEq, Serialize)]
            pub struct #ident { #fields }
            #enums

            impl SuccessHeaders for #ident {
                fn write(self, #headers: &mut HeaderMap) -> Result<(), InvalidHeaderValue> {
                    #writes
                    Ok(())
                }
            }
        })
    }
}
