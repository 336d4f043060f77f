//! `cargo xtask generate` and `cargo xtask check`.

use std::path::Path;

use similar::TextDiff;

use super::{document, read, releases, render};
use crate::{artifact::Artifact, document::Document, emit};

/// Writes the files that are out of date, and reports them.
///
/// Fails with a report when the document has problems, or when a file cannot be written.
pub(crate) fn generate(root: &Path) -> Result<String, String> {
    let report = write(root, &artifacts(&document(root)?)?)?;
    Ok(if report.is_empty() { "every generated file is up to date\n".to_owned() } else { report })
}

/// Compares every generated file with the document. Writes nothing.
///
/// Fails with a report of all problems: those of the document, and a diff for each file that differs.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let document = document(root)?;
    let artifacts = artifacts(&document)?;
    let mut problems = releases::problems(root, &document, releases::today())?;
    let mut outdated = String::new();
    for artifact in &artifacts {
        outdated.push_str(&difference(artifact, on_disk(root, artifact.path)?.as_deref()));
    }
    if !outdated.is_empty() {
        let fix = "run `cargo xtask generate` and commit the result";
        problems.push_str(&format!("{outdated}error: generated files are out of date; {fix}\n"));
    }
    let done = format!("{} generated files are up to date\n", artifacts.len());
    if problems.is_empty() { Ok(done) } else { Err(problems) }
}

/// Everything generated from the document.
fn artifacts(document: &Document) -> Result<Vec<Artifact>, String> {
    emit::code(document).map_err(|problems| render(&problems))
}

/// The file on disk; `None` when it does not exist.
fn on_disk(root: &Path, path: &str) -> Result<Option<String>, String> {
    let path = root.join(path);
    path.exists().then(|| read(&path)).transpose()
}

fn write(root: &Path, artifacts: &[Artifact]) -> Result<String, String> {
    let mut report = String::new();
    for Artifact { path, contents } in artifacts {
        if on_disk(root, path)?.as_ref() != Some(contents) {
            super::write(&root.join(path), contents).map_err(|error| format!("{report}{error}"))?;
            report.push_str(&format!("wrote {path}\n"));
        }
    }
    Ok(report)
}

/// A unified diff from the file on disk to the generated one; empty when they are equal.
fn difference(artifact: &Artifact, on_disk: Option<&str>) -> String {
    let Artifact { path, contents } = artifact;
    let Some(on_disk) = on_disk else { return format!("missing: {path}\n") };
    if on_disk == contents {
        return String::new();
    }
    let diff = TextDiff::from_lines(on_disk, contents);
    diff.unified_diff()
        .header(&format!("{path} (on disk)"), &format!("{path} (from the document)"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_written_and_a_difference_shows_both_sides() {
        let root = tempfile::tempdir().unwrap();
        let artifact = |contents: &str| Artifact { path: "a/b.txt", contents: contents.to_owned() };
        for (contents, report) in
            [("same\nold\n", "wrote a/b.txt\n"), ("same\nold\n", ""), ("same\nnew\n", "wrote a/b.txt\n")]
        {
            assert_eq!(write(root.path(), &[artifact(contents)]).unwrap(), report);
        }
        let new = artifact("same\nnew\n");
        let shown = difference(&new, Some("same\nold\n"));
        assert!(shown.contains("-old") && shown.contains("+new") && shown.contains("a/b.txt"), "{shown}");
        assert_eq!(difference(&new, None), "missing: a/b.txt\n");
        assert_eq!(difference(&new, on_disk(root.path(), new.path).unwrap().as_deref()), "");
    }
}
