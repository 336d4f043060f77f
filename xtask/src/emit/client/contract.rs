//! Emits `contract.rs`: what progenitor drops from the document.

use proc_macro2::TokenStream;
use quote::quote;

use super::vocabulary;
use crate::{document::Document, model::Contract, problem::Problem};

/// Operations, limits, separators, headers and open enums, for the hand-written code.
pub(super) fn generate(document: &Document, contract: &Contract) -> Result<syn::File, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut part = |made: Result<TokenStream, Vec<Problem>>| {
        made.unwrap_or_else(|found| {
            problems.extend(found);
            TokenStream::new()
        })
    };
    let operations = part(vocabulary::operations(document, contract));
    let separators = part(vocabulary::separators(document, contract));
    let headers = part(vocabulary::headers(document, contract));
    let limits = vocabulary::limits(contract);
    let addresses = vocabulary::addresses(contract);
    let enums = vocabulary::open_enums(contract);
    let closed = vocabulary::closed_enums(contract);
    if !problems.is_empty() {
        return Err(problems);
    }
    let file = quote! {
        use std::fmt;

        use crate::{
            generated::types,
            operation::{Credential, Operation, Retry},
        };

        #operations
        #limits
        #addresses
        #separators
        #enums
        #closed
        #headers
    };
    syn::parse2(file).map_err(|error| {
        let help = "rename what is not a Rust identifier in the document";
        vec![document.problem("", format!("the generated vocabulary is not valid Rust: {error}"), help)]
    })
}
