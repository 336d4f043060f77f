//! A database file that is renamed into place when it is complete.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use tempfile::{TempDir, TempPath};

use super::{
    SqliteStore,
    open::{self, unusable},
};
use crate::store::{OpenError, OpenMode, StoreError};

/// A new database in a temporary folder beside its target, which only its owner can read. It is deleted when this is dropped.
///
/// A file that is filled under its final name could not be deleted on a failure, because another process may use it by then.
#[derive(Debug)]
pub struct NewFile {
    folder: TempDir,
    target: PathBuf,
}

impl NewFile {
    /// Prepares a database that is to become `target`.
    ///
    /// # Errors
    /// The folder of the file cannot be written, or a log of an earlier file of this name is left.
    pub fn new(target: &Path) -> Result<Self, OpenError> {
        check_no_leftover_log(target)?;
        let folder = open::private_folder(parent(target)).map_err(|error| unusable(target, error))?;
        Ok(Self { folder, target: target.to_owned() })
    }

    /// Opens the database, to be filled.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open(&self) -> Result<SqliteStore, OpenError> {
        SqliteStore::open(&self.path(), OpenMode::Create)
    }

    /// Renames the database to its target, after every store on it is closed. Returns `false` and changes nothing if the target
    /// exists by now.
    ///
    /// # Errors
    /// The file is incomplete, it cannot be renamed, or a log of an earlier file of this name is left.
    pub fn publish(self) -> Result<bool, OpenError> {
        check_no_leftover_log(&self.target)?;
        let path = self.path();
        if open::beside(&path, "-wal").exists() {
            let reason = "cannot move the data from the write-ahead log into the file".to_owned();
            return Err(unusable(&self.target, StoreError::Unavailable(reason)));
        }
        match TempPath::try_from_path(path).map(|path| path.persist_noclobber(&self.target)) {
            Ok(Ok(())) => {
                // Makes the new name durable. Not every file system supports this.
                let _ = File::open(parent(&self.target)).and_then(|folder| folder.sync_all());
                Ok(true)
            }
            Ok(Err(error)) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Ok(Err(error)) => Err(unusable(&self.target, error.error)),
            Err(error) => Err(unusable(&self.target, error)),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("new.db")
    }
}

/// SQLite would apply the leftover log of a deleted database to a new one of the same name.
fn check_no_leftover_log(target: &Path) -> Result<(), OpenError> {
    let left = ["-wal", "-journal"].map(|suffix| open::beside(target, suffix));
    match left.iter().find(|log| log.exists() && !target.exists()) {
        None => Ok(()),
        Some(log) => {
            let reason = format!(
                "{} belongs to a database file that no longer exists; stop the program that uses it, then remove or restore both",
                log.display()
            );
            Err(unusable(target, StoreError::Unavailable(reason)))
        }
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_an_earlier_file_left_is_never_applied_to_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.db");
        let log = open::beside(&target, "-wal");
        let new = NewFile::new(&target).unwrap();
        drop(new.open().unwrap());
        std::fs::write(&log, "frames").unwrap();
        let error = new.publish().unwrap_err().to_string();
        assert!(error.contains("a.db-wal belongs to a database file that no longer exists"), "{error}");
        assert!(NewFile::new(&target).is_err() && !target.exists());
        std::fs::remove_file(log).unwrap();
        let new = NewFile::new(&target).unwrap();
        drop(new.open().unwrap());
        assert!(new.publish().unwrap() && target.exists());
    }
}
