//! What is known of the account that a token belongs to, as far as it bears on an extraction.

use std::net::Ipv4Addr;

use jiff::Timestamp;
use rusqlite::Connection;

use super::extract::{credential, time};
use crate::{
    domain::{
        access::{AccountId, Credential, Guarded},
        extraction::{Endpoint, ExtractionFacts, ExtractionQuery, Protocol, StoredExtraction},
        token::TokenDigest,
    },
    store::{StoreError, packed::StoredIp},
};

/// An account, by one of its tokens.
#[derive(Debug)]
pub(super) struct Account {
    credential: Credential,
    verified: bool,
    /// The entries that are switched on: first and last address, and when their time is over.
    whitelist: Vec<(Ipv4Addr, Ipv4Addr, Option<Timestamp>)>,
    entitlements: Vec<(Protocol, Option<Timestamp>)>,
}

impl Account {
    /// Reads the account; `None` when no such token is known.
    pub(super) fn read(snapshot: &Connection, digest: TokenDigest) -> Result<Option<Self>, StoreError> {
        let Some(credential) = credential(snapshot, digest)? else { return Ok(None) };
        let account = credential.account.0;
        let verified = snapshot
            .prepare_cached("SELECT real_name_verified FROM accounts WHERE id = ?1")?
            .query_row([account], |row| row.get(0))?;
        let mut whitelist = Vec::new();
        let mut select = snapshot.prepare_cached(
            "SELECT first, last, expires_at FROM whitelist WHERE account_id = ?1 AND enabled",
        )?;
        let mut rows = select.query([account])?;
        while let Some(row) = rows.next()? {
            let (first, last): (StoredIp, StoredIp) = (row.get(0)?, row.get(1)?);
            whitelist.push((first.v4()?, last.v4()?, time(row, 2)?));
        }
        let entitlements = snapshot
            .prepare_cached("SELECT protocol, expires_at FROM entitlements WHERE account_id = ?1")?
            .query_map([account], |row| Ok((row.get(0)?, time(row, 1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(Some(Self { credential, verified, whitelist, entitlements }))
    }

    pub(super) const fn id(&self) -> AccountId {
        self.credential.account
    }

    /// What follows for an extraction, beside what is known from elsewhere.
    pub(super) fn facts(
        &self,
        query: &ExtractionQuery,
        earlier: Option<StoredExtraction>,
        candidates: Vec<Endpoint>,
    ) -> Guarded<ExtractionFacts> {
        let lasts = |end: &Option<Timestamp>| end.is_none_or(|end| end > query.now);
        let holds = |ip: Ipv4Addr| {
            self.whitelist.iter().any(|(first, last, end)| (*first..=*last).contains(&ip) && lasts(end))
        };
        let entitled = |(protocol, end): &(Protocol, Option<Timestamp>)| {
            *protocol == query.parameters.protocol && lasts(end)
        };
        let facts = ExtractionFacts {
            whitelisted: query.caller_ip.is_some_and(holds),
            verified: self.verified,
            entitled: self.entitlements.iter().any(entitled),
            earlier,
            candidates,
        };
        Guarded::new(self.credential, facts)
    }

    /// How much memory it takes, in entries.
    pub(super) fn weight(&self) -> usize {
        1 + self.whitelist.len()
    }
}
