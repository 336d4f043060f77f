//! Emits the contract as one page for a browser: no other file, no script from elsewhere, no network.
//!
//! The server puts its catalogue of error codes in the place of a mark, because this crate does not know it
//! (`server/src/admin/docs.rs`).

mod curl;
pub(super) mod field;
mod prose;
#[cfg(test)]
mod tests;
mod view;
mod words;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use minijinja::{Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use sha2::{Digest as _, Sha256};

use crate::{artifact::Artifact, document::Document, model::Contract, problem::Problem};

const PATH: &str = "server/src/admin/generated/contract.html";
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page, but for the catalogue.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let contents = render(&view::page(document, &contract)).map_err(|error| {
        let help = "this is a fault of xtask/src/emit/docs: report it with the document";
        vec![document.problem("", format!("the page cannot be rendered: {error:#}"), help)]
    })?;
    Ok(vec![Artifact { path: PATH, contents }])
}

fn render(page: &serde_json::Value) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
    environment.set_syntax(syntax);
    environment.add_filter("prose", |text: &str| Value::from_safe_string(prose::paragraphs(text)));
    environment.add_filter("line", |text: &str| Value::from_safe_string(prose::line(text)));
    // The name ends in .html, so everything that is put in is escaped.
    environment.add_template("page.html", include_str!("page.html"))?;
    environment.get_template("page.html")?.render(context! {
        page => Value::from(Serde(page)),
        policy => policy(),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
    })
}

/// Nothing but the page's own style and script: text that got past the escaping could still load and run nothing.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}
