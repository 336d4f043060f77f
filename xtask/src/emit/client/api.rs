//! progenitor's part: operations as builders, bodies as types.

use std::panic::{AssertUnwindSafe, catch_unwind};

use openapiv3::OpenAPI;
use progenitor_impl::{GenerationSettings, Generator, HooksMode, InterfaceStyle, TypeImpl};
use quote::quote;
use schemars::schema::{InstanceType, SchemaObject};
use serde_json::Value;

use super::dress;
use crate::{document::Document, lower, problem::Problem};

/// Runs progenitor on the lowered document and dresses what comes out.
pub(super) fn generate(document: &Document) -> Result<syn::File, Vec<Problem>> {
    let lowered = lower::lower(document);
    let tokens =
        run(&lowered, &settings(document)).map_err(|failure| vec![locate(document, &lowered, failure)])?;
    let mut file: syn::File = syn::parse2(tokens).map_err(|error| {
        vec![document.problem(
            "",
            format!("progenitor's output is not Rust: {error}"),
            "look for a name in the document that is no Rust identifier",
        )]
    })?;
    dress::dress(&mut file, &lower::reachable_from_answers(&lowered));
    Ok(file)
}

fn settings(document: &Document) -> GenerationSettings {
    let mut settings = GenerationSettings::new();
    settings
        .with_interface(InterfaceStyle::Builder)
        .with_hooks(HooksMode::Expected)
        .with_inner_type(quote!(crate::hooks::Hooks))
        .with_conversion(
            date_time(),
            "::jiff::Timestamp",
            [TypeImpl::Display, TypeImpl::FromStr].into_iter(),
        );
    for name in lower::opened_enums(document.root()) {
        let open = format!("crate::contract::{name}");
        settings.with_replacement(name, open, [TypeImpl::Display, TypeImpl::FromStr].into_iter());
    }
    for name in lower::endpoint_schemas(document.root()) {
        settings.with_replacement(name, "crate::Address", [TypeImpl::Display, TypeImpl::FromStr].into_iter());
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

/// progenitor's failures are panics as often as errors; both become a text here.
fn run(lowered: &Value, settings: &GenerationSettings) -> Result<proc_macro2::TokenStream, String> {
    let document: OpenAPI = serde_json::from_value(lowered.clone())
        .map_err(|error| format!("the document is not read: {error}"))?;
    // Nothing outlives the call that a panic could leave half-written.
    let outcome = catch_unwind(AssertUnwindSafe(|| Generator::new(settings).generate_tokens(&document)));
    match outcome {
        Ok(Ok(tokens)) => Ok(tokens),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("it panicked without a message")
            .to_owned()),
    }
}

/// Finds the operation that progenitor fails on by giving it one operation after another.
fn locate(document: &Document, lowered: &Value, failure: String) -> Problem {
    let settings = settings(document);
    let culprit = operations(lowered).into_iter().find(|(path, method)| {
        let mut alone = lowered.clone();
        alone["paths"] =
            serde_json::json!({path.as_str(): {method.as_str(): lowered["paths"][path][method]}});
        run(&alone, &settings).is_err()
    });
    let help =
        "express it with the constructs that openapi/README.md names, or add an edit in xtask/src/lower";
    match culprit {
        Some((path, method)) => {
            // The twin of a text answer stands on a path with a fragment; the document knows the path without.
            let path = path.split('#').next().unwrap_or(&path).to_owned();
            let pointer = crate::document::join(&crate::document::join("/paths", &path), &method);
            let operation = document.get(&format!("{pointer}/operationId")).and_then(Value::as_str);
            let operation = operation.map(str::to_owned);
            let message = format!("progenitor cannot generate this operation: {failure}");
            Problem { operation, ..document.problem(pointer, message, help) }
        }
        None => {
            document.problem("/components", format!("progenitor cannot generate the client: {failure}"), help)
        }
    }
}

fn operations(lowered: &Value) -> Vec<(String, String)> {
    let paths = lowered["paths"].as_object();
    paths
        .into_iter()
        .flatten()
        .flat_map(|(path, item)| {
            item.as_object().into_iter().flatten().map(|(method, _)| (path.clone(), method.clone()))
        })
        .collect()
}
