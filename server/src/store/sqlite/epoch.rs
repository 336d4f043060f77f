//! The epochs of a SQLite database: calls learn whether anything was committed, at most [`LEASE`] ago, and if so, what the table
//! `revision` says, in which triggers count the changes of cached data by any process.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::Connection;

use crate::store::cache::{Epoch, Epochs};

/// How long cached data is used at most without a look at the database: 10 ms. The look takes two locks of the file, which is a tenth of
/// the time of an extraction. Commands that change something wait for longer before they report success.
pub const LEASE: Duration = Duration::from_millis(10);

/// Tells the current epochs by a connection for nothing else.
#[derive(Debug)]
pub(super) struct CurrentEpochs(Mutex<(Connection, Option<Known>)>);

/// Epochs with the `data_version` from before they were read: while it is the same, nothing was committed.
#[derive(Debug)]
struct Known {
    epochs: Epochs,
    version: i64,
    /// When the version was asked for.
    asked_at: Instant,
}

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
        let now = Instant::now();
        if let Some(known) = known.as_ref().filter(|known| now.duration_since(known.asked_at) < LEASE) {
            return Some(known.epochs);
        }
        // If this fails, the query that follows fails as well and reports the error.
        let mut select = db.prepare_cached("PRAGMA data_version").ok()?;
        let version = select.query_row([], |row| row.get(0)).ok()?;
        if let Some(known) = known.as_mut().filter(|known| known.version == version) {
            known.asked_at = now;
            return Some(known.epochs);
        }
        // A commit between the two queries may or may not be in the epochs, but it changes the version.
        let mut select = db.prepare_cached("SELECT access, gateways FROM revision").ok()?;
        let epochs =
            |row: &rusqlite::Row<'_>| Ok(Epochs { access: Epoch(row.get(0)?), gateways: Epoch(row.get(1)?) });
        let epochs = select.query_row([], epochs).ok()?;
        *known = Some(Known { epochs, version, asked_at: now });
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
