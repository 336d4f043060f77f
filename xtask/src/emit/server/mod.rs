//! Emits the server's API: plain types for requests and responses, and the list of operations.
//!
//! What a request must be is no part of it: the server checks requests by the table of `sallyport-contract`. What the table cannot
//! hold, or the types cannot express, is a [`Problem`].

mod filters;
mod operation;
#[cfg(test)]
mod tests;
mod types;

use proc_macro2::TokenStream;
use quote::quote;

use super::rust;
use crate::{artifact::Artifact, document::Document, model::Contract, problem::Problem};

const PATH: &str = "server/src/api/generated.rs";

/// The files that the server is built from.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let mut emitter = Emitter { document, contract: &contract, problems: Vec::new(), is_stored: false };
    let tokens = emitter.file();
    if !emitter.problems.is_empty() {
        Problem::sort(&mut emitter.problems);
        return Err(emitter.problems);
    }
    Ok(vec![rust(document, PATH, tokens)?])
}

/// The document while its code is written.
struct Emitter<'a> {
    document: &'a Document,
    contract: &'a Contract,
    problems: Vec<Problem>,
    /// Whether the fields are of an object that is stored as it is sent.
    is_stored: bool,
}

impl Emitter<'_> {
    fn file(&mut self) -> TokenStream {
        let operations: Vec<_> =
            self.contract.operations.iter().map(|operation| self.operation(operation)).collect();
        let (types, all) = (self.named_types(), self.all());
        quote! {
            //! The API: operations with their requests and responses.

            use http::{HeaderMap, HeaderName, StatusCode, header::InvalidHeaderValue};
            use jiff::Timestamp;
            use serde::{Deserialize, Serialize};

            use crate::{
                domain::{DateTime, SmolStr, address::Address},
                edge::{
                    operation::Operation,
                    responding::response::{
                        Constant, ConstantBool, ErrorEnvelope, NoContent, NoTextBody, Responses,
                        SuccessHeaders, set_header,
                    },
                },
                named,
            };

            #(#operations)*
            #types
            #all
        }
    }

    /// Notes what the server cannot express, and goes on.
    fn report(&mut self, pointer: &str, message: &str, help: &str) -> TokenStream {
        self.problems.push(self.document.problem(pointer, message, help));
        quote!(())
    }
}
