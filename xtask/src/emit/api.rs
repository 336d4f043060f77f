//! Runs progenitor: operations as builders, bodies as types.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use openapiv3::OpenAPI;
use progenitor_impl::{GenerationSettings, Generator, HooksMode, InterfaceStyle, TypeImpl};
use quote::quote;
use schemars::schema::{InstanceType, SchemaObject};
use serde::Deserialize as _;
use serde_json::Value;

use super::postprocess;
use crate::{artifact::Artifact, document::Document, lower::lower, model::Contract, problem::Problem};

pub(super) const PATH: &str = "client/src/generated.rs";

/// The file as progenitor makes it of the lowered document, post-processed.
pub(super) fn emit(
    document: &Document,
    contract: &Contract,
    known: &Value,
) -> Result<Artifact, Vec<Problem>> {
    let text = run(&lower(known), &settings(contract, known)).map_err(|failure| {
        let help = "use only what openapi/README.md describes, or change xtask/src/lower.json.jinja";
        vec![document.problem("/paths", format!("progenitor cannot generate the client: {failure}"), help)]
    })?;
    let mut file = super::parsed(document, PATH, &text)?;
    postprocess::postprocess(&mut file, &names(known, "responses"), &names(known, "bodies"));
    let mut artifact = super::formatted(document, PATH, &file)?;
    // The path of a text variant has a fragment that distinguishes it from the operation.
    for operation in &contract.operations {
        artifact.contents = artifact.contents.replace(&format!("#{}Text", operation.id), "");
    }
    Ok(artifact)
}

/// A list of names that templates know.
fn names(known: &Value, list: &str) -> BTreeSet<String> {
    BTreeSet::deserialize(&known[list]).unwrap_or_default()
}

fn settings(contract: &Contract, known: &Value) -> GenerationSettings {
    let impls = || [TypeImpl::Display, TypeImpl::FromStr].into_iter();
    let date_time = SchemaObject {
        instance_type: Some(InstanceType::String.into()),
        format: Some("date-time".to_owned()),
        ..SchemaObject::default()
    };
    let mut settings = GenerationSettings::new();
    settings
        .with_interface(InterfaceStyle::Builder)
        .with_hooks(HooksMode::Expected)
        .with_inner_type(quote!(crate::Sender))
        .with_derive("PartialEq")
        .with_derive("Eq")
        .with_derive("Hash")
        .with_conversion(date_time, "::jiff::Timestamp", impls());
    for name in names(known, "opened") {
        settings.with_replacement(&name, format!("crate::contract::{name}"), impls());
    }
    let addresses = contract.schemas.iter().filter(|schema| schema.ports.is_some());
    for name in addresses.filter_map(|schema| schema.name.as_ref()) {
        settings.with_replacement(name, "crate::Address", impls());
    }
    settings
}

/// progenitor fails with errors and with panics; both become text.
fn run(lowered: &str, settings: &GenerationSettings) -> Result<String, String> {
    let document: OpenAPI = serde_json::from_str(lowered)
        .map_err(|error| format!("progenitor cannot read the document: {error}"))?;
    // No state outlives the call that a panic could leave inconsistent.
    let outcome = catch_unwind(AssertUnwindSafe(|| Generator::new(settings).generate_tokens(&document)));
    match outcome {
        Ok(Ok(tokens)) => Ok(tokens.to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("panic without a message")
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{emit::known, fixture::edited};

    #[test]
    fn what_progenitor_panics_on_is_a_problem() {
        let document = edited("enum: [json, txt«→, JSON»]");
        let contract = Contract::read(&document).unwrap();
        let known = known::gather(&document, &contract).unwrap();
        let problems = emit(&document, &contract, &known).err().unwrap();
        assert!(
            problems[0].message.starts_with("progenitor cannot generate the client: "),
            "{}",
            problems[0]
        );
    }
}
