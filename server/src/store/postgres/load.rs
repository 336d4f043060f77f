//! Loading records, all or none. Records of one kind that follow each other are copied together; when the database
//! rejects them, they are stored one by one, to find the invalid ones.

use std::{collections::HashMap, mem, pin::pin};

use deadpool_postgres::{Client, Transaction};
use tokio_postgres::{Error, binary_copy::BinaryCopyInWriter, error::SqlState, types::ToSql};

use super::{
    codec::{get, storable},
    schema,
    tables::{self, Table},
};
use crate::store::{
    Lines, LoadError, StoreError,
    load_progress::{LoadProgress, RecordError, describe, range},
    packed::{Json, StoredIp, StoredTime, spin},
    prefetch::{self, BATCH, BATCH_BYTES},
    record::{
        AccountRecord, EntitlementRecord, GatewayRecord, GroupRecord, InstanceRecord, Line, ProxyPassword,
        Record, RecordCounts, TokenRecord, WhitelistRecord,
    },
};

/// Number of the lock under which an import or a command assigns numbers ("sallyloa" in ASCII).
pub(super) const LOCK: i64 = 0x7361_6c6c_796c_6f61;

/// Adds every record, or none.
pub(super) async fn load(client: &mut Client, lines: Lines) -> Result<RecordCounts, LoadError> {
    let change = client.transaction().await.map_err(StoreError::from)?;
    schema::lock(&change, LOCK).await?;
    let row = change.query_one("SELECT coalesce(max(id), 0) FROM gateways", &[]).await;
    let gateways = get(&row.map_err(StoreError::from)?, 0)?;
    let mut loader = Loader {
        change,
        accounts: HashMap::new(),
        gateways,
        waiting: Vec::new(),
        waiting_bytes: 0,
        progress: LoadProgress::default(),
    };
    let mut batches = prefetch::read(lines)?;
    'reading: while let Some(batch) = batches.recv().await {
        for line in batch {
            if loader.line(line?).await?.is_break() {
                break 'reading;
            }
        }
    }
    // There is nothing left to stop, so the number of invalid lines no longer matters.
    let _ = loader.flush().await?;
    let Loader { change, progress, .. } = loader;
    let loaded = progress.finish()?;
    change.commit().await.map_err(StoreError::from)?;
    Ok(loaded)
}

struct Loader<'a> {
    change: Transaction<'a>,
    /// Numbers of the accounts met so far, by name.
    accounts: HashMap<String, i64>,
    /// Number of the gateway that was added last.
    gateways: i64,
    /// Records that are not stored yet, all of one kind, with their line numbers.
    waiting: Vec<(u64, Record)>,
    /// Length of their lines.
    waiting_bytes: usize,
    progress: LoadProgress,
}

type Flow = std::ops::ControlFlow<()>;
type Values = Vec<Box<dyn ToSql + Sync + Send>>;

/// A record as a table holds it.
struct Row {
    table: &'static Table,
    /// One for each column.
    values: Values,
}

impl Row {
    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }
}

macro_rules! values {
    ($($value:expr),+ $(,)?) => { vec![$(Box::new($value) as Box<dyn ToSql + Sync + Send>),+] };
}

impl Loader<'_> {
    async fn line(&mut self, Line { number, bytes, record }: Line) -> Result<Flow, LoadError> {
        let record = match record {
            Ok(record) => record,
            Err(reason) => return self.progress.reject(number, RecordError::Line(reason)),
        };
        let same =
            self.waiting.last().is_none_or(|(_, last)| mem::discriminant(last) == mem::discriminant(&record));
        let full = self.waiting.len() == BATCH || self.waiting_bytes >= BATCH_BYTES;
        if (!same || full) && self.flush().await?.is_break() {
            return Ok(Flow::Break(()));
        }
        self.waiting.push((number, record));
        self.waiting_bytes += bytes;
        Ok(Flow::Continue(()))
    }

    /// Stores what is waiting.
    async fn flush(&mut self) -> Result<Flow, LoadError> {
        let mut ready = Vec::with_capacity(self.waiting.len());
        self.waiting_bytes = 0;
        for (number, record) in mem::take(&mut self.waiting) {
            match self.row(&record).await {
                Ok(row) => ready.push((number, record, row)),
                Err(error) => {
                    if self.progress.reject(number, error)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
            }
        }
        if self.copied(&ready).await? {
            ready.iter().for_each(|(_, record, _)| self.progress.stored(record));
            return Ok(Flow::Continue(()));
        }
        for (number, record, row) in ready {
            match self.insert(&record, &row).await {
                Ok(()) => self.progress.stored(&record),
                Err(error) => {
                    if self.progress.reject(number, error)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Stores rows together; `false`, with nothing stored, when the database rejects one of them.
    async fn copied(&mut self, rows: &[(u64, Record, Row)]) -> Result<bool, StoreError> {
        let Some((_, _, Row { table, .. })) = rows.first() else { return Ok(true) };
        let attempt = self.change.savepoint("copied").await?;
        match copy(&attempt, table, rows).await {
            Ok(()) => attempt.commit().await?,
            Err(error) if is_rejected_row(&error) => {
                attempt.rollback().await?;
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    async fn insert(&mut self, record: &Record, row: &Row) -> Result<(), RecordError> {
        let attempt = self.change.savepoint("inserted").await?;
        let statement = attempt.prepare_cached(&row.table.insert()).await?;
        let Err(error) = attempt.execute(&statement, &row.parameters()).await else {
            return Ok(attempt.commit().await?);
        };
        if !is_rejected_row(&error) {
            return Err(error.into());
        }
        attempt.rollback().await?;
        Err(match error.code() {
            Some(&SqlState::UNIQUE_VIOLATION) => RecordError::already_exists(record),
            Some(&SqlState::FOREIGN_KEY_VIOLATION) => RecordError::unknown_group(record),
            Some(&SqlState::CHARACTER_NOT_IN_REPERTOIRE) => RecordError::Line(format!(
                "{} has a text with a NUL character, which PostgreSQL cannot store",
                describe(record)
            )),
            _ => error.into(),
        })
    }

    /// The row that holds the record.
    async fn row(&mut self, record: &Record) -> Result<Row, RecordError> {
        let (table, values) = match record {
            Record::Account(AccountRecord { name, real_name_verified }) => {
                (&tables::ACCOUNTS, values![name.clone(), *real_name_verified])
            }
            Record::Token(TokenRecord { account, sha256, kind, created_at, expires_at, revoked_at }) => (
                &tables::TOKENS,
                values![
                    self.owner(account).await?,
                    *sha256,
                    *kind,
                    StoredTime(*created_at),
                    expires_at.map(StoredTime),
                    revoked_at.map(StoredTime),
                ],
            ),
            Record::Whitelist(entry) => {
                let WhitelistRecord { account, first: _, last: _, enabled, expires_at } = entry;
                let [first, last] = range(entry)?;
                let owner = self.owner(account).await?;
                (&tables::WHITELIST, values![owner, first, last, *enabled, expires_at.map(StoredTime)])
            }
            Record::Entitlement(EntitlementRecord { account, protocol, expires_at }) => (
                &tables::ENTITLEMENTS,
                values![self.owner(account).await?, *protocol, expires_at.map(StoredTime)],
            ),
            Record::Gateway(GatewayRecord { host, port, region, protocol, username, password }) => {
                self.gateways += 1;
                (
                    &tables::GATEWAYS,
                    values![
                        self.gateways,
                        host.clone(),
                        i32::from(*port),
                        region.clone(),
                        *protocol,
                        spin(self.gateways),
                        username.clone(),
                        shown(password),
                    ],
                )
            }
            Record::Group(GroupRecord { account, group_id, name, created_at, updated_at }) => (
                &tables::GROUPS,
                values![
                    *group_id,
                    self.owner(account).await?,
                    name.clone(),
                    StoredTime(*created_at),
                    StoredTime(*updated_at),
                ],
            ),
            Record::Instance(instance) => {
                let owner = self.owner(&instance.account).await?;
                (&tables::INSTANCES, instance_values(owner, instance))
            }
        };
        Ok(Row { table, values })
    }

    async fn owner(&mut self, name: &str) -> Result<i64, RecordError> {
        if let Some(id) = self.accounts.get(name) {
            return Ok(*id);
        }
        let row = self
            .change
            .query_opt("SELECT id FROM accounts WHERE name = $1", &[&storable(name)])
            .await?
            .ok_or_else(|| RecordError::unknown_account(name))?;
        let id = get(&row, 0)?;
        self.accounts.insert(name.to_owned(), id);
        Ok(id)
    }
}

async fn copy(attempt: &Transaction<'_>, table: &Table, rows: &[(u64, Record, Row)]) -> Result<(), Error> {
    let sink = attempt.copy_in(&table.copy()).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &table.types()));
    for (_, _, row) in rows {
        writer.as_mut().write(&row.parameters()).await?;
    }
    writer.finish().await.map(drop)
}

fn instance_values(owner: i64, instance: &InstanceRecord) -> Values {
    let InstanceRecord {
        account: _,
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
    values![
        *instance_id,
        owner,
        StoredIp(*ip),
        i32::from(*port),
        order_no.clone(),
        *offer_id,
        *status,
        Json(protocols.clone()),
        country_code.clone(),
        city_code.clone(),
        i64::from(*isp_type),
        expires_at.map(StoredTime),
        activated_at.map(StoredTime),
        Json(capabilities.clone()),
        *group_id,
        username.clone(),
        shown(password),
    ]
}

/// Whether the database rejected a row, and did not fail.
fn is_rejected_row(error: &Error) -> bool {
    matches!(
        error.code(),
        Some(
            &SqlState::UNIQUE_VIOLATION
                | &SqlState::FOREIGN_KEY_VIOLATION
                | &SqlState::CHARACTER_NOT_IN_REPERTOIRE
        )
    )
}

fn shown(password: &Option<ProxyPassword>) -> Option<String> {
    password.as_ref().map(|password| password.expose().to_owned())
}
