//! The store on a PostgreSQL server, for any number of servers at once. Every question to it is one statement, so that it
//! is answered from one snapshot and in one round trip; what extractions need is held for a moment.

mod cache;
mod codec;
mod connect;
mod connection;
mod error;
mod extract;
mod load;
mod owners;
mod registry;
mod schema;
mod search;
mod tables;
mod unload;

use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::{Client, Pool, Status};
use jiff::Timestamp;
use tokio_postgres::Row;

pub(super) use self::cache::until_in_force;
pub use self::{
    cache::LEASE,
    connect::{Limits, PostgresUrl},
};
use self::{
    cache::{Cache, Moment},
    codec::{get, time},
    connection::Connection,
    extract::Told,
    owners::{Owner, Owners},
};
use super::{
    Lines, LoadError, OpenError, OpenMode, Sink, Store, StoreError, Supply, UnloadError, record::Loaded,
};
use crate::{
    domain::{
        access::{AccountId, Credential, Guarded},
        extraction::{ExtractionFacts, ExtractionQuery, StoredExtraction},
        instance::Group,
        search::{SearchPage, SearchQuery},
        token::TokenDigest,
    },
    store::{self, held::Account},
};

/// A database on a PostgreSQL server. A lost connection fails the calls that are on it; the next ones get a new one.
#[derive(Debug)]
pub struct PostgresStore {
    pool: Pool,
    owners: Owners,
    cache: Arc<Cache>,
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
        Ok(Self { pool, owners: Owners::default(), cache: Arc::default() })
    }

    /// Asks on a connection of its own. Once the question has an answer, or has failed, nothing is under way any more.
    async fn on_connection<T>(
        &self,
        question: impl AsyncFnOnce(&Client) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let client = Connection::get(&self.pool).await?;
        let answer = question(&client).await;
        client.release();
        answer
    }

    /// Holds what the database told of an extraction without request id, and reads its ring if that pays.
    fn hold(&self, query: &ExtractionQuery, account: Option<Account>, any_gateway: bool, from: Moment) {
        let held = account.is_some();
        self.cache.hold_account(query.digest, account, from);
        if !held || !any_gateway || !self.cache.wants_ring(&query.parameters, from) {
            return;
        }
        // Apart from the call, which has its answer: nobody waits for a ring, or fails with it.
        let (pool, cache, parameters) =
            (self.pool.clone(), Arc::clone(&self.cache), query.parameters.clone());
        tokio::spawn(async move {
            let Ok(client) = pool.get().await else { return };
            let from = Moment::now();
            match extract::ring(&client, &parameters).await {
                Ok(ring) => cache.hold_ring(&parameters, ring, from, Moment::now()),
                Err(error) => tracing::warn!(%error, "a ring of gateways could not be read"),
            }
        });
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn at_hand(&self, query: &ExtractionQuery) -> Option<Guarded<ExtractionFacts>> {
        self.cache.facts(query, Moment::at(query.now))
    }

    async fn extraction(
        &self,
        query: &ExtractionQuery,
    ) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
        self.on_connection(async |client| {
            let now = Moment::now();
            let holds = query.request_id.is_none();
            // Another call may have asked while this one waited for a connection.
            if holds && let Some(facts) = self.cache.facts(query, now) {
                return Ok(Some(facts));
            }
            let whole = holds && self.cache.wants_account(query.digest, now);
            while let Some(owner) = self.owners.find(client, query.digest).await? {
                match extract::ask(client, owner, query, whole).await? {
                    None if owner.remembered => self.owners.forget(query.digest),
                    None => return Ok(None),
                    Some(Told { facts, account, any_gateway }) => {
                        if whole {
                            self.hold(query, account, any_gateway, now);
                        }
                        return Ok(Some(facts));
                    }
                }
            }
            Ok(None)
        })
        .await
    }

    async fn remember(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, StoreError> {
        self.on_connection(async |client| {
            extract::remember(client, account, &request_id, extraction, now).await
        })
        .await
    }

    async fn forget(&self, end: Timestamp) -> Result<u64, StoreError> {
        self.on_connection(async |client| extract::forget(client, end).await).await
    }

    async fn credential(&self, digest: TokenDigest) -> Result<Option<Credential>, StoreError> {
        let now = Moment::now();
        if let Some(credential) = self.cache.credential(digest, now) {
            return Ok(Some(credential));
        }
        self.on_connection(async |client| {
            let now = Moment::now();
            while let Some(owner) = self.owners.find(client, digest).await? {
                match search::credential_of(client, owner, digest).await? {
                    None if owner.remembered => self.owners.forget(digest),
                    found => {
                        if let Some(credential) = found {
                            self.cache.hold_credential(digest, credential, now);
                        }
                        return Ok(found);
                    }
                }
            }
            Ok(None)
        })
        .await
    }

    async fn groups(&self, digest: TokenDigest) -> Result<Option<Guarded<Vec<Group>>>, StoreError> {
        self.on_connection(async |client| {
            while let Some(owner) = self.owners.find(client, digest).await? {
                match search::groups(client, owner, digest).await? {
                    None if owner.remembered => self.owners.forget(digest),
                    answer => return Ok(answer),
                }
            }
            Ok(None)
        })
        .await
    }

    async fn search(
        &self,
        digest: TokenDigest,
        query: SearchQuery,
    ) -> Result<Option<Guarded<SearchPage>>, StoreError> {
        self.on_connection(async |client| {
            while let Some(owner) = self.owners.find(client, digest).await? {
                match search::page(client, owner, digest, &query).await? {
                    None if owner.remembered => self.owners.forget(digest),
                    answer => return Ok(answer),
                }
            }
            Ok(None)
        })
        .await
    }

    async fn load(&self, lines: Lines) -> Result<Loaded, LoadError> {
        let mut client = Connection::get(&self.pool).await?;
        let loaded = load::load(&mut client, lines).await?;
        client.release();
        until_in_force().await;
        Ok(loaded)
    }

    async fn unload(&self, sink: Box<dyn Sink>) -> Result<Loaded, UnloadError> {
        unload::unload(&mut *Connection::get(&self.pool).await?, sink).await
    }

    async fn supply(&self) -> Result<Vec<Supply>, StoreError> {
        self.on_connection(async |client| extract::supply(client).await).await
    }

    fn pool(&self) -> store::Pool {
        let Status { max_size, size, available, waiting } = self.pool.status();
        store::Pool { connections: max_size, busy: size.saturating_sub(available), waiting }
    }
}

/// What is known of a token, from the columns with which every question about it begins.
fn credential(row: &Row, owner: Owner) -> Result<Credential, StoreError> {
    Ok(Credential {
        account: AccountId(owner.account),
        kind: get(row, 0)?,
        expires_at: time(row, 1)?,
        revoked_at: time(row, 2)?,
    })
}
