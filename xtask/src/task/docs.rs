//! `cargo xtask docs`.

use std::path::{Path, PathBuf};

use super::programs::Programs;

/// Default file.
const FILE: &str = "target/contract.html";

/// Writes the server's page to `file` and reports its path.
///
/// Fails with a report when the server does not build or the file cannot be written.
pub(crate) fn run(root: &Path, file: Option<PathBuf>) -> Result<String, String> {
    let file = file.unwrap_or_else(|| root.join(FILE));
    write(&file, &Programs::build(root)?.page()?)
}

fn write(file: &Path, page: &[u8]) -> Result<String, String> {
    let shown = file.display();
    let help = "choose a file in an existing, writable directory";
    std::fs::write(file, page).map_err(|error| format!("error: cannot write {shown}: {error}; {help}\n"))?;
    Ok(format!("wrote {shown}; open it in a browser\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_replaced_and_a_file_that_cannot_be_written_is_named() {
        let file = std::env::temp_dir().join(format!("xtask-docs-{}.html", std::process::id()));
        let report = write(&file, b"long page").and_then(|_| write(&file, b"page")).unwrap();
        assert!(report.contains(&file.display().to_string()), "{report}");
        assert_eq!(std::fs::read(&file).unwrap(), b"page");
        let report = write(&file.join("below-a-file"), b"page").unwrap_err();
        assert!(report.starts_with("error: ") && report.contains("below-a-file"), "{report}");
        std::fs::remove_file(file).unwrap();
    }
}
