//! Loading records, all or none. Records of one kind that follow each other are copied together; when the database
//! rejects them, they are stored one by one, to find the invalid ones.

use std::{collections::HashMap, mem, pin::pin};

use deadpool_postgres::{Client, Transaction};
use tokio_postgres::{Error, binary_copy::BinaryCopyInWriter, error::SqlState, types::ToSql};

use super::{
    codec::{get, storable},
    schema,
};
use crate::store::{
    Lines, LoadError, Result, StoreError,
    load_progress::{LoadProgress, RecordError, check_range, describe},
    prefetch::{self, BATCH, BATCH_BYTES},
    record::{Line, Record, RecordCounts},
    record_kind::RecordKind,
    row::Value,
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
    // This was the last batch, so there is nothing left to stop.
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
    /// The current batch: records of one kind with their line numbers.
    waiting: Vec<(u64, Record)>,
    /// Length of the batch's lines.
    waiting_bytes: usize,
    progress: LoadProgress,
}

type Flow = std::ops::ControlFlow<()>;

/// A record with its line number and the values of its columns.
struct Row {
    number: u64,
    record: Record,
    values: Vec<Value<'static>>,
}

impl Row {
    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
    }
}

impl Loader<'_> {
    async fn line(&mut self, Line { number, bytes, record }: Line) -> Result<Flow, LoadError> {
        let record = match record {
            Ok(record) => record,
            Err(reason) => return self.progress.reject(number, RecordError::Line(reason)),
        };
        let same = self.waiting.last().is_none_or(|(_, last)| last.kind() == record.kind());
        let full = self.waiting.len() == BATCH || self.waiting_bytes >= BATCH_BYTES;
        if (!same || full) && self.flush().await?.is_break() {
            return Ok(Flow::Break(()));
        }
        self.waiting.push((number, record));
        self.waiting_bytes += bytes;
        Ok(Flow::Continue(()))
    }

    /// Stores the current batch.
    async fn flush(&mut self) -> Result<Flow, LoadError> {
        let mut rows = Vec::with_capacity(self.waiting.len());
        self.waiting_bytes = 0;
        for (number, record) in mem::take(&mut self.waiting) {
            match self.values(&record).await {
                Ok(values) => rows.push(Row { number, record, values }),
                Err(error) => {
                    if self.progress.reject(number, error)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
            }
        }
        if self.copied(&rows).await? {
            rows.iter().for_each(|row| self.progress.stored(&row.record));
            return Ok(Flow::Continue(()));
        }
        for row in rows {
            match self.insert(&row).await {
                Ok(()) => self.progress.stored(&row.record),
                Err(error) => {
                    if self.progress.reject(row.number, error)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Stores rows together; `false`, with nothing stored, when the database rejects one of them.
    async fn copied(&mut self, rows: &[Row]) -> Result<bool> {
        let Some(Row { record, .. }) = rows.first() else { return Ok(true) };
        let attempt = self.change.savepoint("copied").await?;
        match copy(&attempt, record.kind(), rows).await {
            Ok(()) => attempt.commit().await?,
            Err(error) if is_rejected_row(&error) => {
                attempt.rollback().await?;
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    async fn insert(&mut self, row: &Row) -> Result<(), RecordError> {
        let record = &row.record;
        let attempt = self.change.savepoint("inserted").await?;
        let statement = attempt.prepare_cached(&record.kind().insert()).await?;
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

    /// The values of the record's columns.
    async fn values(&mut self, record: &Record) -> Result<Vec<Value<'static>>, RecordError> {
        check_range(record)?;
        let owner = match record.owner() {
            Some(name) => self.account(name).await?,
            None => 0,
        };
        self.gateways += i64::from(record.kind() == RecordKind::Gateway);
        let values = record.values(owner, self.gateways)?;
        Ok(values.into_iter().map(Value::into_owned).collect())
    }

    async fn account(&mut self, name: &str) -> Result<i64, RecordError> {
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

async fn copy(attempt: &Transaction<'_>, kind: RecordKind, rows: &[Row]) -> Result<(), Error> {
    // The statement is prepared for the types of its columns.
    let insert = attempt.prepare_cached(&kind.insert()).await?;
    let sink = attempt.copy_in(&kind.copy()).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, insert.params()));
    for row in rows {
        writer.as_mut().write(&row.parameters()).await?;
    }
    writer.finish().await.map(drop)
}

/// Whether the database rejected a row, and did not fail otherwise.
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
