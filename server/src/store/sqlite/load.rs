//! Loading records, all or none.

use std::collections::HashMap;

use rusqlite::{
    Connection, OptionalExtension, Statement,
    ffi::{SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE},
    params_from_iter,
};

use crate::store::{
    Lines, LoadError, StoreError,
    load_progress::{LoadProgress, RecordError, check_range},
    prefetch,
    record::{Line, Record, RecordCounts},
    record_kind::RecordKind,
};

/// Memory for uncommitted pages during an import, in SQLite's notation (negative KiB). Pages that do not fit are written and read
/// repeatedly.
const CACHE_SIZE: i32 = -65_536;

/// Adds every record, or collects the invalid lines; the caller rolls back if this fails.
pub(super) fn load(db: &Connection, lines: Lines) -> Result<RecordCounts, LoadError> {
    let usual: i32 = db.pragma_query_value(None, "cache_size", |row| row.get(0)).map_err(StoreError::from)?;
    db.pragma_update(None, "cache_size", CACHE_SIZE).map_err(StoreError::from)?;
    let loaded = load_all(db, lines);
    db.pragma_update(None, "cache_size", usual).map_err(StoreError::from)?;
    loaded
}

fn load_all(db: &Connection, lines: Lines) -> Result<RecordCounts, LoadError> {
    let index = AddressIndex::drop_if_unused(db).map_err(StoreError::from)?;
    let loaded = load_rows(db, lines)?;
    index.restore(db).map_err(StoreError::from)?;
    Ok(loaded)
}

/// The index of instances by address. The first instances of a database are loaded without it, because inserting addresses in random
/// order into an index that is larger than the memory would take most of the time.
struct AddressIndex {
    /// The statement that creates the index, if it was dropped.
    dropped: Option<String>,
}

impl AddressIndex {
    fn drop_if_unused(db: &Connection) -> rusqlite::Result<Self> {
        let is_used = db.query_row("SELECT EXISTS (SELECT 1 FROM instances)", [], |row| row.get(0))?;
        if is_used {
            return Ok(Self { dropped: None });
        }
        let select = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = 'instances_by_address'";
        let created_by = db.query_row(select, [], |row| row.get(0))?;
        db.execute_batch("DROP INDEX instances_by_address")?;
        Ok(Self { dropped: Some(created_by) })
    }

    fn restore(self, db: &Connection) -> rusqlite::Result<()> {
        self.dropped.map_or(Ok(()), |statement| db.execute_batch(&statement))
    }
}

fn load_rows(db: &Connection, lines: Lines) -> Result<RecordCounts, LoadError> {
    let gateways = db.query_row("SELECT coalesce(max(id), 0) FROM gateways", [], |row| row.get(0));
    let inserts = RecordKind::ALL.iter().map(|kind| db.prepare(&kind.insert())).collect::<Result<_, _>>();
    let mut loader = Loader {
        db,
        inserts: inserts.map_err(StoreError::from)?,
        accounts: HashMap::new(),
        gateways: gateways.map_err(StoreError::from)?,
    };
    let mut progress = LoadProgress::default();
    let mut batches = prefetch::read(lines)?;
    'reading: while let Some(batch) = batches.blocking_recv() {
        for line in batch {
            let Line { number, bytes: _, record } = line?;
            let added =
                record.map_err(RecordError::Line).and_then(|record| loader.add(&record).map(|()| record));
            match added {
                Ok(record) => progress.stored(&record),
                Err(error) => {
                    if progress.reject(number, error)?.is_break() {
                        break 'reading;
                    }
                }
            }
        }
    }
    progress.finish()
}

struct Loader<'a> {
    db: &'a Connection,
    /// The statement that adds a record of each kind, prepared once: looking up a cached statement takes a good part of an
    /// insert's time.
    inserts: Vec<Statement<'a>>,
    /// Numbers of the accounts met so far, by name.
    accounts: HashMap<String, i64>,
    /// Number of the gateway that was added last.
    gateways: i64,
}

impl Loader<'_> {
    fn add(&mut self, record: &Record) -> Result<(), RecordError> {
        check_range(record)?;
        let owner = record.owner().map(|name| self.account(name)).transpose()?;
        self.gateways += i64::from(record.kind() == RecordKind::Gateway);
        let values = record.values(owner.unwrap_or_default(), self.gateways)?;
        let inserted = self.inserts[record.kind() as usize].execute(params_from_iter(values));
        inserted.map(drop).map_err(|error| rejection(record, error))
    }

    fn account(&mut self, name: &str) -> Result<i64, RecordError> {
        if let Some(id) = self.accounts.get(name) {
            return Ok(*id);
        }
        let id = self
            .db
            .prepare_cached("SELECT id FROM accounts WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
            .optional()?
            .ok_or_else(|| RecordError::unknown_account(name))?;
        self.accounts.insert(name.to_owned(), id);
        Ok(id)
    }
}

/// The reason why a record was not inserted.
fn rejection(record: &Record, error: rusqlite::Error) -> RecordError {
    match error.sqlite_extended_error_code() {
        Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE) => RecordError::already_exists(record),
        Some(SQLITE_CONSTRAINT_FOREIGNKEY) => RecordError::unknown_group(record),
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::{open, schema};

    fn indexes(db: &Connection) -> Vec<String> {
        let mut select =
            db.prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' ORDER BY sql").unwrap();
        select.query_map([], |row| row.get(0)).unwrap().flatten().collect()
    }

    #[test]
    fn the_index_is_dropped_for_the_first_instances_only_and_restored() {
        let mut db = open::in_memory();
        let before = indexes(&db);
        let undone = db.savepoint().unwrap();
        let index = AddressIndex::drop_if_unused(&undone).unwrap();
        assert_eq!(indexes(&undone).len(), before.len() - 1);
        drop((index, undone));
        assert_eq!(indexes(&db), before, "a failed import changes nothing");

        AddressIndex::drop_if_unused(&db).unwrap().restore(&db).unwrap();
        assert_eq!(indexes(&db), before);
        db.execute("INSERT INTO accounts VALUES (1, 'a', 1)", []).unwrap();
        db.execute(
            "INSERT INTO instances VALUES (1, 1, zeroblob(16), 1, NULL, 1, '', '', '', '', 1, NULL, NULL, '', NULL, NULL, NULL)",
            [],
        )
        .unwrap();
        let index = AddressIndex::drop_if_unused(&db).unwrap();
        assert_eq!(indexes(&db), before);
        index.restore(&db).unwrap();
    }

    #[test]
    fn concurrent_searches_do_not_notice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (mut writer, reader) = (Connection::open(&path).unwrap(), Connection::open(&path).unwrap());
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        schema::migrate(&mut writer).unwrap();
        let mut search = reader
            .prepare("SELECT count(*) FROM instances INDEXED BY instances_by_address WHERE account_id = 1")
            .unwrap();
        let mut found = || search.query_row([], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(found(), 0);
        let import = writer.transaction().unwrap();
        let index = AddressIndex::drop_if_unused(&import).unwrap();
        assert_eq!(found(), 0);
        index.restore(&import).unwrap();
        import.commit().unwrap();
        assert_eq!(found(), 0);
    }
}
