//! What extractions need, in memory. Nothing is taken from here before it was seen, on that very call, that it is still so:
//! either nothing at all was committed since, or the table `revision`, which counts the changes, whoever makes them, says
//! that what is held here was not touched.

use std::{
    path::Path,
    sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use rusqlite::Connection;

use super::{
    account,
    extract::credential,
    gateways,
    watch::{Header, Watch},
};
use crate::{
    domain::{
        access::{Credential, Guarded},
        extraction::{ExtractionFacts, ExtractionQuery},
        token::TokenDigest,
    },
    store::{
        StoreError,
        held::{Account, Limited, Ring, Rings},
    },
};

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

/// The cache of one store.
#[derive(Debug)]
pub(super) struct Cache {
    watch: Watch,
    /// Reads the revision and nothing else.
    db: Mutex<Connection>,
    held: RwLock<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// The revision to which everything here belongs.
    revision: Revision,
    /// The header that was there before the revision was read. Who finds it again knows that nothing was committed since.
    seen: Option<Header>,
    accounts: Limited<TokenDigest, Account>,
    /// Of tokens that are used for other operations.
    credentials: Limited<TokenDigest, Credential>,
    /// `None` for a ring that is too large to hold.
    rings: Rings<Option<Ring>>,
}

impl Cache {
    /// The cache of the database at `path`, to which `db` is connected.
    pub(super) fn new(db: Connection, path: &Path) -> rusqlite::Result<Self> {
        // Callers are not on threads that may block. When the database is locked, they ask it as if nothing were held.
        db.busy_timeout(Duration::ZERO)?;
        Ok(Self { watch: Watch::new(path), db: Mutex::new(db), held: RwLock::default() })
    }

    /// What bears on an extraction, if it is held and nothing of it has changed.
    pub(super) fn facts(&self, query: &ExtractionQuery) -> Option<Guarded<ExtractionFacts>> {
        self.unchanged()?.facts(query)
    }

    /// What is known of a token, if it is held and nothing of it has changed.
    pub(super) fn credential(&self, digest: TokenDigest) -> Option<Credential> {
        self.unchanged()?.credentials.get(&digest).copied()
    }

    /// What is held, without whatever has changed since; `None` when the database does not tell what has.
    fn unchanged(&self) -> Option<RwLockReadGuard<'_, Held>> {
        let header = self.watch.look();
        {
            let held = self.held();
            if header.is_some() && header == held.seen {
                return Some(held);
            }
        }
        {
            // Maps of plain values, and connections that only read, are whole, whatever panicked while they were locked.
            let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
            // What is committed from here on may be in the revision or not, and changes the header.
            let header = self.watch.look();
            let held = self.held();
            if header.is_some() && header == held.seen {
                // Another call has asked while this one waited.
                return Some(held);
            }
            drop(held);
            // Whatever is wrong with the database, the question that is asked instead finds it too, and tells it.
            let revision = Revision::read(&db).ok()?;
            self.change_held().forget_all_but(revision, header);
        }
        Some(self.held())
    }

    /// What is known of a token, from a snapshot of the database. It is held from then on.
    pub(super) fn read_credential(
        &self,
        snapshot: &Connection,
        digest: TokenDigest,
    ) -> Result<Option<Credential>, StoreError> {
        let revision = Revision::read(snapshot)?;
        let found = credential(snapshot, digest)?;
        if let Some(credential) = found {
            let mut held = self.change_held();
            // Of another revision than the rest, it would be taken for what it no longer, or not yet, is.
            if held.revision == revision {
                let gone = held.credentials.insert(digest, credential, 1);
                drop(held);
                drop(gone);
            }
        }
        Ok(found)
    }

    /// The same from a snapshot of the database. What was read is held from then on.
    pub(super) fn read(
        &self,
        snapshot: &Connection,
        query: &ExtractionQuery,
    ) -> Result<Option<Guarded<ExtractionFacts>>, StoreError> {
        let revision = Revision::read(snapshot)?;
        let Some(account) = account::read(snapshot, query.digest)? else { return Ok(None) };
        let known = self.held().rings.get(&query.parameters).is_some();
        let ring = if known { None } else { Some(gateways::ring(snapshot, &query.parameters)?) };
        let facts = account.facts(query, None, gateways::choose(snapshot, &query.parameters, query.pivot)?);
        self.hold(revision, query, account, ring);
        Ok(Some(facts))
    }

    fn hold(
        &self,
        revision: Revision,
        query: &ExtractionQuery,
        account: Account,
        ring: Option<Option<Ring>>,
    ) {
        let mut held = self.change_held();
        // Of another revision than the rest, it would be taken for what it no longer, or not yet, is.
        if held.revision != revision {
            return;
        }
        let weight = account.weight();
        let accounts = held.accounts.insert(query.digest, account, weight);
        let rings = ring.and_then(|ring| {
            // There are as many regions without gateways as callers can think of.
            let weight = ring.as_ref().map_or(1, Ring::len);
            (weight > 0).then(|| held.rings.insert(&query.parameters, ring, weight))
        });
        drop(held);
        drop((accounts, rings));
    }

    fn held(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change_held(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn facts(&self, query: &ExtractionQuery) -> Option<Guarded<ExtractionFacts>> {
        let account = self.accounts.get(&query.digest)?;
        let ring = self.rings.get(&query.parameters)?.as_ref()?;
        Some(account.facts(query, None, ring.choose(query.pivot, query.parameters.count)))
    }

    fn forget_all_but(&mut self, revision: Revision, seen: Option<Header>) {
        if self.revision.access != revision.access {
            self.accounts = Limited::default();
            self.credentials = Limited::default();
        }
        if self.revision.gateways != revision.gateways {
            self.rings = Rings::default();
        }
        (self.revision, self.seen) = (revision, seen);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::Ipv4Addr,
        sync::{Arc, mpsc},
        thread,
    };

    use jiff::Timestamp;

    use super::*;
    use crate::{
        domain::{
            access::Purpose,
            extraction::{Parameters, Protocol, Region},
            token::{Token, TokenKind},
        },
        store::{
            packed::{StoredIp, StoredTime},
            sqlite::{open, schema},
        },
    };

    /// A file with one gateway and an account that may extract it, and what the account asks.
    fn ready(path: &Path) -> (Connection, ExtractionQuery) {
        let mut db = Connection::open(path).unwrap();
        db.pragma_update(None, "journal_mode", "wal").unwrap();
        schema::migrate(&mut db).unwrap();
        let token = Token::generate(TokenKind::Api);
        let (caller_ip, now) = (Ipv4Addr::new(203, 0, 113, 7), Timestamp::now());
        db.execute("INSERT INTO accounts VALUES (1, 'a', 1)", []).unwrap();
        let columns = (token.digest(), StoredTime(now));
        db.execute("INSERT INTO tokens VALUES (1, ?1, 1, 'api', ?2, NULL, NULL)", columns).unwrap();
        let first = StoredIp(caller_ip.into());
        db.execute("INSERT INTO whitelist VALUES (1, 1, ?1, ?1, 1, NULL)", [first]).unwrap();
        db.execute("INSERT INTO entitlements VALUES (1, 'http', NULL)", []).unwrap();
        db.execute("INSERT INTO gateways VALUES (1, 'gw.invalid', 1, 'USA', 'http', 0, NULL, NULL)", [])
            .unwrap();
        let parameters = Parameters { count: 1, region: Region::Everywhere, protocol: Protocol::Http };
        let (digest, caller_ip) = (token.digest(), Some(caller_ip));
        (db, ExtractionQuery { digest, caller_ip, parameters, request_id: None, pivot: 0, now })
    }

    fn whitelisted(facts: Option<Guarded<ExtractionFacts>>, now: Timestamp) -> bool {
        facts.unwrap().admit(Purpose::Extraction, now).unwrap().1.whitelisted
    }

    #[cfg(all(unix, target_pointer_width = "64"))]
    #[test]
    fn the_database_is_asked_when_something_was_committed_and_only_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (db, query) = ready(&path);
        let cache = Arc::new(Cache::new(Connection::open(&path).unwrap(), &path).unwrap());
        assert!(cache.facts(&query).is_none(), "nothing is held yet");
        assert!(whitelisted(cache.read(&db, &query).unwrap(), query.now));

        let asked = cache.db.lock().unwrap();
        let (told, answer) = mpsc::channel();
        let (again, question) = (Arc::clone(&cache), query.clone());
        thread::spawn(move || told.send(again.facts(&question)).is_ok());
        let without_asking = answer.recv_timeout(Duration::from_secs(20)).expect("the connection is taken");
        assert!(whitelisted(without_asking, query.now));
        drop(asked);
        let seen = cache.held().seen;
        db.execute("INSERT INTO groups VALUES (1, 1, 'g', x'', x'')", []).unwrap();
        assert!(whitelisted(cache.facts(&query), query.now), "a group is nothing that is held");
        assert_ne!(cache.held().seen, seen, "it was asked for");

        db.execute("UPDATE whitelist SET enabled = 0", []).unwrap();
        assert!(cache.facts(&query).is_none());
        assert!(!whitelisted(cache.read(&db, &query).unwrap(), query.now));
        assert!(!whitelisted(cache.facts(&query), query.now));
    }

    #[test]
    fn no_table_behind_the_cache_changes_uncounted() {
        let db = open::in_memory();
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
