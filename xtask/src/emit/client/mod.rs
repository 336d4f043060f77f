//! The client's generated files: the API as progenitor writes it, and beside it whatever of the document progenitor
//! loses, so that the hand-written face holds no path, limit, name or rule of its own.

mod api;
mod check;
mod contract;
mod dress;
mod enforce;
mod input;
mod name;
mod source;
mod vocabulary;

use crate::{artifact::Artifact, document::Document, model::Contract, problem::Problem};

pub(crate) use enforce::enforces;

/// The files that the client is built from.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let model = Contract::read(document)?;
    let api = api::generate(document)?;
    let contract = contract::generate(document, &model)?;
    Ok(vec![
        Artifact { path: "client/src/generated.rs", contents: source::text(api) },
        Artifact { path: "client/src/contract.rs", contents: source::text(contract) },
    ])
}
