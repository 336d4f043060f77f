//! Emits the client's generated files: the API as progenitor writes it, and what progenitor drops from the document, so
//! that the hand-written code repeats no path, limit, name or rule.

mod api;
mod contract;
mod docs;
mod enforce;
mod input;
mod name;
mod postprocess;
mod validate;
mod vocabulary;

use super::GENERATED;
use crate::{artifact::Artifact, document::Document, model::Contract, problem::Problem};

pub(crate) use enforce::enforces;

use docs::Docs;

/// The files that the client is built from.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let model = Contract::read(document)?;
    let docs = Docs::read(&model);
    let api = api::generate(document, &docs)?;
    let contract = contract::generate(document, &model, &docs)?;
    Ok(vec![
        Artifact { path: "client/src/generated.rs", contents: formatted(api) },
        Artifact { path: "client/src/contract.rs", contents: formatted(contract) },
    ])
}

fn formatted(file: syn::File) -> String {
    format!("{GENERATED}\n\n{}", prettyplease::unparse(&file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_constraints_change, edited};

    /// The bodies of the functions `validate`, without the constants beside them.
    fn validations(document: &Document) -> Result<String, Vec<Problem>> {
        let text = formatted(contract::generate(document, &Contract::read(document)?, &Docs::default())?);
        let bodies = text.split("pub fn validate(&self)").skip(1);
        Ok(bodies.filter_map(|rest| rest.split("pub fn call").next()).collect())
    }

    #[test]
    fn every_declared_validation_is_emitted() {
        let changed = assert_constraints_change(enforce::validates, validations);
        assert!(changed >= 10, "only {changed} constraints were changed");
    }

    #[test]
    fn what_progenitor_panics_on_is_a_problem_that_names_the_operation() {
        let document = edited("enum: [json, txt«→, JSON»]");
        let problems = api::generate(&document, &Docs::default()).err().unwrap();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].operation.as_deref(), Some("extractProxies"), "{}", problems[0]);
        assert_eq!(problems[0].pointer, "/paths/~1openapi~1v1~1proxy~1extract/get");
    }

    #[test]
    fn a_limit_that_cannot_be_validated_is_a_problem() {
        let limited = edited("      type: string\n«→      maxLength: 50\n»      x-format: ip-endpoint\n");
        let problems = emit(&limited).unwrap_err();
        assert!(problems[0].pointer.ends_with("/AddressItem"), "{}", problems[0]);
    }
}
