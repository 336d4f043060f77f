//! Emits the client's generated files: the API as progenitor writes it, and what progenitor drops from the document, so
//! that the hand-written code repeats no path, limit, name or rule.

mod api;
mod calls;
mod contract;
mod postprocess;

use super::{formatted, parsed};
use crate::{artifact::Artifact, document::Document, lower, model::Contract, problem::Problem};

const API: &str = "client/src/generated.rs";

/// The files that the client is built from.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let model = Contract::read(document)?;
    let api = api::generate(document)?;
    let mut api = formatted(document, API, &api)?;
    // The path of a text variant has a fragment that distinguishes it from the operation; see `lower`.
    for id in model.operations.iter().flat_map(|operation| lower::builder_ids(operation).into_iter().skip(1))
    {
        api.contents = api.contents.replace(&format!("#{id}"), "");
    }
    let contract = contract::emit(document, &model)?;
    Ok([api, contract].into_iter().chain(calls::emit(document, &model)?).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::edited;

    #[test]
    fn what_progenitor_panics_on_is_a_problem() {
        let document = edited("enum: [json, txt«→, JSON»]");
        let problems = api::generate(&document).err().unwrap();
        assert!(
            problems[0].message.starts_with("progenitor cannot generate the client: "),
            "{}",
            problems[0]
        );
    }
}
