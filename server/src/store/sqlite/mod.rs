//! The store in one SQLite file: one thread that writes, a few connections that read, and a cache for extractions.

mod account;
mod cache;
mod codec;
mod error;
mod extract;
mod gateways;
mod load;
mod new_file;
mod open;
mod readers;
mod registry;
mod schema;
mod search;
mod unload;
mod watch;
mod writer;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use jiff::Timestamp;

pub use self::new_file::NewFile;
use self::{cache::Cache, readers::Readers, writer::Writer};
use super::{
    Lines, LoadError, OpenError, OpenMode, Pool, Sink, Store, StoreError, Supply, UnloadError, record::Loaded,
};
use crate::domain::{
    access::{AccountId, Credential, Guarded},
    extraction::{ExtractionFacts, ExtractionQuery, StoredExtraction},
    instance::Group,
    search::{SearchPage, SearchQuery},
    token::TokenDigest,
};

/// A database in a SQLite file. Other processes may use the file at the same time.
#[derive(Debug)]
pub struct SqliteStore {
    // In this order: cache and readers close before the writer, whose connection puts the log back into the file.
    cache: Arc<Cache>,
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

    /// Makes an empty database in a temporary folder, which goes away with the store.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn temporary() -> Result<Self, OpenError> {
        open::temporary()
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn at_hand(&self, query: &ExtractionQuery) -> Option<Guarded<ExtractionFacts>> {
        self.cache.facts(query)
    }

    async fn extraction(
        &self,
        query: &ExtractionQuery,
    ) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
        let query = query.clone();
        if query.request_id.is_some() {
            return self.readers.read(move |snapshot| extract::facts(snapshot, &query)).await;
        }
        let cache = Arc::clone(&self.cache);
        self.readers.read(move |snapshot| cache.read(snapshot, &query)).await
    }

    async fn remember(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, StoreError> {
        self.writer.write(move |db| extract::remember(db, account, &request_id, &extraction, now)).await
    }

    async fn forget(&self, end: Timestamp) -> Result<u64, StoreError> {
        self.writer.write(move |db| extract::forget(db, end)).await
    }

    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, StoreError> {
        if let Some(credential) = self.cache.credential(digest) {
            return Ok(Some(credential));
        }
        let cache = Arc::clone(&self.cache);
        self.readers.read(move |snapshot| cache.read_credential(snapshot, digest)).await
    }

    async fn groups(&self, digest: TokenDigest) -> Result<Option<Guarded<Vec<Group>>>, StoreError> {
        self.readers.read(move |snapshot| search::groups(snapshot, digest)).await
    }

    async fn search(
        &self,
        digest: TokenDigest,
        query: SearchQuery,
    ) -> Result<Option<Guarded<SearchPage>>, StoreError> {
        self.readers.read(move |snapshot| search::page(snapshot, digest, &query)).await
    }

    async fn load(&self, lines: Lines) -> Result<Loaded, LoadError> {
        self.writer.write(move |db| load::load(db, lines)).await
    }

    async fn unload(&self, sink: Box<dyn Sink>) -> Result<Loaded, UnloadError> {
        self.readers.read(move |snapshot| unload::unload(snapshot, sink)).await
    }

    async fn supply(&self) -> Result<Vec<Supply>, StoreError> {
        self.readers.read(gateways::supply).await
    }

    fn pool(&self) -> Pool {
        self.readers.pool()
    }
}
