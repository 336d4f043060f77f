//! Detects whether anything was committed to a database, by reading mapped memory.
//!
//! The WAL index, the file that ends in `-shm`, begins with a header of which every commit changes the counter and the
//! checksums, whichever process makes it. SQLite's own readers learn of a commit from there, and from nowhere else, so the
//! same header means that nothing was committed (<https://www.sqlite.org/walformat.html>, section 2.1).
//!
//! SQLite's own way, `PRAGMA data_version`, takes 1.7 µs more than `SELECT 1`, and callers would wait for each other. That is more
//! than a tenth of the 9 µs of CPU that an extraction takes. The bench `store` prints both.
//!
//! SQLite shares the file as mapped memory, and it is mapped here as well, read-only. It is read as SQLite reads it: word by word
//! while others may write, and valid if both copies are equal. Truncating the mapped file would end the process, but SQLite's own
//! mapping has the same effect. On 32-bit systems nothing is mapped, and the revision is queried on every call.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering, fence},
};

/// Words of one copy of the header.
const COPY: usize = 6;

/// Format of the WAL-index that is understood here.
const VERSION: u32 = 3_007_000;

/// The mapped header of one database: its first copy, and its second.
#[derive(Debug)]
pub(super) struct WalIndex(Option<[[&'static AtomicU64; COPY]; 2]>);

/// The header at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header([u64; COPY]);

impl WalIndex {
    /// Maps the header of the database at `path`, which a connection has open in WAL mode. If that fails, there is never a
    /// header.
    pub(super) fn new(path: &Path) -> Self {
        Self(file::map(path))
    }

    /// The header, unless it is being written or cannot be read.
    pub(super) fn header(&self) -> Option<Header> {
        // A writer changes the second copy before the first, so both are equal only when it is done. The memory is mapped
        // read-only, for which Rust guarantees only relaxed loads.
        let [one, other] = self.0?.map(|copy| {
            let words = copy.map(|word| word.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            words
        });
        let [a, b, c, d, ..] = one[0].to_ne_bytes();
        let version = u32::from_ne_bytes([a, b, c, d]);
        (one == other && version == VERSION).then_some(Header(one))
    }
}

#[cfg(all(unix, target_pointer_width = "64"))]
mod file {
    use std::{
        fs::File,
        path::Path,
        sync::{Arc, atomic::AtomicU64},
    };

    use vm_memory::{FileOffset, MmapRegion, VolatileMemory as _};

    use super::COPY;

    /// File and mapping are never closed: closing any handle of a file releases all locks of the process on it, also those of
    /// SQLite (<https://www.sqlite.org/howtocorrupt.html>, section 2.2). A
    /// process opens few databases.
    pub(super) fn map(path: &Path) -> Option<[[&'static AtomicU64; COPY]; 2]> {
        const COPY_BYTES: usize = COPY * size_of::<u64>();
        let mut name = path.canonicalize().ok()?.into_os_string();
        name.push("-shm");
        let file: &'static Arc<File> = Box::leak(Box::new(Arc::new(File::open(name).ok()?)));
        if file.metadata().ok()?.len() < 2 * COPY_BYTES as u64 {
            return None;
        }
        let file = FileOffset::from_arc(Arc::clone(file), 0);
        let region = MmapRegion::build(Some(file), 2 * COPY_BYTES, libc::PROT_READ, libc::MAP_SHARED);
        let region: &'static MmapRegion = Box::leak(Box::new(region.ok()?));
        let word = |place: usize| region.get_atomic_ref::<AtomicU64>(place * size_of::<u64>()).ok();
        let words = (0..2 * COPY).map(word).collect::<Option<Vec<_>>>()?;
        let (one, other) = words.split_at(COPY);
        Some([one.try_into().ok()?, other.try_into().ok()?])
    }
}

#[cfg(not(all(unix, target_pointer_width = "64")))]
mod file {
    use std::{path::Path, sync::atomic::AtomicU64};

    use super::COPY;

    pub(super) fn map(_: &Path) -> Option<[[&'static AtomicU64; COPY]; 2]> {
        None
    }
}

#[cfg(test)]
#[cfg(all(unix, target_pointer_width = "64"))]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn connect(path: &Path) -> Connection {
        let db = Connection::open(path).unwrap();
        db.pragma_update(None, "journal_mode", "wal").unwrap();
        db
    }

    #[test]
    fn every_commit_changes_the_header_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (ours, other) = (connect(&path), connect(&path));
        other.execute_batch("CREATE TABLE entries (value TEXT)").unwrap();
        let index = WalIndex::new(&path);
        let mut seen = vec![index.header().unwrap()];
        for round in 0..40 {
            let db = if round % 3 == 0 { &ours } else { &other };
            let count: i64 = ours.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).unwrap();
            assert_eq!(count, round);
            db.execute_batch("BEGIN IMMEDIATE; INSERT INTO entries VALUES ('undone'); ROLLBACK").unwrap();
            assert_eq!(index.header().as_ref(), seen.last(), "nothing was committed");
            if round % 7 == 0 {
                // The next commit begins the log anew.
                db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).unwrap();
            }
            db.execute("INSERT INTO entries VALUES ('one')", []).unwrap();
            let now = index.header().unwrap();
            assert!(!seen.contains(&now), "a header came back");
            seen.push(now);
        }
    }

    #[test]
    fn an_unreadable_index_has_no_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        assert_eq!(WalIndex::new(&path).header(), None);
        std::fs::write(&path, "").unwrap();
        for length in [0, 95, 96, 1 << 15] {
            std::fs::write(folder.path().join("a.db-shm"), vec![0; length]).unwrap();
            assert_eq!(WalIndex::new(&path).header(), None, "{length} bytes");
        }
    }
}
