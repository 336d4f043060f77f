//! The revision of the database that cached values belong to. Every call checks that the cached values are current: either nothing at
//! all was committed since, or the table `revision`, in which triggers count the changes of cached data by any process, is
//! unchanged.

use std::{
    path::Path,
    sync::{Mutex, PoisonError, RwLock},
    time::Duration,
};

use rusqlite::Connection;

use super::wal_index::{Header, WalIndex};
use crate::store::cache::{Content, Freshness};

/// Number of changes of cached data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Revision {
    /// Of accounts, tokens, whitelists and entitlements.
    access: i64,
    /// Of gateways.
    gateways: i64,
}

impl Revision {
    /// The revision of a snapshot.
    pub(super) fn read(db: &Connection) -> rusqlite::Result<Self> {
        db.prepare_cached("SELECT access, gateways FROM revision")?
            .query_row([], |row| Ok(Self { access: row.get(0)?, gateways: row.get(1)? }))
    }
}

impl Freshness for Revision {
    fn is_fresh(self, now: Self, content: Content) -> bool {
        match content {
            Content::Access => self.access == now.access,
            Content::Gateways => self.gateways == now.gateways,
        }
    }
}

/// Finds the current revision of a database.
#[derive(Debug)]
pub(super) struct CurrentRevision {
    index: WalIndex,
    /// Reads the revision and nothing else.
    db: Mutex<Connection>,
    last: RwLock<LastRevision>,
}

/// The revision that was read last.
#[derive(Clone, Copy, Debug, Default)]
struct LastRevision {
    revision: Revision,
    /// The header from before the revision was read. While it is the same, nothing was committed.
    header: Option<Header>,
}

impl CurrentRevision {
    /// Follows the database at `path`, to which `db` is connected.
    pub(super) fn new(db: Connection, path: &Path) -> rusqlite::Result<Self> {
        // Callers are on threads that must not block. If the database is locked, they skip the cache.
        db.busy_timeout(Duration::ZERO)?;
        Ok(Self { index: WalIndex::new(path), db: Mutex::new(db), last: RwLock::default() })
    }

    /// The revision, `None` when it cannot be read at once.
    pub(super) fn get(&self) -> Option<Revision> {
        if let Some(unchanged) = self.unchanged() {
            return Some(unchanged);
        }
        // A panic while a lock is held leaves plain values and read-only connections consistent.
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        // Another call may have read it while this one waited.
        if let Some(unchanged) = self.unchanged() {
            return Some(unchanged);
        }
        // A commit from here on may or may not be in the revision, but it changes the header.
        let header = self.index.header();
        // If this fails, the query that follows fails as well and reports the error.
        let revision = Revision::read(&db).ok()?;
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = LastRevision { revision, header };
        Some(revision)
    }

    /// The last revision, if nothing at all was committed since it was read.
    fn unchanged(&self) -> Option<Revision> {
        let header = self.index.header()?;
        let last = *self.last.read().unwrap_or_else(PoisonError::into_inner);
        (last.header == Some(header)).then_some(last.revision)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, mpsc},
        thread,
    };

    use super::*;
    use crate::store::sqlite::{open, schema};

    #[cfg(all(unix, target_pointer_width = "64"))]
    #[test]
    fn the_database_is_queried_when_something_was_committed_and_only_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut db = Connection::open(&path).unwrap();
        db.pragma_update(None, "journal_mode", "wal").unwrap();
        schema::migrate(&mut db).unwrap();
        db.execute("INSERT INTO accounts VALUES (1, 'a', 1)", []).unwrap();
        let current = Arc::new(CurrentRevision::new(Connection::open(&path).unwrap(), &path).unwrap());
        let before = current.get().unwrap();

        let locked = current.db.lock().unwrap();
        let (sender, receiver) = mpsc::channel();
        let again = Arc::clone(&current);
        thread::spawn(move || sender.send(again.get()).is_ok());
        let unchanged = receiver.recv_timeout(Duration::from_secs(20)).expect("the connection is locked");
        assert_eq!(unchanged, Some(before));
        drop(locked);

        let header = current.last.read().unwrap().header;
        db.execute("INSERT INTO groups VALUES (1, 1, 'g', x'', x'')", []).unwrap();
        assert_eq!(current.get(), Some(before), "groups are not cached");
        assert_ne!(current.last.read().unwrap().header, header, "the database was queried");

        db.execute("UPDATE accounts SET real_name_verified = 0", []).unwrap();
        let after = current.get().unwrap();
        assert!(!before.is_fresh(after, Content::Access) && before.is_fresh(after, Content::Gateways));
        db.execute("INSERT INTO gateways VALUES (1, 'gw.invalid', 1, 'USA', 'http', 0, NULL, NULL)", [])
            .unwrap();
        assert!(!after.is_fresh(current.get().unwrap(), Content::Gateways));
    }

    #[test]
    fn changes_of_every_cached_table_are_counted() {
        let db = open::in_memory();
        // A migration that creates a table anew must create its triggers anew as well.
        for table in ["accounts", "tokens", "whitelist", "entitlements", "gateways"] {
            for change in ["INSERT", "UPDATE", "DELETE"] {
                let like = format!("CREATE TRIGGER % AFTER {change} ON {table} BEGIN UPDATE revision SET %");
                let count = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE ?1";
                let found: u32 = db.query_row(count, [like], |row| row.get(0)).unwrap();
                assert_eq!(found, 1, "{change} {table}");
            }
        }
    }
}
