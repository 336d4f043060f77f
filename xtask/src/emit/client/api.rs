//! Runs progenitor: operations as builders, bodies as types.

use std::panic::{AssertUnwindSafe, catch_unwind};

use openapiv3::OpenAPI;
use progenitor_impl::{GenerationSettings, Generator, HooksMode, InterfaceStyle, TypeImpl};
use quote::quote;
use schemars::schema::{InstanceType, SchemaObject};

use super::postprocess;
use crate::{document::Document, lower, model::Contract, problem::Problem};

/// Runs progenitor on the lowered document and post-processes its output.
pub(super) fn generate(document: &Document) -> Result<syn::File, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let tokens = run(&lower::lower(document, &contract), &settings(&contract)).map_err(|failure| {
        let help = "use only what openapi/README.md describes, or change xtask/src/lower.json.jinja";
        vec![document.problem("/paths", format!("progenitor cannot generate the client: {failure}"), help)]
    })?;
    let mut file = super::parsed(document, super::API, tokens)?;
    let bodies =
        contract.operations.iter().filter_map(|operation| operation.body.as_ref()?.schema.name.clone());
    postprocess::postprocess(&mut file, &lower::reachable_from_responses(&contract), &bodies.collect());
    Ok(file)
}

fn settings(contract: &Contract) -> GenerationSettings {
    let impls = || [TypeImpl::Display, TypeImpl::FromStr].into_iter();
    let mut settings = GenerationSettings::new();
    settings
        .with_interface(InterfaceStyle::Builder)
        .with_hooks(HooksMode::Expected)
        .with_inner_type(quote!(crate::Sender))
        .with_derive("PartialEq")
        .with_derive("Eq")
        .with_derive("Hash")
        .with_conversion(date_time(), "::jiff::Timestamp", impls());
    for name in lower::opened_enums(contract) {
        settings.with_replacement(&name, format!("crate::contract::{name}"), impls());
    }
    for name in lower::endpoint_schemas(contract) {
        settings.with_replacement(name, "crate::Address", impls());
    }
    settings
}

fn date_time() -> SchemaObject {
    SchemaObject {
        instance_type: Some(InstanceType::String.into()),
        format: Some("date-time".to_owned()),
        ..SchemaObject::default()
    }
}

/// progenitor fails with errors and with panics; both become text.
fn run(lowered: &str, settings: &GenerationSettings) -> Result<proc_macro2::TokenStream, String> {
    let document: OpenAPI = serde_json::from_str(lowered)
        .map_err(|error| format!("progenitor cannot read the document: {error}"))?;
    // No state outlives the call that a panic could leave inconsistent.
    let outcome = catch_unwind(AssertUnwindSafe(|| Generator::new(settings).generate_tokens(&document)));
    match outcome {
        Ok(Ok(tokens)) => Ok(tokens),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("panic without a message")
            .to_owned()),
    }
}
