//! Emits the client's generated files: the API as progenitor writes it, and what progenitor drops from the document, so
//! that the hand-written code repeats no path, limit, name or rule.

mod api;
mod contract;
mod docs;
mod postprocess;
mod search;
mod vocabulary;

use super::GENERATED;
use crate::{artifact::Artifact, document::Document, lower, model::Contract, problem::Problem};

use docs::Docs;

/// The files that the client is built from.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let model = Contract::read(document)?;
    let docs = Docs::read(&model);
    let api = api::generate(document, &docs)?;
    let contract = contract::generate(document, &model)?;
    // The path of a text variant has a fragment that distinguishes it from the operation; see `lower`.
    let ids = model.operations.iter().flat_map(|operation| lower::builder_ids(operation).into_iter().skip(1));
    let api = ids.fold(formatted(api), |text, id| text.replace(&format!("#{id}"), ""));
    let mut artifacts = vec![
        Artifact { path: "client/src/generated.rs", contents: api },
        Artifact { path: "client/src/contract/generated.rs", contents: formatted(contract) },
    ];
    artifacts.extend(search::emit(document, &model)?);
    Ok(artifacts)
}

fn formatted(file: syn::File) -> String {
    format!("{GENERATED}\n\n{}", prettyplease::unparse(&file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::edited;

    #[test]
    fn what_progenitor_panics_on_is_a_problem_that_names_the_operation() {
        let document = edited("enum: [json, txt«→, JSON»]");
        let problems = api::generate(&document, &Docs::default()).err().unwrap();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].operation.as_deref(), Some("extractProxies"), "{}", problems[0]);
        assert_eq!(problems[0].pointer, "/paths/~1openapi~1v1~1proxy~1extract/get");
    }
}
