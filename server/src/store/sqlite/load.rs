//! Loading records, all or none.

use std::{collections::HashMap, fmt, net::IpAddr};

use rusqlite::{
    Connection, OptionalExtension, ToSql,
    ffi::{SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE},
    params,
};

use crate::store::{
    Lines, LoadError, StoreError, ahead,
    packed::{Json, StoredIp, StoredTime, spin},
    record::{
        Account, Entitlement, Gateway, GroupRecord, InstanceRecord, Line, Loaded, ProxyPassword, Record,
        TokenRecord, WhitelistEntry,
    },
    tally::{Refused, Tally},
};

/// Adds every record, or gathers what is wrong; the caller undoes the change when this fails.
pub(super) fn load(db: &Connection, lines: Lines) -> Result<Loaded, LoadError> {
    let gateways = db.query_row("SELECT coalesce(max(id), 0) FROM gateways", [], |row| row.get(0));
    let mut loader = Loader { db, accounts: HashMap::new(), gateways: gateways.map_err(StoreError::from)? };
    let mut tally = Tally::default();
    let mut batches = ahead::read(lines)?;
    'reading: while let Some(batch) = batches.blocking_recv() {
        for line in batch {
            let Line { number, record } = line?;
            let added = record.map_err(Refused::Line).and_then(|record| loader.add(&record).map(|()| record));
            match added {
                Ok(record) => tally.stored(&record),
                Err(refused) => {
                    if tally.refused(number, refused)?.is_break() {
                        break 'reading;
                    }
                }
            }
        }
    }
    tally.finish()
}

struct Loader<'a> {
    db: &'a Connection,
    /// Numbers of the accounts met so far, by name.
    accounts: HashMap<String, i64>,
    /// Number of the gateway that was added last.
    gateways: i64,
}

impl Loader<'_> {
    fn add(&mut self, record: &Record) -> Result<(), Refused> {
        match record {
            Record::Account(account) => self.account(account),
            Record::Token(token) => self.token(token),
            Record::Whitelist(entry) => self.whitelist(entry),
            Record::Entitlement(entitlement) => self.entitlement(entitlement),
            Record::Gateway(gateway) => self.gateway(gateway),
            Record::Group(group) => self.group(group),
            Record::Instance(instance) => self.instance(instance),
        }
    }

    fn account(&self, account: &Account) -> Result<(), Refused> {
        let Account { name, real_name_verified } = account;
        self.insert(
            format_args!("an account named {name:?}"),
            "INSERT INTO accounts (name, real_name_verified) VALUES (?1, ?2)",
            params![name, real_name_verified],
        )
    }

    fn token(&mut self, token: &TokenRecord) -> Result<(), Refused> {
        let TokenRecord { account, sha256, kind, created_at, expires_at, revoked_at } = token;
        let account = self.owner(account)?;
        self.insert(
            format_args!("a token with this digest"),
            "INSERT INTO tokens (account_id, sha256, kind, created_at, expires_at, revoked_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                account,
                sha256,
                kind,
                StoredTime(*created_at),
                expires_at.map(StoredTime),
                revoked_at.map(StoredTime)
            ],
        )
    }

    fn whitelist(&mut self, entry: &WhitelistEntry) -> Result<(), Refused> {
        let WhitelistEntry { account, first, last, enabled, expires_at } = entry;
        let last = last.unwrap_or(*first);
        if last < *first {
            return Err(Refused::Line(format!("the range ends at {last}, before it begins at {first}")));
        }
        let account = self.owner(account)?;
        self.insert(
            format_args!("this whitelist entry"),
            "INSERT INTO whitelist (account_id, first, last, enabled, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                account,
                StoredIp(IpAddr::V4(*first)),
                StoredIp(IpAddr::V4(last)),
                enabled,
                expires_at.map(StoredTime)
            ],
        )
    }

    fn entitlement(&mut self, entitlement: &Entitlement) -> Result<(), Refused> {
        let Entitlement { account: name, protocol, expires_at } = entitlement;
        let account = self.owner(name)?;
        self.insert(
            format_args!("an entitlement of {name:?} for {protocol}"),
            "INSERT INTO entitlements (account_id, protocol, expires_at) VALUES (?1, ?2, ?3)",
            params![account, protocol, expires_at.map(StoredTime)],
        )
    }

    fn gateway(&mut self, gateway: &Gateway) -> Result<(), Refused> {
        let Gateway { host, port, region, protocol, username, password } = gateway;
        self.gateways += 1;
        self.insert(
            format_args!("a {protocol} gateway {host}:{port} in {region}"),
            "INSERT INTO gateways (id, host, port, region, protocol, spin, username, password)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                self.gateways,
                host,
                port,
                region,
                protocol,
                spin(self.gateways),
                username,
                shown(password)
            ],
        )
    }

    fn group(&mut self, group: &GroupRecord) -> Result<(), Refused> {
        let GroupRecord { account, group_id, name, created_at, updated_at } = group;
        let account = self.owner(account)?;
        self.insert(
            format_args!("a group {}", group_id.get()),
            "INSERT INTO groups (id, account_id, name, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![group_id, account, name, StoredTime(*created_at), StoredTime(*updated_at)],
        )
    }

    fn instance(&mut self, instance: &InstanceRecord) -> Result<(), Refused> {
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
        self.insert(
            format_args!("an instance {}", instance_id.get()),
            "INSERT INTO instances (id, account_id, ip, port, order_no, offer_id, status, protocols, country_code,
                                    city_code, isp_type, expires_at, activated_at, capabilities, group_id,
                                    username, password)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
            params![
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
            ],
        )
    }

    fn owner(&mut self, name: &str) -> Result<i64, Refused> {
        if let Some(id) = self.accounts.get(name) {
            return Ok(*id);
        }
        let id = self
            .db
            .prepare_cached("SELECT id FROM accounts WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
            .optional()?
            .ok_or_else(|| {
                Refused::Line(format!("there is no account named {name:?}; its record comes first"))
            })?;
        self.accounts.insert(name.to_owned(), id);
        Ok(id)
    }

    fn insert(&self, what: fmt::Arguments<'_>, sql: &str, values: &[&dyn ToSql]) -> Result<(), Refused> {
        let Err(error) = self.db.prepare_cached(sql)?.execute(values) else { return Ok(()) };
        match error.sqlite_extended_error_code() {
            Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE) => {
                Err(Refused::Line(format!("there is already {what}")))
            }
            // Accounts were looked up before, so the group is what is missing.
            Some(SQLITE_CONSTRAINT_FOREIGNKEY) => Err(Refused::Line(format!(
                "the group of {what} is not a group of its account; groups come first"
            ))),
            _ => Err(error.into()),
        }
    }
}

fn shown(password: &Option<ProxyPassword>) -> Option<&str> {
    password.as_ref().map(ProxyPassword::expose)
}
