//! The store on a PostgreSQL server, which any number of servers can share. Every query is one statement, so that it reads one
//! snapshot in one round trip. The data of extractions is cached for one lease.

mod codec;
mod connect;
mod connection;
mod demand;
mod error;
mod extract;
mod lease;
mod load;
mod owners;
#[cfg(feature = "admin")]
mod registry;
mod schema;
mod search;
mod unload;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use deadpool_postgres::{Client, Pool, Status};
use jiff::Timestamp;
use tokio_postgres::Row;

pub(super) use self::lease::wait_until_in_force;
use self::{
    codec::{get, time},
    connection::Connection,
    demand::Demand,
    extract::ExtractionRead,
    lease::Moment,
    owners::{Owner, Owners},
};
pub use self::{
    connect::{Limits, PostgresUrl},
    lease::LEASE,
};
use super::{
    Archive, Lines, LoadError, OpenError, OpenMode, Result, Sink, StoreError, Supply, UnloadError, Upkeep,
    cache::{Cache, Gateways},
    record::RecordCounts,
};
use crate::{
    domain::{
        access::{AccountId, Credential, ProtectedData},
        extraction::{ExtractionData, ExtractionQuery, Parameters, StoredExtraction},
        instance::Group,
        ports::{Found, Repository, RepositoryError},
        search::{SearchPage, SearchQuery},
        token::TokenDigest,
    },
    store,
};

/// A database on a PostgreSQL server. A lost connection fails the calls that are on it; the next ones get a new one.
#[derive(Debug)]
pub struct PostgresStore {
    pool: Pool,
    response_timeout: Duration,
    owners: Owners,
    cache: Arc<Cache<Moment>>,
    demand: Arc<Demand>,
}

impl PostgresStore {
    /// Connects to the database and brings its schema up to date.
    ///
    /// # Errors
    /// Says in one line why the database cannot be used.
    pub async fn open(url: &PostgresUrl, mode: OpenMode, limits: Limits) -> Result<Self, OpenError> {
        let database = url.to_string();
        let wrong = |source| OpenError::Store { database: database.clone(), source };
        let pool = url.pool(limits).map_err(wrong)?;
        let mut client = pool.get().await.map_err(|error| wrong(error.into()))?;
        schema::migrate(&mut client, &database, mode).await?;
        drop(client);
        Ok(Self {
            pool,
            response_timeout: limits.response(),
            owners: Owners::new(),
            cache: Arc::new(Cache::new()),
            demand: Arc::new(Demand::new()),
        })
    }

    /// Runs a query on a connection of the pool.
    async fn on_connection<T, E: From<StoreError>>(
        &self,
        query: impl AsyncFnOnce(&Client) -> Result<T>,
    ) -> Result<T, E> {
        Ok(self.connection().await?.run(query).await?)
    }

    async fn connection(&self) -> Result<Connection> {
        Connection::get(&self.pool, self.response_timeout).await
    }

    /// Caches what was read for an extraction without request id, and reads its gateways if that pays.
    fn fill_cache(&self, query: &ExtractionQuery, extracted: &ExtractionRead, read_at: Moment) {
        let ExtractionRead { data, is_whole } = extracted;
        let account = is_whole.then(|| data.clone().map(|data| data.account));
        self.cache.insert_account(query.digest, account, read_at);
        let has_gateways = !data.value().candidates.is_empty();
        let cached = || self.cache.take_uses(&query.parameters);
        if *is_whole && has_gateways && self.demand.should_read(&query.parameters, cached(), read_at) {
            // In a task of its own: the call already has its data and must not wait or fail because of this.
            tokio::spawn(cache_gateways(
                (self.pool.clone(), self.response_timeout),
                Arc::clone(&self.cache),
                Arc::clone(&self.demand),
                query.parameters.clone(),
            ));
        }
    }
}

/// The result of a query for the owner of a token. If a cached owner is outdated, the owner is looked up again. (A function
/// that takes the query would give futures that are not `Send`.)
macro_rules! by_owner {
    ($store:ident, $client:expr, $digest:expr, |$owner:ident| $query:expr) => {
        loop {
            let Some($owner) = $store.owners.find($client, $digest).await? else { break None };
            match $query.await? {
                None if $owner.is_cached => $store.owners.remove($digest),
                found => break found,
            }
        }
    };
}

async fn cache_gateways(
    (pool, response_timeout): (Pool, Duration),
    cache: Arc<Cache<Moment>>,
    demand: Arc<Demand>,
    parameters: Parameters,
) {
    let Ok(connection) = Connection::get(&pool, response_timeout).await else { return };
    let sent = Moment::now();
    match connection.run(async |client| extract::gateways(client, &parameters).await).await {
        Ok(gateways) => {
            let size = gateways.as_ref().map(Gateways::len);
            if demand.finish_read(&parameters, size, sent, Moment::now()) {
                cache.insert_gateways(&parameters, gateways, sent);
            }
        }
        Err(error) => tracing::warn!(%error, "cannot read gateways into the cache"),
    }
}

#[async_trait]
impl Repository for PostgresStore {
    fn cached_extraction(&self, query: &ExtractionQuery) -> Option<ProtectedData<ExtractionData>> {
        self.cache.extraction(query, Moment::with_wall(query.now))
    }

    async fn extraction(&self, query: &ExtractionQuery) -> Found<ExtractionData> {
        self.on_connection(async |client| {
            let now = Moment::now();
            let is_cacheable = query.request_id.is_none();
            // Another call may have filled the cache while this one waited for a connection.
            if is_cacheable && let Some(data) = self.cache.extraction(query, now) {
                return Ok(Some(data));
            }
            let whole = is_cacheable && !self.cache.is_account_too_large(query.digest, now);
            let extracted =
                by_owner!(self, client, query.digest, |owner| extract::data(client, owner, query, whole));
            if whole && let Some(extracted) = &extracted {
                self.fill_cache(query, extracted, now);
            }
            Ok(extracted.map(|extracted| extracted.data))
        })
        .await
    }

    async fn store_extraction(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, RepositoryError> {
        self.on_connection(async |client| extract::store(client, account, &request_id, extraction, now).await)
            .await
    }

    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, RepositoryError> {
        if let Some(credential) = self.cache.credential(digest, Moment::now()) {
            return Ok(Some(credential));
        }
        self.on_connection(async |client| {
            let read_at = Moment::now();
            let credential =
                by_owner!(self, client, digest, |owner| search::credential_of(client, owner, digest));
            if let Some(credential) = credential {
                self.cache.insert_credential(digest, credential, read_at);
            }
            Ok(credential)
        })
        .await
    }

    async fn groups(&self, digest: TokenDigest) -> Found<Vec<Group>> {
        self.on_connection(async |client| {
            Ok(by_owner!(self, client, digest, |owner| search::groups(client, owner, digest)))
        })
        .await
    }

    async fn search(&self, digest: TokenDigest, query: SearchQuery) -> Found<SearchPage> {
        self.on_connection(async |client| {
            Ok(by_owner!(self, client, digest, |owner| search::page(client, owner, digest, &query)))
        })
        .await
    }
}

#[async_trait]
impl Archive for PostgresStore {
    async fn load(&self, lines: Lines) -> Result<RecordCounts, LoadError> {
        let mut client = self.connection().await?;
        let loaded = load::load(&mut client, lines).await?;
        client.release();
        wait_until_in_force().await;
        Ok(loaded)
    }

    async fn unload(&self, sink: Box<dyn Sink>) -> Result<RecordCounts, UnloadError> {
        unload::unload(&mut *self.connection().await?, sink).await
    }
}

#[async_trait]
impl Upkeep for PostgresStore {
    async fn delete_extractions(&self, end: Timestamp) -> Result<u64> {
        self.on_connection(async |client| extract::delete_before(client, end).await).await
    }

    async fn newest_extraction(&self) -> Result<Option<Timestamp>> {
        self.on_connection(extract::newest).await
    }

    async fn supply(&self) -> Result<Vec<Supply>> {
        self.on_connection(async |client| extract::supply(client).await).await
    }

    fn pool(&self) -> store::Pool {
        let Status { max_size, size, available, waiting } = self.pool.status();
        store::Pool { connections: max_size, busy: size.saturating_sub(available), waiting }
    }
}

/// The stored token, from the first columns of a row.
fn credential(row: &Row, owner: Owner) -> Result<Credential> {
    Ok(Credential {
        account: AccountId(owner.account),
        kind: get(row, 0)?,
        expires_at: time(row, 1)?,
        revoked_at: time(row, 2)?,
    })
}
