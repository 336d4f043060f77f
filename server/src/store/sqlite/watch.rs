//! Whether anything at all was committed to a database meanwhile, for the price of one short read.
//!
//! The WAL-index, the file that ends in `-shm`, begins with a header of which every commit changes the counter and the
//! checksums, whoever makes it. SQLite's own readers learn of a commit from there, and from nowhere else, so that who
//! finds the same header knows what they know (<https://www.sqlite.org/walformat.html>, section 2.1).
//!
//! SQLite writes it by a memory map, and it is read here as a file. Both show the same on file systems of this machine where
//! the kernel keeps each page once; elsewhere nothing is watched. SQLite's own log works on no network file system either.

use std::{fs::File, path::Path};

/// Bytes of one copy of the header.
const COPY: usize = 48;

/// Format of the WAL-index that is understood here.
const VERSION: u32 = 3_007_000;

/// Looks at the header of one database.
#[derive(Debug)]
pub(super) struct Watch(Option<&'static File>);

/// The header at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header([u8; COPY]);

impl Watch {
    /// Watches the database at `path`, which a connection has open in WAL mode. Where that cannot be done, every look
    /// ends in nothing.
    pub(super) fn new(path: &Path) -> Self {
        Self(file::open(path))
    }

    /// The header, unless it is being written or cannot be read.
    pub(super) fn look(&self) -> Option<Header> {
        let mut bytes = [0; 2 * COPY];
        file::read(self.0?, &mut bytes)?;
        let (one, other) = bytes.split_first_chunk::<COPY>()?;
        let version = u32::from_ne_bytes(*one.first_chunk()?);
        // The copies differ while a commit is written.
        (one == other && version == VERSION).then_some(Header(*one))
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos", target_os = "freebsd"))]
mod file {
    use std::{fs::File, os::unix::fs::FileExt as _, path::Path};

    /// The file is never closed: to close any handle of a file takes away every lock that the process holds on it, also those
    /// that SQLite counts on (<https://www.sqlite.org/howtocorrupt.html>, section 2.2). A process opens few databases.
    pub(super) fn open(path: &Path) -> Option<&'static File> {
        let mut name = path.canonicalize().ok()?.into_os_string();
        name.push("-shm");
        Some(Box::leak(Box::new(File::open(name).ok()?)))
    }

    pub(super) fn read(file: &File, bytes: &mut [u8]) -> Option<()> {
        file.read_exact_at(bytes, 0).ok()
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos", target_os = "freebsd")))]
mod file {
    use std::{fs::File, path::Path};

    pub(super) fn open(_: &Path) -> Option<&'static File> {
        None
    }

    pub(super) fn read(_: &File, _: &mut [u8]) -> Option<()> {
        None
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn connect(path: &Path) -> Connection {
        let db = Connection::open(path).unwrap();
        db.pragma_update(None, "journal_mode", "wal").unwrap();
        db
    }

    #[test]
    fn every_commit_shows_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (ours, other) = (connect(&path), connect(&path));
        other.execute_batch("CREATE TABLE entries (value TEXT)").unwrap();
        let watch = Watch::new(&path);
        let mut seen = vec![watch.look().unwrap()];
        for round in 0..40 {
            let db = if round % 3 == 0 { &ours } else { &other };
            let count: i64 = ours.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).unwrap();
            assert_eq!(count, round);
            db.execute_batch("BEGIN IMMEDIATE; INSERT INTO entries VALUES ('undone'); ROLLBACK").unwrap();
            assert_eq!(watch.look().as_ref(), seen.last(), "nothing was committed");
            if round % 7 == 0 {
                // The next commit begins the log anew.
                db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).unwrap();
            }
            db.execute("INSERT INTO entries VALUES ('one')", []).unwrap();
            let now = watch.look().unwrap();
            assert!(!seen.contains(&now), "a header came back");
            seen.push(now);
        }
    }

    #[test]
    fn where_nothing_can_be_seen_nothing_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        assert_eq!(Watch::new(&path).look(), None);
        std::fs::write(&path, "").unwrap();
        std::fs::write(folder.path().join("a.db-shm"), [0; 96]).unwrap();
        assert_eq!(Watch::new(&path).look(), None);
    }
}
