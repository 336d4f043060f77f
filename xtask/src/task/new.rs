//! `cargo xtask new operation`: writes the stub of an operation into the document, and stubs of what is written by hand.

use std::{fs, path::Path};

use clap::{Args, Subcommand};

use crate::{
    document::Document,
    lint,
    model::Method,
    problem::Problem,
    scaffold::{self, NewOperation},
};

/// What is new.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum New {
    /// Write the stub of an operation: in the document, and one for each file that is written by hand.
    ///
    /// No stub compiles until it is filled; each says what belongs there. CONTRIBUTING.md has the steps.
    #[command(after_help = "Examples:\n  \
                            cargo xtask new operation listCountries --method GET --path /openapi/v1/countries\n  \
                            cargo xtask new operation createStaticGroup --method POST --path /openapi/v1/static/groups --writes")]
    Operation(Arguments),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    /// `operationId`, in camel case.
    id: String,
    /// HTTP method: GET, POST, PUT, PATCH or DELETE.
    #[arg(long, value_parser = method)]
    method: Method,
    /// Path, each parameter in braces.
    #[arg(long)]
    path: String,
    /// Declare that a POST changes something and must not be repeated [default: for PUT, PATCH and DELETE].
    #[arg(long)]
    writes: bool,
}

fn method(text: &str) -> Result<Method, String> {
    let found = Method::ALL.into_iter().find(|method| method.to_string().eq_ignore_ascii_case(text));
    found
        .ok_or_else(|| format!("expected one of {}", Method::ALL.map(|method| method.to_string()).join(", ")))
}

/// Writes the stubs. Nothing is written when one of them exists, or when the document with the stub has a problem.
pub(crate) fn run(root: &Path, new: &New) -> Result<String, String> {
    let New::Operation(Arguments { id, method, path, writes }) = new;
    let always = matches!(method, Method::Put | Method::Patch | Method::Delete);
    let operation =
        NewOperation { id: id.clone(), method: *method, path: path.clone(), writes: *writes || always };
    let read = |path: &str| fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"));
    let changes = scaffold::changes(&operation, &read).map_err(|error| format!("error: {error}\n"))?;
    let problems = Document::parse(&changes[0].contents)
        .map_or_else(|problems| problems, |document| lint::run(&document));
    if !problems.is_empty() {
        let problems = Problem::list(&problems);
        return Err(format!("{problems}\nerror: nothing was written; choose another id or path\n"));
    }
    let mut report = String::new();
    for change in &changes {
        let place = root.join(&change.path);
        fs::write(&place, &change.contents)
            .map_err(|error| format!("error: {}: {error}\n", place.display()))?;
        let word = if change.is_new { "wrote" } else { "edited" };
        report.push_str(&format!("{word} {}\n", change.path.display()));
    }
    report.push_str("\nNext: fill the stub in openapi/openapi.yaml, run `cargo xtask generate` and `cargo fmt`, then fill what does not compile.\n");
    Ok(report)
}
