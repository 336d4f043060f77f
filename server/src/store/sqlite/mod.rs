//! The store in one SQLite file: one thread that writes, a few connections that read, and the cache.

mod codec;
mod error;
mod extract;
mod gateways;
mod load;
mod new_file;
mod open;
mod readers;
#[cfg(feature = "admin")]
mod registry;
mod revision;
mod schema;
mod search;
mod unload;
mod writer;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::Connection;

pub use self::new_file::NewFile;
use self::{
    readers::Readers,
    revision::{CurrentRevision, Revision},
    writer::Writer,
};
use super::{
    Archive, Lines, LoadError, OpenError, OpenMode, Pool, Result, Sink, Supply, UnloadError, Upkeep,
    cache::Cache, record::RecordCounts,
};
use crate::domain::{
    access::{AccountId, Credential, ProtectedData},
    extraction::{ExtractionData, ExtractionQuery, StoredExtraction},
    instance::Group,
    ports::{Found, Repository, RepositoryError},
    search::{SearchPage, SearchQuery},
    token::TokenDigest,
};

/// A database in a SQLite file. Other processes may use the file at the same time.
#[derive(Debug)]
pub struct SqliteStore {
    cache: Arc<Cache<Revision>>,
    // Dropped in this order: the readers before the writer, whose connection then moves the write-ahead log into the file.
    revision: CurrentRevision,
    readers: Readers,
    writer: Writer,
    _folder: Option<tempfile::TempDir>,
}

impl SqliteStore {
    /// Opens the database at `path` and brings its schema up to date.
    ///
    /// # Errors
    /// Says in one line why the file cannot be used.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, OpenError> {
        open::open(path, mode)
    }

    /// Creates an empty database in a temporary folder, which is deleted with the store.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn temporary() -> Result<Self, OpenError> {
        open::temporary()
    }
}

#[async_trait]
impl Repository for SqliteStore {
    fn cached_extraction(&self, query: &ExtractionQuery) -> Option<ProtectedData<ExtractionData>> {
        self.cache.extraction(query, self.revision.get()?)
    }

    async fn extraction(&self, query: &ExtractionQuery) -> Found<ExtractionData> {
        let (query, cache) = (query.clone(), Arc::clone(&self.cache));
        Ok(self.readers.read(move |snapshot| extract::data(snapshot, &query, &cache)).await?)
    }

    async fn store_extraction(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, RepositoryError> {
        let store = move |db: &Connection| extract::store(db, account, &request_id, &extraction, now);
        Ok(self.writer.write(store).await?)
    }

    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, RepositoryError> {
        let now = self.revision.get();
        if let Some(credential) = now.and_then(|now| self.cache.credential(digest, now)) {
            return Ok(Some(credential));
        }
        let cache = Arc::clone(&self.cache);
        let credential = self.readers.read(move |snapshot| -> Result<_> {
            let read_at = Revision::read(snapshot)?;
            let credential = extract::credential(snapshot, digest)?;
            if let Some(credential) = credential {
                cache.insert_credential(digest, credential, read_at);
            }
            Ok(credential)
        });
        Ok(credential.await?)
    }

    async fn groups(&self, digest: TokenDigest) -> Found<Vec<Group>> {
        Ok(self.readers.read(move |snapshot| search::groups(snapshot, digest)).await?)
    }

    async fn search(&self, digest: TokenDigest, query: SearchQuery) -> Found<SearchPage> {
        Ok(self.readers.read(move |snapshot| search::page(snapshot, digest, &query)).await?)
    }
}

#[async_trait]
impl Archive for SqliteStore {
    async fn load(&self, lines: Lines) -> Result<RecordCounts, LoadError> {
        self.writer.write(move |db| load::load(db, lines)).await
    }

    async fn unload(&self, sink: Box<dyn Sink>) -> Result<RecordCounts, UnloadError> {
        self.readers.read(move |snapshot| unload::unload(snapshot, sink)).await
    }
}

#[async_trait]
impl Upkeep for SqliteStore {
    async fn delete_extractions(&self, end: Timestamp) -> Result<u64> {
        self.writer.write(move |db| extract::delete_before(db, end)).await
    }

    async fn newest_extraction(&self) -> Result<Option<Timestamp>> {
        self.readers.read(extract::newest).await
    }

    async fn supply(&self) -> Result<Vec<Supply>> {
        self.readers.read(gateways::supply).await
    }

    fn pool(&self) -> Pool {
        self.readers.pool()
    }
}
