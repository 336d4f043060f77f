//! What extractions need, in memory. Nothing is taken from here before the database was asked, on that very call, whether
//! it is still so: the table `revision` counts the changes, whoever makes them.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::Connection;

use super::{
    account::Account,
    gateways::{self, Ring},
};
use crate::{
    domain::{
        access::Guarded,
        extraction::{ExtractionFacts, ExtractionQuery, Protocol, Region},
        token::TokenDigest,
    },
    store::StoreError,
};

/// Most whitelist entries and tokens together, and most gateways, that are held.
const MOST: usize = 1 << 18;

/// How many changes there were when something was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Revision {
    /// Of accounts, tokens, whitelists and entitlements.
    access: i64,
    /// Of gateways.
    gateways: i64,
}

impl Revision {
    fn read(db: &Connection) -> rusqlite::Result<Self> {
        db.prepare_cached("SELECT access, gateways FROM revision")?
            .query_row([], |row| Ok(Self { access: row.get(0)?, gateways: row.get(1)? }))
    }
}

type Pool = (Protocol, Region);

/// The cache of one store.
#[derive(Debug)]
pub(super) struct Cache(Mutex<Held>);

#[derive(Debug)]
struct Held {
    /// Reads the revision and nothing else.
    db: Connection,
    /// The revision to which everything here belongs.
    revision: Revision,
    accounts: Limited<TokenDigest, Account>,
    /// `None` for a ring that is too large to hold.
    rings: Limited<Pool, Option<Ring>>,
}

impl Cache {
    pub(super) fn new(db: Connection) -> rusqlite::Result<Self> {
        // Callers are not on threads that may block. When the database is locked, they ask it as if nothing were held.
        db.busy_timeout(Duration::ZERO)?;
        let (accounts, rings) = (Limited::default(), Limited::default());
        Ok(Self(Mutex::new(Held { db, revision: Revision::default(), accounts, rings })))
    }

    /// What bears on an extraction, if it is held and nothing of it has changed.
    pub(super) fn facts(&self, query: &ExtractionQuery) -> Option<Guarded<ExtractionFacts>> {
        let mut held = self.held();
        // Whatever is wrong with the database, the question that is asked instead finds it too, and tells it.
        let revision = Revision::read(&held.db).ok()?;
        held.forget_all_but(revision);
        let account = held.accounts.get(&query.digest)?;
        let ring = held.rings.get(&pool(query))?.as_ref()?;
        Some(account.facts(query, None, ring.choose(query.pivot, query.parameters.count)))
    }

    /// The same from a snapshot of the database. What was read is held from then on.
    pub(super) fn read(
        &self,
        snapshot: &Connection,
        query: &ExtractionQuery,
    ) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
        let revision = Revision::read(snapshot)?;
        let Some(account) = Account::read(snapshot, query.digest)? else { return Ok(None) };
        let pool = pool(query);
        let ring = match self.held().rings.get(&pool) {
            Some(_) => None,
            None => Some(Ring::read(snapshot, pool.0, &pool.1)?),
        };
        let facts = account.facts(query, None, gateways::choose(snapshot, &query.parameters, query.pivot)?);
        self.hold(revision, query.digest, account, pool, ring);
        Ok(Some(facts))
    }

    fn hold(
        &self,
        revision: Revision,
        digest: TokenDigest,
        account: Account,
        pool: Pool,
        ring: Option<Option<Ring>>,
    ) {
        let mut held = self.held();
        // Of another revision than the rest, it would be taken for what it no longer, or not yet, is.
        if held.revision != revision {
            return;
        }
        let weight = account.weight();
        held.accounts.insert(digest, account, weight);
        if let Some(ring) = ring {
            // There are as many regions without gateways as callers can think of.
            let weight = ring.as_ref().map_or(1, Ring::len);
            if weight > 0 {
                held.rings.insert(pool, ring, weight);
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Maps of plain values are whole, whatever panicked while they were locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn forget_all_but(&mut self, revision: Revision) {
        if self.revision.access != revision.access {
            self.accounts = Limited::default();
        }
        if self.revision.gateways != revision.gateways {
            self.rings = Limited::default();
        }
        self.revision = revision;
    }
}

fn pool(query: &ExtractionQuery) -> Pool {
    (query.parameters.protocol, query.parameters.region.clone())
}

/// A map that takes no more memory than so much, whatever callers ask for.
#[derive(Debug)]
struct Limited<K, V> {
    values: HashMap<K, V>,
    weight: usize,
}

impl<K: Eq + Hash, V> Limited<K, V> {
    fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key)
    }

    fn insert(&mut self, key: K, value: V, weight: usize) {
        if self.weight + weight > MOST {
            self.values.clear();
            self.weight = 0;
        }
        self.weight += weight;
        self.values.insert(key, value);
    }
}

impl<K, V> Default for Limited<K, V> {
    fn default() -> Self {
        Self { values: HashMap::new(), weight: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::schema;

    #[test]
    fn no_table_behind_the_cache_changes_uncounted() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        // A migration that makes a table anew must make its triggers anew as well.
        for table in ["accounts", "tokens", "whitelist", "entitlements", "gateways"] {
            for change in ["INSERT", "UPDATE", "DELETE"] {
                let like = format!("CREATE TRIGGER % AFTER {change} ON {table} BEGIN UPDATE revision SET %");
                let count = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE ?1";
                let found: u32 = db.query_row(count, [like], |row| row.get(0)).unwrap();
                assert_eq!(found, 1, "{change} {table}");
            }
        }
    }
}
