//! The second file: what progenitor loses of the document.

use proc_macro2::TokenStream;
use quote::quote;

use super::{input, vocabulary};
use crate::{document::Document, model::Contract, problem::Problem};

/// Operations, limits, checks, headers and open enums, for the face to use.
pub(super) fn generate(document: &Document, contract: &Contract) -> Result<syn::File, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut part = |made: Result<TokenStream, Vec<Problem>>| {
        made.unwrap_or_else(|found| {
            problems.extend(found);
            TokenStream::new()
        })
    };
    let enums = part(vocabulary::open_enums(document, contract));
    let separators = part(vocabulary::separators(document, contract));
    let operations = part(vocabulary::operations(document, contract));
    let headers = part(vocabulary::headers(document, contract));
    let ports = part(vocabulary::ports(contract));
    let token = part(vocabulary::token(document, contract));
    let inputs: Vec<TokenStream> =
        contract.operations.iter().map(|operation| part(input::input(document, operation))).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let file = quote! {
        //! What the document says beyond paths and types: limits with the clauses behind them, what a success is,
        //! where the token goes, and the values that enums hold today.

        use std::fmt;

        use crate::{
            check::{self, Refused},
            generated::{self, types},
            operation::{Credential, Operation},
        };

        #operations
        #token
        #ports
        #separators
        #enums
        #headers
        #(#inputs)*
    };
    syn::parse2(file).map_err(|error| {
        let help = "look for a name in the document that is no Rust identifier";
        vec![document.problem("", format!("the client's checks are not Rust: {error}"), help)]
    })
}
