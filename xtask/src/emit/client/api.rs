//! Runs progenitor: operations as builders, bodies as types.

use std::panic::{AssertUnwindSafe, catch_unwind};

use openapiv3::OpenAPI;
use progenitor_impl::{GenerationSettings, Generator, HooksMode, InterfaceStyle, TypeImpl};
use quote::quote;
use schemars::schema::{InstanceType, SchemaObject};
use serde_json::{Value, json};

use super::{docs::Docs, postprocess};
use crate::{
    document::{Document, join},
    lower,
    model::Contract,
    problem::Problem,
};

/// Runs progenitor on the lowered document and post-processes its output.
pub(super) fn generate(document: &Document, docs: &Docs) -> Result<syn::File, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let lowered = lower::lower(document, &contract);
    let settings = settings(&contract);
    let tokens =
        run(&lowered, &settings).map_err(|failure| vec![locate(document, &lowered, &settings, failure)])?;
    let mut file: syn::File = syn::parse2(tokens).map_err(|error| {
        vec![document.problem(
            "",
            format!("the output of progenitor is not valid Rust: {error}"),
            "rename what is not a Rust identifier in the document",
        )]
    })?;
    postprocess::postprocess(&mut file, docs, &lower::reachable_from_responses(&contract));
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
fn run(lowered: &Value, settings: &GenerationSettings) -> Result<proc_macro2::TokenStream, String> {
    let document: OpenAPI = serde_json::from_value(lowered.clone())
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

/// Finds the operation that progenitor fails on by running it on one operation at a time.
fn locate(document: &Document, lowered: &Value, settings: &GenerationSettings, failure: String) -> Problem {
    let paths = lowered["paths"].as_object().into_iter().flatten();
    let mut operations = paths.flat_map(|(path, item)| {
        item.as_object().into_iter().flatten().map(move |(method, operation)| (path, method, operation))
    });
    let culprit = operations.find(|(path, method, operation)| {
        let mut alone = lowered.clone();
        alone["paths"] = json!({path.as_str(): {method.as_str(): operation}});
        run(&alone, settings).is_err()
    });
    let help = "use only what openapi/README.md describes, or change what xtask/src/lower.rs writes";
    match culprit {
        Some((path, method, _)) => {
            // The text variant of an operation has a path with a fragment; the document has the path without.
            let path = path.split('#').next().unwrap_or(path);
            let pointer = join(&join("/paths", path), method);
            let operation = document.text(&pointer, "operationId").map(str::to_owned);
            let message = format!("progenitor cannot generate this operation: {failure}");
            Problem { operation, ..document.problem(pointer, message, help) }
        }
        None => {
            document.problem("/components", format!("progenitor cannot generate the client: {failure}"), help)
        }
    }
}
