//! Operations: the request and the headers of each, how its types belong together, and the list of all.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::Value;

use super::{Emitter, types::doc};
use crate::{
    emit::name,
    model::{Header, Operation, Parameter, Response, Side, field},
};

impl Emitter<'_> {
    /// The types of an operation and how they belong together.
    pub(super) fn operation(&mut self, operation: &Operation) -> TokenStream {
        let Operation { id, path, method, success, .. } = operation;
        let ident = name::pascal(id);
        let [request_ident, headers_ident] =
            ["Request", "Headers"].map(|suffix| format_ident!("{ident}{suffix}"));
        let (request, headers) = (self.request(operation), self.success_headers(operation));
        // The lint requires one schema for all errors.
        let error = operation.errors.iter().find_map(Response::json);
        let error = error.map(|schema| self.rust_type(schema, Side::Response));
        let body = match success.json() {
            Some(schema) => self.rust_type(schema, Side::Response),
            None => quote!(NoContent),
        };
        let has_text = success.content.iter().any(|media| media.name == "text/plain");
        let text = if has_text { quote!(String) } else { quote!(NoTextBody) };
        let status = match success.status.as_str() {
            "201" => Some(quote!(CREATED)),
            "202" => Some(quote!(ACCEPTED)),
            "204" => Some(quote!(NO_CONTENT)),
            _ => None,
        };
        let status = status.map(|name| quote!(const STATUS: StatusCode = StatusCode::#name;));
        let methods = self.contract.operations.iter().filter(|other| other.path == *path);
        let allow = methods.map(|other| other.method.to_string()).collect::<Vec<_>>().join(", ");
        let summary = format!(" The operation `{id}`: {method} {path}.");
        quote! {
            #[doc = #summary]
            #[derive(Clone, Copy, Debug)]
            pub struct #ident;

            #request
            #headers

            impl Responses for #ident {
                const ALLOW: &'static str = #allow;
                #status
                type Text = #text;
                type Success = #body;
                type Headers = #headers_ident;
                type Error = #error;
            }

            impl Operation for #ident {
                const ID: &'static str = #id;
                const PATH: &'static str = #path;
                type Request = #request_ident;
            }
        }
    }

    /// The struct of a request, but for its token: a field for each parameter that has a value of its own, and the body.
    fn request(&mut self, operation: &Operation) -> TokenStream {
        let ident = name::pascal(&format!("{}-Request", operation.id));
        let (mut fields, mut defaults) = (TokenStream::new(), TokenStream::new());
        for parameter in operation.distinct_parameters() {
            let Parameter { name, schema, required, .. } = parameter;
            let doc = doc(&field::parameter(parameter).join("\n"));
            fields.extend(self.field(name, *required, schema, Side::Request, doc));
            if let (Some(Value::String(text)), None) = (&schema.default, &schema.variants) {
                let constant = name::constant(&format!("{name}-default"));
                let summary = format!(" What an absent `{name}` stands for.");
                defaults.extend(quote!(#[doc = #summary] pub const #constant: &'static str = #text;));
            }
        }
        if let Some(body) = &operation.body {
            let doc = doc(&field::body(body).join("\n"));
            fields.extend(self.field("body", true, &body.schema, Side::Request, doc));
        }
        let defaults = (!defaults.is_empty()).then(|| quote!(impl #ident { #defaults }));
        let summary = format!(" Request of `{}`, but for its token.", operation.id);
        quote! {
            #[doc = #summary]
            #[derive(Clone, Debug, Deserialize)]
            pub struct #ident { #fields }
            #defaults
        }
    }

    /// The struct of an operation's success headers, and how they are written. A header with a single value has no field.
    fn success_headers(&mut self, operation: &Operation) -> TokenStream {
        let ident = name::pascal(&format!("{}-Headers", operation.id));
        let (mut fields, mut writes) = (TokenStream::new(), TokenStream::new());
        for Header { name, required, description, schema, .. } in &operation.success.headers {
            let value = match schema.variants.as_deref() {
                Some([Value::String(only)]) if *required => quote!(#only),
                _ => {
                    let field = name::snake(name);
                    let ty = self.rust_type(schema, Side::Response);
                    let ty = if *required { ty } else { quote!(Option<#ty>) };
                    let doc = doc(description.as_deref().unwrap_or(name));
                    fields.extend(quote!(#doc pub #field: #ty,));
                    quote!(self.#field)
                }
            };
            let lower = name.to_ascii_lowercase();
            writes.extend(quote!(set_header(headers, const { HeaderName::from_static(#lower) }, #value)?;));
        }
        let headers = if writes.is_empty() { quote!(_) } else { quote!(headers) };
        let summary = format!(" Headers of a success of `{}`.", operation.id);
        quote! {
            #[doc = #summary]
            #[derive(Clone, Debug, PartialEq)]
            pub struct #ident { #fields }

            impl SuccessHeaders for #ident {
                fn write(self, #headers: &mut HeaderMap) -> Result<(), InvalidHeaderValue> {
                    #writes
                    Ok(())
                }
            }
        }
    }

    /// The list of all operations.
    pub(super) fn all(&self) -> TokenStream {
        let operations = self.contract.operations.iter().map(|operation| name::pascal(&operation.id));
        quote! {
            /// Passes the type of every operation to a macro.
            macro_rules! each_operation {
                ($do:ident) => { $do! { #(crate::api::generated::#operations,)* } };
            }
            pub(crate) use each_operation;
        }
    }
}
