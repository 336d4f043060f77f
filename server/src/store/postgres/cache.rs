//! What extractions need, in memory, for a moment: nothing tells a server that another one, or a command, has changed the
//! database, so what was read is used for a [`LEASE`] and no longer. Whoever changes something waits as long before
//! saying that it is done: who has heard so finds the change in force on every server.

use std::{
    mem,
    sync::{PoisonError, RwLock, RwLockWriteGuard},
    time::{Duration, Instant},
};

use crate::{
    domain::{
        access::Guarded,
        extraction::{ExtractionFacts, ExtractionQuery, Parameters},
        token::TokenDigest,
    },
    store::held::{Account, Limited, Ring, Rings},
};

/// How long what was read is used, from the moment at which the question was sent.
pub const LEASE: Duration = Duration::from_millis(250);

/// Waits until every server has forgotten what it read before a change that was committed.
pub(super) async fn until_in_force() {
    // Clocks of different machines do not run at quite the same pace.
    tokio::time::sleep(LEASE + LEASE / 50).await;
}

/// Most whitelist entries of an account that is held. They come with every answer about it.
pub(super) const MOST_ENTRIES: usize = 256;

/// Most gateways of a ring that is held: it is read anew once in every lease, as long as it is asked for.
pub(super) const LARGEST_RING: usize = 1 << 12;

/// After what time a ring that was too large is looked at again.
const TOO_LARGE: Duration = Duration::from_secs(60);

/// The cache of one store.
#[derive(Debug, Default)]
pub(super) struct Cache(RwLock<Held>);

#[derive(Debug, Default)]
struct Held {
    accounts: Limited<TokenDigest, Leased<Account>>,
    rings: Rings<Wanted>,
}

/// What was read, and when the question was sent.
#[derive(Debug)]
struct Leased<T> {
    value: T,
    from: Instant,
}

impl<T> Leased<T> {
    fn at(&self, now: Instant) -> Option<&T> {
        (now.saturating_duration_since(self.from) < LEASE).then_some(&self.value)
    }
}

/// A ring that was asked for.
#[derive(Debug)]
struct Wanted {
    /// When it was asked for last.
    asked: Instant,
    /// Before this it is not read: somebody is about to, or it is too large.
    not_before: Instant,
    ring: Option<Leased<Ring>>,
}

impl Cache {
    /// What bears on an extraction, if it is held and may still be used.
    pub(super) fn facts(&self, query: &ExtractionQuery, now: Instant) -> Option<Guarded<ExtractionFacts>> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let account = held.accounts.get(&query.digest)?.at(now)?;
        let ring = held.rings.get(&query.parameters)?.ring.as_ref()?.at(now)?;
        Some(account.facts(query, None, ring.choose(query.pivot, query.parameters.count)))
    }

    /// Whether the caller, who found nothing, is the one to read this ring. Reading it pays if it is asked for often;
    /// what is asked for now and then is chosen by the database.
    pub(super) fn wants_ring(&self, parameters: &Parameters, now: Instant) -> bool {
        let mut held = self.change();
        let Some(wanted) = held.rings.get_mut(parameters) else { return false };
        let before = mem::replace(&mut wanted.asked, now);
        let often = now.saturating_duration_since(before) < LEASE;
        let ours = often && wanted.not_before <= now;
        if ours {
            // Should the caller leave before it has read the ring, another one does in the next lease.
            wanted.not_before = now + LEASE;
        }
        ours
    }

    /// Takes note that a ring was asked for which has gateways. Of the others there are as many as strangers can think of.
    pub(super) fn asked_for_ring(&self, parameters: &Parameters, now: Instant) {
        let mut held = self.change();
        if held.rings.get_mut(parameters).is_none() {
            held.rings.insert(parameters, Wanted { asked: now, not_before: now, ring: None }, 1);
        }
    }

    /// Holds a ring, `None` when it is too large, that was read by a question sent at this moment.
    pub(super) fn hold_ring(&self, parameters: &Parameters, ring: Option<Ring>, from: Instant) {
        let not_before = if ring.is_some() { from } else { from + TOO_LARGE };
        let weight = 1 + ring.as_ref().map_or(0, Ring::len);
        let ring = ring.map(|value| Leased { value, from });
        let wanted = Wanted { asked: from, not_before, ring };
        self.change().rings.insert(parameters, wanted, weight);
    }

    /// Holds an account that was read by a question sent at this moment.
    pub(super) fn hold_account(&self, digest: TokenDigest, account: Account, from: Instant) {
        let weight = account.weight();
        self.change().accounts.insert(digest, Leased { value: account, from }, weight);
    }

    fn change(&self) -> RwLockWriteGuard<'_, Held> {
        // Maps of plain values are whole, whatever panicked while they were locked.
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use jiff::Timestamp;

    use super::*;
    use crate::{
        domain::{
            access::{AccountId, Credential},
            extraction::{Endpoint, Protocol, Region},
            token::{Token, TokenKind},
        },
        store::held::Entry,
    };

    const NEARLY: Duration = LEASE.saturating_sub(Duration::from_nanos(1));

    fn query() -> ExtractionQuery {
        let parameters = Parameters { count: 1, region: Region::Everywhere, protocol: Protocol::Http };
        let (caller_ip, now) = (Some(Ipv4Addr::LOCALHOST), Timestamp::UNIX_EPOCH);
        let digest = Token::new("t").digest();
        ExtractionQuery { digest, caller_ip, parameters, request_id: None, pivot: 0, now }
    }

    fn account() -> Account {
        let credential =
            Credential { account: AccountId(1), kind: TokenKind::Api, expires_at: None, revoked_at: None };
        let everyone = Entry { first: Ipv4Addr::UNSPECIFIED, last: Ipv4Addr::BROADCAST, end: None };
        let entitlements = vec![(Protocol::Http, None)];
        Account { credential, verified: true, whitelist: vec![everyone], entitlements }
    }

    fn ring() -> Option<Ring> {
        Ring::new(vec![(0, Endpoint { host: "gw.invalid".to_owned(), port: 1 })], LARGEST_RING)
    }

    #[test]
    fn what_was_read_is_used_for_a_lease_from_the_question_on() {
        let (cache, query, begun) = (Cache::default(), query(), Instant::now());
        let held = |later| cache.facts(&query, begun + later).is_some();
        cache.hold_ring(&query.parameters, ring(), begun + LEASE / 2);
        assert!(!held(LEASE / 2), "the account is not held");
        cache.hold_account(query.digest, account(), begun);
        assert!(held(LEASE / 2) && held(NEARLY));
        assert!(!held(LEASE), "the lease of the account is over");
        cache.hold_account(query.digest, account(), begun + LEASE);
        assert!(held(LEASE) && held(LEASE / 2 + NEARLY));
        assert!(!held(LEASE / 2 + LEASE), "the lease of the ring is over");
    }

    #[test]
    fn one_caller_reads_a_ring_that_many_ask_for() {
        let (cache, query, begun) = (Cache::default(), query(), Instant::now());
        let wants = |later| cache.wants_ring(&query.parameters, begun + later);
        assert!(!wants(Duration::ZERO) && !wants(Duration::ZERO), "it is not known to have gateways");
        cache.asked_for_ring(&query.parameters, begun);
        assert!(!wants(LEASE), "and this is long ago");
        assert!(wants(LEASE + NEARLY));
        assert!(!wants(LEASE + NEARLY), "somebody is about to read it");
        assert!(!wants(2 * LEASE), "somebody is about to read it");
        assert!(wants(LEASE + NEARLY + LEASE), "that one left");
        cache.hold_ring(&query.parameters, ring(), begun + 3 * LEASE);
        assert!(wants(3 * LEASE + NEARLY), "it is wanted again before its lease is over");
        cache.hold_ring(&query.parameters, None, begun + 4 * LEASE);
        let minute = 4 * LEASE + TOO_LARGE;
        assert!(
            !wants(5 * LEASE) && !wants(minute - NEARLY) && !wants(minute - LEASE / 2),
            "it is too large"
        );
        assert!(wants(minute));
    }
}
