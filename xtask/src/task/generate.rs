//! `cargo xtask generate`.

use std::path::Path;

use super::{artifacts, document, on_disk};
use crate::artifact::Artifact;

/// Writes the files that are out of date, and reports them.
///
/// Fails with a report when the document has problems, or when a file cannot be written.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    let report = write(root, &artifacts(&document(root)?)?)?;
    Ok(if report.is_empty() { "every generated file is up to date\n".to_owned() } else { report })
}

fn write(root: &Path, artifacts: &[Artifact]) -> Result<String, String> {
    let mut report = String::new();
    for artifact in artifacts {
        if on_disk(root, artifact)?.as_deref() == Some(&artifact.contents) {
            continue;
        }
        let path = root.join(artifact.path);
        let folder = path.parent().unwrap_or(root);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, &artifact.contents))
            .map_err(|error| format!("{report}error: cannot write {}: {error}\n", artifact.path))?;
        report.push_str(&format!("wrote {}\n", artifact.path));
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_written() {
        let root = std::env::temp_dir().join(format!("xtask-generate-{}", std::process::id()));
        let artifact = |contents: &str| Artifact { path: "a/b.txt", contents: contents.to_owned() };
        assert_eq!(write(&root, &[artifact("one")]).unwrap(), "wrote a/b.txt\n");
        assert_eq!(write(&root, &[artifact("one")]).unwrap(), "");
        assert_eq!(write(&root, &[artifact("two")]).unwrap(), "wrote a/b.txt\n");
        std::fs::remove_dir_all(root).unwrap();
    }
}
