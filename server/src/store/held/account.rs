//! What is known of the account that a token belongs to, as far as it bears on an extraction.

use std::net::Ipv4Addr;

use jiff::Timestamp;

use crate::domain::{
    access::{AccountId, Credential, Guarded},
    extraction::{Endpoint, ExtractionFacts, ExtractionQuery, Protocol, StoredExtraction},
};

/// An account, by one of its tokens.
#[derive(Debug)]
pub(in crate::store) struct Account {
    pub(in crate::store) credential: Credential,
    pub(in crate::store) verified: bool,
    /// The entries that are switched on.
    pub(in crate::store) whitelist: Vec<Entry>,
    pub(in crate::store) entitlements: Vec<(Protocol, Option<Timestamp>)>,
}

/// Addresses from which an account may extract.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Entry {
    pub(in crate::store) first: Ipv4Addr,
    pub(in crate::store) last: Ipv4Addr,
    /// When its time is over; `None` for never.
    pub(in crate::store) end: Option<Timestamp>,
}

impl Account {
    pub(in crate::store) const fn id(&self) -> AccountId {
        self.credential.account
    }

    /// What follows for an extraction, beside what is known from elsewhere.
    pub(in crate::store) fn facts(
        &self,
        query: &ExtractionQuery,
        earlier: Option<StoredExtraction>,
        candidates: Vec<Endpoint>,
    ) -> Guarded<ExtractionFacts> {
        let lasts = |end: &Option<Timestamp>| end.is_none_or(|end| end > query.now);
        let holds = |ip: Ipv4Addr| {
            self.whitelist
                .iter()
                .any(|Entry { first, last, end }| (first..=last).contains(&&ip) && lasts(end))
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
    pub(in crate::store) fn weight(&self) -> usize {
        1 + self.whitelist.len()
    }
}
