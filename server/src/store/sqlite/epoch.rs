//! The epochs of a SQLite database: every call learns whether anything was committed since the last one, and if so, what the table
//! `revision` says, in which triggers count the changes of cached data by any process.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rusqlite::Connection;

use crate::store::cache::{Epoch, Epochs};

/// Tells the current epochs of a database.
#[derive(Debug)]
pub(super) struct CurrentEpochs(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Reads the epochs and nothing else.
    db: Connection,
    /// `data_version` from before the epochs were read. While it is the same, nothing was committed.
    version: Option<i64>,
    epochs: Epochs,
}

impl CurrentEpochs {
    /// Follows the database to which `db` is connected.
    pub(super) fn new(db: Connection) -> rusqlite::Result<Self> {
        // Callers are on threads that must not block. If the database is locked, they skip the cache.
        db.busy_timeout(Duration::ZERO)?;
        let epochs = epochs(0, 0);
        Ok(Self(Mutex::new(State { db, version: None, epochs })))
    }

    /// The epochs, `None` when they cannot be read at once.
    pub(super) fn get(&self) -> Option<Epochs> {
        // A panic while the lock is held leaves plain values and a read-only connection consistent.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // If this fails, the query that follows fails as well and reports the error.
        state.refresh().ok()?;
        Some(state.epochs)
    }
}

impl State {
    fn refresh(&mut self) -> rusqlite::Result<()> {
        let version = self.db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) {
            // A commit between the two queries may or may not be in the epochs, but it changes the version.
            let mut select = self.db.prepare_cached("SELECT access, gateways FROM revision")?;
            self.epochs = select.query_row([], |row| Ok(epochs(row.get(0)?, row.get(1)?)))?;
            self.version = Some(version);
        }
        Ok(())
    }
}

/// The epochs at these revisions.
const fn epochs(access: i64, gateways: i64) -> Epochs {
    Epochs { access: Epoch(access), gateways: Epoch(gateways) }
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
