//! Migrations, in order. `user_version` is the number of those that the database has.

use rusqlite::{Connection, TransactionBehavior};

/// Marks a file as ours ("SALY").
pub(super) const APPLICATION_ID: i32 = 0x5341_4c59;

/// One entry per version. Entries are only added, because existing databases have run the earlier ones.
const MIGRATIONS: [&str; 5] = [
    include_str!("migrations/0001_initial.sql"),
    include_str!("migrations/0002_numbers.sql"),
    include_str!("migrations/0003_revision.sql"),
    include_str!("migrations/0004_extractions_by_age.sql"),
    include_str!("migrations/0005_whitelist_ranges.sql"),
];

/// The schema version of this program.
pub(super) const VERSION: usize = MIGRATIONS.len();

/// Brings the schema up to date, all or nothing. Takes the write lock, so that this fails for a database that cannot be written.
///
/// Foreign keys are not checked meanwhile, because a table that is being recreated would be missing.
pub(super) fn migrate(db: &mut Connection) -> rusqlite::Result<()> {
    // SQLite ignores the pragma inside a transaction.
    db.pragma_update(None, "foreign_keys", false)?;
    apply(db)?;
    db.pragma_update(None, "foreign_keys", true)
}

fn apply(db: &mut Connection) -> rusqlite::Result<()> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: usize = change.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for migration in MIGRATIONS.iter().skip(version) {
        change.execute_batch(migration)?;
    }
    if version < VERSION {
        change.pragma_update(None, "application_id", APPLICATION_ID)?;
        change.pragma_update(None, "user_version", VERSION)?;
    }
    change.commit()
}
