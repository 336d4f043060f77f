//! Emits `contract.rs`: what progenitor drops from the document.

use proc_macro2::TokenStream;
use quote::quote;

use super::{docs::Docs, input, vocabulary};
use crate::{document::Document, model::Contract, problem::Problem};

/// Operations, limits, validation, headers and open enums, for the hand-written code.
pub(super) fn generate(
    document: &Document,
    contract: &Contract,
    docs: &Docs,
) -> Result<syn::File, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut part = |made: Result<TokenStream, Vec<Problem>>| {
        made.unwrap_or_else(|found| {
            problems.extend(found);
            TokenStream::new()
        })
    };
    let enums = vocabulary::open_enums(contract);
    let closed = vocabulary::closed_enums(contract);
    let separators = part(vocabulary::separators(document, contract));
    let operations = part(vocabulary::operations(document, contract));
    let headers = part(vocabulary::headers(document, contract));
    let ports = vocabulary::ports(contract);
    let token = part(vocabulary::token(document, contract));
    let inputs: Vec<TokenStream> =
        contract.operations.iter().map(|operation| part(input::input(document, operation, docs))).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let file = quote! {
        //! What the document says beyond paths and types: limits with their clauses, the codes of success, where the token
        //! is sent, and the values of enums.

        use std::fmt;

        use crate::{
            generated::{self, types},
            operation::{Credential, Operation, Retry},
            validate::{self, InvalidArgument},
        };

        #operations
        #token
        #ports
        #separators
        #enums
        #closed
        #headers
        #(#inputs)*
    };
    syn::parse2(file).map_err(|error| {
        let help = "rename what is not a Rust identifier in the document";
        vec![document.problem("", format!("the generated validation is not valid Rust: {error}"), help)]
    })
}
