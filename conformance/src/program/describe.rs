//! What needs no target: descriptions, and the file that a configuration begins with.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use sallyport_conformance::config::template;
use sallyport_conformance::run::Glob;
use sallyport_conformance::{Check, Contract, Verdict, explain, files, registry};

use super::UsageError;
use super::arguments::ListFormat;
use super::lab::unknown;
use super::output::{print, print_list};

pub(crate) fn list(format: ListFormat) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let object = |check: &&Check| {
        serde_json::json!({
            "id": check.id,
            "title": check.title,
            "clauses": check.clauses,
            "operation": check.operation,
            "operationId": check.operation.map(|id| &contract.operation(id).name),
        })
    };
    let line = |check: &&Check| {
        let clauses: Vec<&str> = check.clauses.iter().map(|clause| clause.id()).collect();
        format!("{}  {}  [{}]\n", check.id, check.title, clauses.join(", "))
    };
    print_list(&registry(), format == ListFormat::Json, object, line)
}

#[cfg(feature = "embedded")]
pub(crate) fn docs() -> Result<Verdict, UsageError> {
    print(&sallyport_conformance::embedded::contract_page());
    Ok(Verdict::Conforms)
}

/// `conformance docs`: the page comes with the server.
#[cfg(not(feature = "embedded"))]
pub(crate) fn docs() -> Result<Verdict, UsageError> {
    Err(super::run::NO_EMBEDDED_SERVER.into())
}

/// `conformance explain`: a clause, an unspecified behaviour, a check, a duty or its cases; with `*`, a line for each that it matches.
pub(crate) fn explained(id: &str) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let known = explain::known(contract);
    let text = if id.contains('*') {
        let glob = Glob::new(id);
        let matching = known.iter().filter(|(known, _)| glob.matches(known));
        Some(matching.map(|(id, text)| format!("{id}  {text}\n")).collect())
            .filter(|text: &String| !text.is_empty())
    } else {
        explain::explain(contract, id)?
    };
    #[cfg(not(feature = "embedded"))]
    if text.is_none() && id.starts_with("client.") {
        return Err(super::run::NO_EMBEDDED_SERVER.into());
    }
    let lists = "`conformance explain '*'` lists them";
    let text = text.ok_or_else(|| {
        unknown("clause, check or case", id, known.iter().map(|(known, _)| known.as_str()), lists)
    })?;
    print(&text);
    Ok(Verdict::Conforms)
}

pub(crate) fn init(file: &Path, force: bool) -> Result<Verdict, UsageError> {
    if file.exists() && !force {
        return Err(format!("{} already exists; choose another name or pass --force", file.display()).into());
    }
    let text = template();
    let written = if force {
        files::replace(file, |open| open.write_all(text.as_bytes()))
    } else {
        // Another process may have created it since the check above.
        File::create_new(file).and_then(|mut open| open.write_all(text.as_bytes()))
    };
    written.map_err(files::named(file))?;
    print(&format!(
        "wrote {0}; write base-url into it, set SALLYPORT_API_KEY and see what would run: conformance plan --config {0}\n",
        file.display()
    ));
    Ok(Verdict::Conforms)
}
