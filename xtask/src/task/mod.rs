//! The tasks of `cargo xtask`. Only this module reads and writes files and runs programs.

pub(crate) mod check;
pub(crate) mod docs;
pub(crate) mod generate;
mod programs;

use std::path::{Path, PathBuf};

use crate::{
    artifact::Artifact,
    document::Document,
    emit, lint,
    problem::{DOCUMENT, Problem},
};

/// The root of the workspace that this program was built in.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Reads and lints the document.
fn document(root: &Path) -> Result<Document, String> {
    let document = Document::load(&root.join(DOCUMENT)).map_err(|problems| render(&problems))?;
    let problems = lint::run(&document);
    if problems.is_empty() { Ok(document) } else { Err(render(&problems)) }
}

/// The code generated from the document.
fn code(document: &Document) -> Result<Vec<Artifact>, String> {
    emit::code(document).map_err(|problems| render(&problems))
}

/// The pages generated from the document and from the checks of the suite.
fn pages(root: &Path, document: &Document) -> Result<Vec<Artifact>, String> {
    let checks = programs::checks(root)?;
    emit::pages(document, &checks).map_err(|problems| render(&problems))
}

/// The file on disk; `None` when it does not exist.
fn on_disk(root: &Path, artifact: &Artifact) -> Result<Option<String>, String> {
    match std::fs::read_to_string(root.join(artifact.path)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("error: cannot read {}: {error}\n", artifact.path)),
    }
}

fn render(problems: &[Problem]) -> String {
    let mut text: String = problems.iter().map(|problem| format!("error: {problem}\n\n")).collect();
    let count = problems.len();
    text.push_str(&format!("{count} problem{} in the document\n", if count == 1 { "" } else { "s" }));
    text
}
