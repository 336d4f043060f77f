//! Loading records, all or none.

use std::collections::HashMap;

use rusqlite::{
    Connection, OptionalExtension, Statement,
    ffi::{SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE},
    params,
};

use crate::store::{
    Lines, LoadError, StoreError,
    load_progress::{LoadProgress, RecordError, range},
    packed::{Json, StoredIp, StoredTime, spin},
    prefetch,
    record::{
        AccountRecord, EntitlementRecord, GatewayRecord, GroupRecord, InstanceRecord, Line, ProxyPassword,
        Record, RecordCounts, TokenRecord, WhitelistRecord,
    },
};

/// Memory for pages that wait for their commit during an import, in KiB, written as SQLite wants it. Pages that do not fit
/// are written and read again and again.
const CACHE: i32 = -65_536;

/// Adds every record, or gathers what is wrong; the caller undoes the change when this fails.
pub(super) fn load(db: &Connection, lines: Lines) -> Result<RecordCounts, LoadError> {
    let usual: i32 = db.pragma_query_value(None, "cache_size", |row| row.get(0)).map_err(StoreError::from)?;
    db.pragma_update(None, "cache_size", CACHE).map_err(StoreError::from)?;
    let loaded = load_all(db, lines);
    db.pragma_update(None, "cache_size", usual).map_err(StoreError::from)?;
    loaded
}

fn load_all(db: &Connection, lines: Lines) -> Result<RecordCounts, LoadError> {
    let index = AddressIndex::put_off(db).map_err(StoreError::from)?;
    let loaded = load_rows(db, lines)?;
    index.make(db).map_err(StoreError::from)?;
    Ok(loaded)
}

/// The index of instances by their address. The first instances of a database are loaded without it: addresses come in any
/// order, and to put each into its place in an index that is larger than the memory takes longer than all the rest.
struct AddressIndex {
    /// The statement that makes it, when it was put off.
    missing: Option<String>,
}

impl AddressIndex {
    fn put_off(db: &Connection) -> rusqlite::Result<Self> {
        let any = db.query_row("SELECT EXISTS (SELECT 1 FROM instances)", [], |row| row.get(0))?;
        if any {
            return Ok(Self { missing: None });
        }
        let select = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = 'instances_by_address'";
        let made_by = db.query_row(select, [], |row| row.get(0))?;
        db.execute_batch("DROP INDEX instances_by_address")?;
        Ok(Self { missing: Some(made_by) })
    }

    fn make(self, db: &Connection) -> rusqlite::Result<()> {
        self.missing.map_or(Ok(()), |statement| db.execute_batch(&statement))
    }
}

fn load_rows(db: &Connection, lines: Lines) -> Result<RecordCounts, LoadError> {
    let gateways = db.query_row("SELECT coalesce(max(id), 0) FROM gateways", [], |row| row.get(0));
    let (inserts, gateways) = (Inserts::prepare(db), gateways.map_err(StoreError::from)?);
    let mut loader =
        Loader { db, inserts: inserts.map_err(StoreError::from)?, accounts: HashMap::new(), gateways };
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
    inserts: Inserts<'a>,
    /// Numbers of the accounts met so far, by name.
    accounts: HashMap<String, i64>,
    /// Number of the gateway that was added last.
    gateways: i64,
}

/// The statements that add records, prepared once: looking up a cached statement takes a good part of an insert's time.
struct Inserts<'a> {
    account: Statement<'a>,
    token: Statement<'a>,
    whitelist: Statement<'a>,
    entitlement: Statement<'a>,
    gateway: Statement<'a>,
    group: Statement<'a>,
    instance: Statement<'a>,
}

impl<'a> Inserts<'a> {
    fn prepare(db: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            account: db.prepare(ACCOUNT)?,
            token: db.prepare(TOKEN)?,
            whitelist: db.prepare(WHITELIST)?,
            entitlement: db.prepare(ENTITLEMENT)?,
            gateway: db.prepare(GATEWAY)?,
            group: db.prepare(GROUP)?,
            instance: db.prepare(INSTANCE)?,
        })
    }
}

/// The outcome of an insert, or why the record cannot be one.
type Inserted = Result<rusqlite::Result<usize>, RecordError>;

impl Loader<'_> {
    fn add(&mut self, record: &Record) -> Result<(), RecordError> {
        let inserted = match record {
            Record::Account(account) => self.account(account),
            Record::Token(token) => self.token(token),
            Record::Whitelist(entry) => self.whitelist(entry),
            Record::Entitlement(entitlement) => self.entitlement(entitlement),
            Record::Gateway(gateway) => self.gateway(gateway),
            Record::Group(group) => self.group(group),
            Record::Instance(instance) => self.instance(instance),
        }?;
        inserted.map(drop).map_err(|error| rejection(record, error))
    }

    fn account(&mut self, account: &AccountRecord) -> Inserted {
        let AccountRecord { name, real_name_verified } = account;
        Ok(self.inserts.account.execute(params![name, real_name_verified]))
    }

    fn token(&mut self, token: &TokenRecord) -> Inserted {
        let TokenRecord { account, sha256, kind, created_at, expires_at, revoked_at } = token;
        let account = self.owner(account)?;
        Ok(self.inserts.token.execute(params![
            account,
            sha256,
            kind,
            StoredTime(*created_at),
            expires_at.map(StoredTime),
            revoked_at.map(StoredTime)
        ]))
    }

    fn whitelist(&mut self, entry: &WhitelistRecord) -> Inserted {
        let WhitelistRecord { account, first: _, last: _, enabled, expires_at } = entry;
        let [first, last] = range(entry)?;
        let account = self.owner(account)?;
        Ok(self.inserts.whitelist.execute(params![account, first, last, enabled, expires_at.map(StoredTime)]))
    }

    fn entitlement(&mut self, entitlement: &EntitlementRecord) -> Inserted {
        let EntitlementRecord { account, protocol, expires_at } = entitlement;
        let account = self.owner(account)?;
        Ok(self.inserts.entitlement.execute(params![account, protocol, expires_at.map(StoredTime)]))
    }

    fn gateway(&mut self, gateway: &GatewayRecord) -> Inserted {
        let GatewayRecord { host, port, region, protocol, username, password } = gateway;
        self.gateways += 1;
        Ok(self.inserts.gateway.execute(params![
            self.gateways,
            host,
            port,
            region,
            protocol,
            spin(self.gateways),
            username,
            shown(password)
        ]))
    }

    fn group(&mut self, group: &GroupRecord) -> Inserted {
        let GroupRecord { account, group_id, name, created_at, updated_at } = group;
        let account = self.owner(account)?;
        Ok(self.inserts.group.execute(params![
            group_id,
            account,
            name,
            StoredTime(*created_at),
            StoredTime(*updated_at)
        ]))
    }

    fn instance(&mut self, instance: &InstanceRecord) -> Inserted {
        let InstanceRecord {
            account,
            order_no,
            instance_id,
            offer_id,
            status,
            ip,
            port,
            protocols,
            country_code,
            city_code,
            isp_type,
            expires_at,
            activated_at,
            capabilities,
            group_id,
            username,
            password,
        } = instance;
        let account = self.owner(account)?;
        Ok(self.inserts.instance.execute(params![
            instance_id,
            account,
            StoredIp(*ip),
            port,
            order_no,
            offer_id,
            status,
            Json(protocols),
            country_code,
            city_code,
            isp_type,
            expires_at.map(StoredTime),
            activated_at.map(StoredTime),
            Json(capabilities),
            group_id,
            username,
            shown(password),
        ]))
    }

    fn owner(&mut self, name: &str) -> Result<i64, RecordError> {
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

fn shown(password: &Option<ProxyPassword>) -> Option<&str> {
    password.as_ref().map(ProxyPassword::expose)
}

const ACCOUNT: &str = "INSERT INTO accounts (name, real_name_verified) VALUES (?1, ?2)";
const TOKEN: &str = "INSERT INTO tokens (account_id, sha256, kind, created_at, expires_at, revoked_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const WHITELIST: &str =
    "INSERT INTO whitelist (account_id, first, last, enabled, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)";
const ENTITLEMENT: &str = "INSERT INTO entitlements (account_id, protocol, expires_at) VALUES (?1, ?2, ?3)";
const GATEWAY: &str = "INSERT INTO gateways (id, host, port, region, protocol, spin, username, password)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const GROUP: &str =
    "INSERT INTO groups (id, account_id, name, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5)";
const INSTANCE: &str = "INSERT INTO instances (id, account_id, ip, port, order_no, offer_id, status, protocols,
        country_code, city_code, isp_type, expires_at, activated_at, capabilities, group_id, username, password)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";

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
    fn the_index_is_put_off_for_the_first_instances_only_and_made_again() {
        let mut db = open::in_memory();
        let before = indexes(&db);
        let undone = db.savepoint().unwrap();
        let index = AddressIndex::put_off(&undone).unwrap();
        assert_eq!(indexes(&undone).len(), before.len() - 1);
        drop((index, undone));
        assert_eq!(indexes(&db), before, "an import that fails takes nothing away");

        AddressIndex::put_off(&db).unwrap().make(&db).unwrap();
        assert_eq!(indexes(&db), before);
        db.execute("INSERT INTO accounts VALUES (1, 'a', 1)", []).unwrap();
        db.execute(
            "INSERT INTO instances VALUES (1, 1, zeroblob(16), 1, NULL, 1, '', '', '', '', 1, NULL, NULL, '', NULL, NULL, NULL)",
            [],
        )
        .unwrap();
        let index = AddressIndex::put_off(&db).unwrap();
        assert_eq!(indexes(&db), before);
        index.make(&db).unwrap();
    }

    #[test]
    fn who_searches_meanwhile_does_not_notice() {
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
        let index = AddressIndex::put_off(&import).unwrap();
        assert_eq!(found(), 0);
        index.make(&import).unwrap();
        import.commit().unwrap();
        assert_eq!(found(), 0);
    }
}
