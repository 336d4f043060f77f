//! What makes large imports fast on SQLite.

use rusqlite::Connection;

use crate::store::Result;

/// Memory for uncommitted pages during an import, in SQLite's notation (negative KiB). Pages that do not fit are written and read
/// repeatedly.
const CACHE_SIZE: i32 = -65_536;

/// Runs an import; the caller rolls back if this fails.
pub(super) fn in_bulk(db: &Connection, import: impl FnOnce() -> Result<()>) -> Result<()> {
    let usual: i32 = db.pragma_query_value(None, "cache_size", |row| row.get(0))?;
    db.pragma_update(None, "cache_size", CACHE_SIZE)?;
    let imported = without_index(db, import);
    db.pragma_update(None, "cache_size", usual)?;
    imported
}

fn without_index(db: &Connection, import: impl FnOnce() -> Result<()>) -> Result<()> {
    let index = AddressIndex::drop_if_unused(db)?;
    import()?;
    Ok(index.restore(db)?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::open;

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
}
