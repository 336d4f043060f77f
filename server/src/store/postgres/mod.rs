//! The store on a PostgreSQL server, for any number of servers at once. Every question is one statement, so that it is
//! answered from one snapshot and in one round trip.

mod cache;
mod codec;
mod connect;
mod error;
mod extract;
mod load;
mod owners;
mod registry;
mod schema;
mod search;
mod tables;
mod unload;

use std::time::Instant;

use async_trait::async_trait;
use deadpool_postgres::{Client, Pool, Status};
use jiff::Timestamp;
use tokio_postgres::Row;

use self::{
    cache::Cache,
    codec::{get, time},
    extract::Known,
    owners::{Owner, Owners},
};
pub use self::{
    cache::LEASE,
    connect::{Limits, PostgresUrl},
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
    store,
};

/// A database on a PostgreSQL server. A lost connection fails the calls that are on it; the next ones get a new one.
#[derive(Debug)]
pub struct PostgresStore {
    pool: Pool,
    owners: Owners,
    cache: Cache,
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
        Ok(Self { pool, owners: Owners::default(), cache: Cache::default() })
    }
}

impl PostgresStore {
    /// What bears on an extraction, from a question that is sent after `now`.
    async fn facts(
        &self,
        client: &Client,
        query: &ExtractionQuery,
        now: Instant,
    ) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
        while let Some(owner) = self.owners.find(client, query.digest).await? {
            match extract::known(client, owner, query).await? {
                None if owner.remembered => self.owners.forget(query.digest),
                None => return Ok(None),
                Some(Known { facts, account, any_gateway }) => {
                    if any_gateway {
                        self.cache.asked_for_ring(&query.parameters, now);
                    }
                    if let Some(account) = account {
                        self.cache.hold_account(query.digest, account, now);
                    }
                    return Ok(Some(facts));
                }
            }
        }
        Ok(None)
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn at_hand(&self, query: &ExtractionQuery) -> Option<Guarded<ExtractionFacts>> {
        if query.request_id.is_some() { None } else { self.cache.facts(query, Instant::now()) }
    }

    async fn extraction(
        &self,
        query: &ExtractionQuery,
    ) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
        let client = self.pool.get().await?;
        let now = Instant::now();
        let wants_ring = query.request_id.is_none() && self.cache.wants_ring(&query.parameters, now);
        let ring = async {
            if wants_ring {
                let ring = extract::ring(&client, &query.parameters).await?;
                self.cache.hold_ring(&query.parameters, ring, now);
            }
            Ok(())
        };
        // Both are sent before either is answered.
        let (facts, ()) = futures::try_join!(self.facts(&client, query, now), ring)?;
        Ok(facts)
    }

    async fn remember(
        &self,
        account: AccountId,
        request_id: String,
        extraction: StoredExtraction,
        now: Timestamp,
    ) -> Result<StoredExtraction, StoreError> {
        extract::remember(&self.pool.get().await?, account, &request_id, extraction, now).await
    }

    async fn forget(&self, end: Timestamp) -> Result<u64, StoreError> {
        extract::forget(&self.pool.get().await?, end).await
    }

    async fn groups(&self, digest: TokenDigest) -> Result<Option<Guarded<Vec<Group>>>, StoreError> {
        let client = self.pool.get().await?;
        while let Some(owner) = self.owners.find(&client, digest).await? {
            match search::groups(&client, owner, digest).await? {
                None if owner.remembered => self.owners.forget(digest),
                answer => return Ok(answer),
            }
        }
        Ok(None)
    }

    async fn search(
        &self,
        digest: TokenDigest,
        query: SearchQuery,
    ) -> Result<Option<Guarded<SearchPage>>, StoreError> {
        let client = self.pool.get().await?;
        while let Some(owner) = self.owners.find(&client, digest).await? {
            match search::page(&client, owner, digest, &query).await? {
                None if owner.remembered => self.owners.forget(digest),
                answer => return Ok(answer),
            }
        }
        Ok(None)
    }

    async fn load(&self, lines: Lines) -> Result<Loaded, LoadError> {
        let mut client = self.pool.get().await.map_err(StoreError::from)?;
        let loaded = load::load(&mut client, lines).await?;
        cache::until_in_force().await;
        Ok(loaded)
    }

    async fn unload(&self, sink: Box<dyn Sink>) -> Result<Loaded, UnloadError> {
        let mut client = self.pool.get().await.map_err(StoreError::from)?;
        unload::unload(&mut client, sink).await
    }

    async fn supply(&self) -> Result<Vec<Supply>, StoreError> {
        extract::supply(&self.pool.get().await?).await
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
