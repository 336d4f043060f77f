//! `cargo xtask check`.

use std::path::Path;

use serde_json::Value;
use similar::TextDiff;

use super::{code, document, on_disk, pages, programs::Programs, releases};
use crate::{artifact::Artifact, compare::compare, document::Document, project::project};

const FIX: &str = "run `cargo xtask generate` and commit the result";

/// Compares every generated file with the document. Writes nothing.
///
/// Fails with a report of all problems: those of the document, a diff for each file that differs, and programs that do not
/// build.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    let document = document(root)?;
    let mut artifacts = code(&document)?;
    let mut problems = releases::problems(root, &document)?;
    let programs = Programs::build(root)?;
    match pages(&programs, &document) {
        Ok(pages) => artifacts.extend(pages),
        Err(problem) => problems.push_str(&problem),
    }
    match programs.emitted() {
        Ok(emitted) => problems.push_str(&api_differences(&document, &emitted)),
        Err(problem) => problems.push_str(&problem),
    }
    let mut outdated = String::new();
    for artifact in &artifacts {
        outdated.push_str(&difference(artifact, on_disk(root, artifact)?.as_deref()));
    }
    if !outdated.is_empty() {
        problems.push_str(&format!("{outdated}error: generated files are out of date; {FIX}\n"));
    }
    if problems.is_empty() {
        Ok(format!("{} generated files are up to date\n", artifacts.len()))
    } else {
        Err(problems)
    }
}

/// The differences between the contract and the API that the server emits; empty when there are none.
fn api_differences(document: &Document, emitted: &Value) -> String {
    let differences = compare(&project(document), emitted);
    if differences.is_empty() {
        return String::new();
    }
    let mut report: String = differences.iter().map(|difference| format!("{difference}\n")).collect();
    report.push_str("error: the API that the server emits differs from the contract: ");
    report.push_str(
        "regenerate and rebuild; if that does not help, fix xtask/src/emit/server or xtask/src/project.rs\n",
    );
    report
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
    fn an_api_that_differs_is_reported_by_pointer() {
        let document = crate::fixture::contract();
        let mut emitted = project(&document);
        assert_eq!(api_differences(&document, &emitted), "");
        emitted["components"]["schemas"]["GroupFilter"]["minimum"] = Value::from(1);
        assert!(
            api_differences(&document, &emitted).starts_with("/components/schemas/GroupFilter/minimum\n")
        );
    }

    #[test]
    fn a_difference_shows_both_sides_and_a_missing_file_its_name() {
        let artifact = Artifact { path: "a.txt", contents: "same\nnew\n".to_owned() };
        let shown = difference(&artifact, Some("same\nold\n"));
        assert!(shown.contains("-old") && shown.contains("+new") && shown.contains("a.txt"), "{shown}");
        assert_eq!(difference(&artifact, None), "missing: a.txt\n");
        assert_eq!(difference(&artifact, Some("same\nnew\n")), "");
    }
}
