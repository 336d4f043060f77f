//! `cargo xtask diff`.

use std::{path::Path, process::Command};

use super::releases;
use crate::{diff::render::render, document::Document, problem::DOCUMENT};

/// What to compare, and how to report it.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Compare with this document: a file, or a revision of git such as main or v1.0.0 [default: the newest file of
    /// openapi/released].
    #[arg(value_name = "REV|FILE")]
    old: Option<String>,
    /// Print a section for CHANGELOG.md instead of the report.
    #[arg(long)]
    changelog: bool,
}

/// Compares two documents and reports their changes.
///
/// Fails with an error when a document cannot be read.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<String, String> {
    let (old, of_old) = older(root, arguments.old.as_deref())?;
    let of_new = releases::read(DOCUMENT, &root.join(DOCUMENT))?;
    let (diff, notes) = releases::compare(root, (&old, &of_old), &of_new, releases::today())?;
    // The file accepts changes since the last release: another comparison need not have them.
    let is_since_release = arguments.old.is_none();
    let shown = notes.iter().filter(|note| is_since_release || note.is_expired);
    let notes: Vec<_> = shown.map(|note| note.text.clone()).collect();
    Ok(render(&diff, [&old, DOCUMENT], &notes, arguments.changelog))
}

/// The older document and its name.
fn older(root: &Path, wanted: Option<&str>) -> Result<(String, Document), String> {
    let (name, text) = match wanted {
        None => {
            let (_, path) = releases::newest(root)?;
            (path.strip_prefix(root).unwrap_or(&path).display().to_string(), super::read(&path)?)
        }
        Some(file) if Path::new(file).is_file() => (file.to_owned(), super::read(Path::new(file))?),
        Some(wanted) => (format!("{wanted}:{DOCUMENT}"), revision(root, wanted)?),
    };
    let document = releases::parse(&name, &text)?;
    Ok((name, document))
}

/// The document of a revision of git.
fn revision(root: &Path, revision: &str) -> Result<String, String> {
    let help = "name an existing file, or a revision such as `main`";
    // It would be taken for an option.
    if revision.starts_with('-') {
        return Err(format!("error: unknown file or revision `{revision}`; {help}\n"));
    }
    let output = Command::new("git")
        .current_dir(root)
        .args(["show", &format!("{revision}:{DOCUMENT}")])
        .output()
        .map_err(|error| format!("error: cannot start git: {error}; name a file instead\n"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said =
            said.lines().next().unwrap_or_default().trim_start_matches("fatal: ").trim_end_matches('.');
        return Err(format!("error: unknown file or revision `{revision}`: {said}; {help}\n"));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| format!("error: the document of `{revision}` is not UTF-8\n"))
}
