//! Operations: the impl of `Operation` for each, and the trait of all.

use std::collections::HashSet;

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote};

use super::{
    Emitter,
    input::input,
    names,
    request::{Request, parsed_query},
};
use crate::model::Operation;

impl Emitter<'_> {
    /// The types of an operation and how they belong together.
    pub(super) fn operation(&mut self, operation: &Operation) -> Option<TokenStream> {
        let ident = names::type_ident(&operation.id);
        let [request_ident, headers_ident] =
            ["Request", "Headers"].map(|suffix| format_ident!("{ident}{suffix}"));
        let request = self.request(operation)?;
        let headers = self.success_headers(operation)?;
        let error = self.error_type(operation)?;
        let success = self.success_type(operation)?;
        let status = self.status(operation)?;
        let extra = operation.success.content.iter().find(|media| {
            !(media.name == "application/json" || (media.name == "text/plain" && media.schema.name.is_none()))
        });
        if let Some(media) = extra {
            let help = "declare application/json, and under status 200 optionally text/plain";
            let message =
                format!("the server cannot respond with {} as {}", operation.success.status, media.name);
            return self.reject(&operation.success.pointer, message, help);
        }

        if let Some(body) = operation.body.as_ref().filter(|body| !body.required) {
            let help = "write `required: true`";
            return self.reject(&body.pointer, "unsupported: an optional request body", help);
        }
        let body_input = operation.body.as_ref().map(|body| {
            let input = input(&names::ident("Body"), None, &body.citation, None);
            quote! {
                /// The body, for messages.
                pub const BODY_INPUT: Input<'static> = #input;
            }
        });
        let body_const = if body_input.is_some() { quote!(Some(Self::BODY_INPUT)) } else { quote!(None) };
        let allow = self.allow(&operation.path);
        let (path, id) = (&operation.path, &operation.id);
        let parsed_query = parsed_query(operation, &quote!(query));
        let Request { types, fields, inputs, defaults, query: known, credential, reading, names, .. } =
            request;
        let known_count = known.len();
        let has_text = operation.success.content.iter().any(|media| media.name == "text/plain");
        let text = if has_text {
            quote!(crate::edge::responding::response::PlainText)
        } else {
            quote!(crate::edge::responding::response::NoTextBody)
        };
        let defaults = if defaults.is_empty() { defaults } else { quote!(impl #request_ident { #defaults }) };
        let marker_doc = format!(" The operation `{id}`: {} {path}.", operation.method);
        let request_doc = format!(" Request of `{id}`; all values are within their limits.");
        Some(quote! {
            #types

            #[doc = #marker_doc]
            #[derive(Clone, Copy, Debug)]
            pub struct #ident;

            impl #ident {
                /// The query parameters, by name.
                const QUERY: [&'static str; #known_count] = [#(#known),*];

                #body_input

                fn read_credential(
                    query: &mut Query<'_, #known_count>,
                    headers: &HeaderMap,
                ) -> Result<Token, RequestError> {
                    #credential
                }
            }

            #[doc = #request_doc]
            #[derive(Clone, Debug)]
            pub struct #request_ident { #fields }
            #defaults

            #headers

            impl Responses for #ident {
                const ALLOW: &'static str = #allow;
                #status
                type Text = #text;
                type Success = #success;
                type Headers = #headers_ident;
                type Error = #error;
            }

            impl Operation for #ident {
                const ID: &'static str = #id;
                const PATH: &'static str = #path;
                const BODY: Option<Input<'static>> = #body_const;
                type Request = #request_ident;

                fn token(request: &Self::Request) -> &Token {
                    &request.credential
                }

                fn credential(query: Option<&str>, headers: &HeaderMap) -> Result<Token, RequestError> {
                    Self::read_credential(&mut #parsed_query, headers)
                }

                fn read(parts: RequestParts<'_>) -> Result<Self::Request, RequestError> {
                    #inputs
                    #reading
                    Ok(#request_ident { #(#names),* })
                }
            }
        })
    }

    /// The body of a success.
    fn success_type(&mut self, operation: &Operation) -> Option<TokenStream> {
        let success = &operation.success;
        if success.content.is_empty() {
            return Some(quote!(crate::edge::responding::response::NoContent));
        }
        match success.json().and_then(|schema| schema.name.as_deref()) {
            Some(name) => Some(names::type_ident(name).into_token_stream()),
            None => {
                let help = "give the success a named schema under application/json";
                self.reject(&success.pointer, "the success has no named JSON body", help)
            }
        }
    }

    /// The status of a success, where it is not 200.
    fn status(&mut self, operation: &Operation) -> Option<Option<TokenStream>> {
        let success = &operation.success;
        let name = match (success.status.as_str(), success.content.is_empty()) {
            ("200", false) => return Some(None),
            ("201", false) => "CREATED",
            ("202", false) => "ACCEPTED",
            ("204", true) => "NO_CONTENT",
            (status, _) => {
                let help = "declare 200, 201 or 202 with application/json, or 204 without content";
                let message = format!("the server cannot respond with {status}");
                return self.reject(&success.pointer, message, help);
            }
        };
        let name = names::ident(name);
        Some(Some(quote!(const STATUS: http::StatusCode = http::StatusCode::#name;)))
    }

    /// The methods that a path has, as `Allow` lists them.
    fn allow(&self, path: &str) -> String {
        let methods = self.contract.operations.iter().filter(|operation| operation.path == path);
        methods.map(|operation| operation.method.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// The trait that a server implements.
    pub(super) fn api(&self) -> TokenStream {
        let contract = self.contract;
        let endpoints = contract.operations.iter().map(|operation| {
            let (ident, function) = (names::type_ident(&operation.id), names::field_ident(&operation.id));
            let (id, path) = (&operation.id, &operation.path);
            let method = names::ident(&operation.method.to_string());
            let summary = operation.summary.as_deref().unwrap_or_default();
            let description = operation.description.as_deref().unwrap_or_default();
            let doc = doc_lines_verbatim(&format!("{summary}\n\n{description}"));
            quote! {
                #doc
                #[endpoint { method = #method, path = #path, operation_id = #id }]
                async fn #function(
                    rqctx: RequestContext<Self::Context>,
                    request: RawRequest<#ident>,
                ) -> HandlerResult<#ident>;
            }
        });
        let endpoints: Vec<_> = endpoints.collect();
        let mut paths = HashSet::new();
        let firsts = contract.operations.iter().filter(|operation| paths.insert(&operation.path));
        let firsts: Vec<_> = firsts.map(|operation| names::type_ident(&operation.id)).collect();
        let ids = contract.operations.iter().map(|operation| &operation.id);
        // `status` has rejected those that are no number.
        let statuses = contract
            .operations
            .iter()
            .map(|operation| Literal::u16_unsuffixed(operation.success.status.parse().unwrap_or_default()));
        quote! {
            /// The `operationId` of every operation.
            pub const OPERATIONS: &[&str] = &[#(#ids),*];

            /// The HTTP status of a success of each, in the same order.
            pub const SUCCESS_STATUSES: &[u16] = &[#(#statuses),*];

            /// The API. A type that implements it is a server; nothing has a default.
            #[dropshot::api_description]
            pub trait Api {
                /// What every call needs of its server.
                type Context;

                #(#endpoints)*
            }

            /// Rejects, on each path, the methods that it does not have.
            ///
            /// # Errors
            /// As Dropshot's registration.
            pub fn reject_other_methods(
                api: &mut ApiDescription<Context>,
            ) -> Result<(), ApiDescriptionRegisterError> {
                #(reject_other_methods_of::<#firsts>(api)?;)*
                Ok(())
            }
        }
    }
}

/// Text as doc comments, as it is.
fn doc_lines_verbatim(text: &str) -> TokenStream {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}
