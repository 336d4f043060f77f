//! The epochs of a SQLite database: every call learns whether anything was committed since the last one, and if so, what the table
//! `revision` says, in which triggers count the changes of cached data by any process.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rusqlite::Connection;

use crate::store::cache::{Epoch, Epochs};

/// Tells the current epochs by a connection for nothing else. They are known with the `data_version` from before they were read: while it
/// is the same, nothing was committed.
#[derive(Debug)]
pub(super) struct CurrentEpochs(Mutex<(Connection, Option<(i64, Epochs)>)>);

impl CurrentEpochs {
    /// Follows the database to which `db` is connected.
    pub(super) fn new(db: Connection) -> rusqlite::Result<Self> {
        // Callers are on threads that must not block. If the database is locked, they skip the cache.
        db.busy_timeout(Duration::ZERO)?;
        Ok(Self(Mutex::new((db, None))))
    }

    /// The epochs, `None` when they cannot be read at once.
    pub(super) fn get(&self) -> Option<Epochs> {
        // A panic while the lock is held leaves plain values and a read-only connection consistent.
        let (db, known) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // If this fails, the query that follows fails as well and reports the error.
        let mut select = db.prepare_cached("PRAGMA data_version").ok()?;
        let version = select.query_row([], |row| row.get(0)).ok()?;
        if let Some((at, epochs)) = known
            && *at == version
        {
            return Some(*epochs);
        }
        // A commit between the two queries may or may not be in the epochs, but it changes the version.
        let mut select = db.prepare_cached("SELECT access, gateways FROM revision").ok()?;
        let epochs =
            |row: &rusqlite::Row<'_>| Ok(Epochs { access: Epoch(row.get(0)?), gateways: Epoch(row.get(1)?) });
        let epochs = select.query_row([], epochs).ok()?;
        *known = Some((version, epochs));
        Some(epochs)
    }
}

#[cfg(test)]
mod tests {
    use crate::store::sqlite::open;

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
