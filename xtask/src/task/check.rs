//! `cargo xtask check`.

use std::path::Path;

use similar::TextDiff;

use super::{artifacts, document, on_disk, releases};
use crate::artifact::Artifact;

const FIX: &str = "run `cargo xtask generate` and commit the result";

/// Compares every generated file with the document. Writes nothing.
///
/// Fails with a report of all problems: those of the document, and a diff for each file that differs.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    let document = document(root)?;
    let artifacts = artifacts(&document)?;
    let mut problems = releases::problems(root, &document)?;
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
    fn a_difference_shows_both_sides_and_a_missing_file_its_name() {
        let artifact = Artifact { path: "a.txt", contents: "same\nnew\n".to_owned() };
        let shown = difference(&artifact, Some("same\nold\n"));
        assert!(shown.contains("-old") && shown.contains("+new") && shown.contains("a.txt"), "{shown}");
        assert_eq!(difference(&artifact, None), "missing: a.txt\n");
        assert_eq!(difference(&artifact, Some("same\nnew\n")), "");
    }
}
