use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Replaces a file at once: a reader sees the old text or the new one, and a crash leaves one of them.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let beside = beside(path)?;
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| std::fs::rename(&beside, path));
    if replaced.is_err() {
        // The error that matters is the first one.
        let _ = std::fs::remove_file(&beside);
    }
    replaced
}

/// Finds out whether a file can be replaced, before the work that gives its text.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    let beside = beside(path)?;
    OpenOptions::new().create(true).append(true).open(&beside)?;
    std::fs::remove_file(&beside)
}

/// A name in the same folder, since a rename works within one file system. It begins with a dot and does not end as the file
/// does, so that whatever reads all files of the folder, such as `*.prom`, leaves it out.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("expected the path of a file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.prom");
        check(&path).expect("it can be written");
        assert!(!path.exists());
        for text in ["one", "two"] {
            write(&path, text).expect("written");
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
        assert!(write(&folder.path().join("missing/a"), "x").is_err());
        assert!(check(&folder.path().join("missing/a")).is_err());
        assert!(write(Path::new("/"), "x").is_err());
    }
}
