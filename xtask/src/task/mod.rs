//! The tasks of `cargo xtask`. Only this module reads and writes files and runs programs.

pub(crate) mod diff;
pub(crate) mod dist;
pub(crate) mod generate;
mod releases;
mod wheel;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    document::Document,
    lint,
    problem::{DOCUMENT, Problem},
};

/// The root of the repository that this program is run in: the nearest folder above `here` that has the document and this crate.
/// It is not the one that the program was built in, since clones may share a target folder.
///
/// Fails outside of a repository.
pub(crate) fn root(here: &Path) -> Result<PathBuf, String> {
    let is_root =
        |folder: &&Path| folder.join(DOCUMENT).is_file() && folder.join("xtask/Cargo.toml").is_file();
    here.ancestors().find(is_root).map(Path::to_owned).ok_or_else(|| {
        format!(
            "error: expected to run inside of the repository, found no {DOCUMENT} in {} or above it\n",
            here.display()
        )
    })
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("error: cannot read {}: {error}\n", path.display()))
}

/// Writes a file, and the folders around it where there are none.
fn write(path: &Path, contents: &str) -> Result<(), String> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, contents));
    written.map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("error: cannot write {}: {error}\n", path.display())
}

/// Reads and lints the document.
fn document(root: &Path) -> Result<Document, String> {
    let document = Document::parse(&read(&root.join(DOCUMENT))?).map_err(|problems| render(&problems))?;
    let problems = lint::run(&document);
    if problems.is_empty() { Ok(document) } else { Err(render(&problems)) }
}

fn render(problems: &[Problem]) -> String {
    let mut text: String = problems.iter().map(|problem| format!("error: {problem}\n\n")).collect();
    let count = problems.len();
    text.push_str(&format!("{count} problem{} in the document\n", if count == 1 { "" } else { "s" }));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_that_of_the_clone_one_stands_in() {
        let clones = tempfile::tempdir().unwrap();
        for clone in ["one", "two"] {
            for file in [DOCUMENT, "xtask/Cargo.toml"] {
                let path = clones.path().join(clone).join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            let below = clones.path().join(clone).join("server/src");
            fs::create_dir_all(&below).unwrap();
            assert_eq!(root(&below), Ok(clones.path().join(clone)));
        }
        let outside = root(clones.path()).unwrap_err();
        assert!(outside.contains("found no openapi/openapi.yaml in"), "{outside}");
    }
}
