//! Emits the server's API: limits, request types that hold only valid values, responses, and the Dropshot trait.
//!
//! The generated file is declarations and calls; how a value is parsed or rejected is written by hand in
//! `server/src/edge/`. Whatever the edge cannot do is a [`Problem`] here, so that no constraint is lost.

mod enforce;
mod headers;
mod input;
mod names;
mod operation;
mod request;
mod response;
mod rules;
mod separator;
#[cfg(test)]
mod tests;
mod types;

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

pub(crate) use enforce::enforces;

use super::GENERATED;
use crate::{artifact::Artifact, document::Document, model::Contract, problem::Problem};

const PATH: &str = "server/src/api/generated.rs";

/// The files that the server is built from.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let file: syn::File = syn::parse2(tokens(document)?).map_err(|error| {
        let help = "this is a fault of xtask/src/emit/server: report it with the document";
        vec![document.problem("", format!("the server's code is not Rust: {error}"), help)]
    })?;
    let contents = format!("{GENERATED}\n{}", prettyplease::unparse(&file));
    Ok(vec![Artifact { path: PATH, contents }])
}

/// The generated file before it is laid out.
fn tokens(document: &Document) -> Result<TokenStream, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let mut emitter = Emitter {
        document,
        contract: &contract,
        operation: None,
        declared: BTreeSet::new(),
        problems: Vec::new(),
    };
    let tokens = emitter.file();
    if emitter.problems.is_empty() {
        return Ok(tokens);
    }
    Problem::sort(&mut emitter.problems);
    Err(emitter.problems)
}

/// The document while its code is written.
struct Emitter<'a> {
    document: &'a Document,
    contract: &'a Contract,
    operation: Option<&'a str>,
    /// Types of requests that have been declared.
    declared: BTreeSet<String>,
    problems: Vec<Problem>,
}

impl Emitter<'_> {
    /// Notes what the server cannot express and gives `None`, so that the rest is checked as well.
    fn reject<T>(&mut self, pointer: &str, message: impl Into<String>, help: &str) -> Option<T> {
        let mut problem = self.document.problem(pointer, message, help);
        problem.operation = self.operation.map(str::to_owned);
        self.problems.push(problem);
        None
    }

    fn file(&mut self) -> TokenStream {
        let contract = self.contract;
        let named = self.named_types();
        let mut operations = TokenStream::new();
        for operation in &contract.operations {
            self.operation = Some(&operation.id);
            operations.extend(self.operation(operation));
        }
        self.operation = None;
        let api = self.api();
        quote! {
            //! The API: limits, requests, responses and the trait that a server implements.

            use std::borrow::Cow;

            use dropshot::{ApiDescription, ApiDescriptionRegisterError, RequestContext};
            use http::{HeaderMap, HeaderName, HeaderValue, header::InvalidHeaderValue};
            use jiff::Timestamp;
            use serde::Serialize;

            use crate::{
                domain::token::Token,
                edge::{
                    operation::Operation,
                    other_methods::reject_other_methods_of,
                    raw_request::RawRequest,
                    reading::{
                        RequestParts,
                        credential::{self, Transport},
                        fields::Fields,
                        headers,
                        query::Query,
                        rules,
                    },
                    responding::response::{
                        Constant, ConstantBool, ErrorEnvelope, Responses, SuccessHeaders, number,
                    },
                    serve::{Context, HandlerResult},
                    types::{
                        address::IpEndpoint,
                        integer::BoundedInteger,
                        json::Json,
                        list::{DistinctList, List},
                        request_error::{Excerpt, Input, Part, RequestError},
                        text::Text,
                        value::{FromJson, FromText, Tristate, from_json_string},
                    },
                },
            };

            #operations
            #named
            #api
        }
    }
}
