//! What extractions need, in memory, for a moment: nothing tells a server that another one, or a command, has changed the
//! database, so what was read is used for a [`LEASE`] and no longer. Whoever changes something waits longer than that
//! before saying that it is done: who has heard so finds the change in force on every server.

use std::{
    sync::{
        PoisonError, RwLock, RwLockWriteGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    domain::{
        access::{Credential, Guarded},
        extraction::{ExtractionFacts, ExtractionQuery, Parameters},
        token::TokenDigest,
    },
    store::held::{Account, Limited, Ring, Rings},
};

/// How long what was read is used, from the moment at which the question was sent.
pub const LEASE: Duration = Duration::from_millis(250);

/// Waits until every server has stopped using what it read before a change that was committed. Clocks that are being
/// set right run a tenth slower or faster at most.
pub(in crate::store) async fn until_in_force() {
    tokio::time::sleep(LEASE + LEASE / 4).await;
}

/// Most whitelist entries of an account that is held. They come with every answer about it.
pub(super) const MOST_ENTRIES: usize = 256;

/// Most gateways of a ring that is held. It is read anew in every lease in which it is asked for often.
pub(super) const LARGEST_RING: usize = 1 << 12;

/// About as many gateways are read in the time that one question takes.
const GATEWAYS_A_QUESTION: usize = 64;

/// After what time a ring is read again that could not be read, or took too long.
const SOON: Duration = Duration::from_secs(1);

/// After what time is looked again at what was too large.
const LATER: Duration = Duration::from_secs(60);

/// A moment on two clocks. The steady one stands still while the machine does, and the one on the wall can be set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    steady: Instant,
    wall: Timestamp,
}

impl Moment {
    /// This moment, of which the caller knows what the clock on the wall says.
    pub(super) fn at(wall: Timestamp) -> Self {
        Self { steady: Instant::now(), wall }
    }

    pub(super) fn now() -> Self {
        Self::at(Timestamp::now())
    }

    /// Whether so much time has not passed yet since `begun`, by either clock.
    fn is_within(self, time: Duration, begun: Self) -> bool {
        let wall = self.wall.duration_since(begun.wall);
        let forward = wall >= SignedDuration::ZERO && wall.unsigned_abs() < time;
        forward && self.steady.saturating_duration_since(begun.steady) < time
    }
}

/// The cache of one store.
#[derive(Debug, Default)]
pub(super) struct Cache(RwLock<Held>);

#[derive(Debug, Default)]
struct Held {
    /// `None` for an account that is too large to hold.
    accounts: Limited<TokenDigest, Leased<Option<Account>>>,
    rings: Rings<Wanted>,
    /// Of tokens that are used for other operations.
    credentials: Limited<TokenDigest, Leased<Credential>>,
}

/// What was read, and when the question was sent.
#[derive(Debug)]
struct Leased<T> {
    value: T,
    from: Moment,
}

/// A ring that is asked for.
#[derive(Debug)]
struct Wanted {
    /// How many calls have asked for it since then.
    calls: AtomicUsize,
    since: Moment,
    /// When it was, or will have been, read; it is not read again for so long.
    read: Option<(Moment, Duration)>,
    /// How many gateways it had.
    size: usize,
    ring: Option<Leased<Ring>>,
}

impl Cache {
    /// What bears on an extraction, if it is held and may still be used.
    pub(super) fn facts(&self, query: &ExtractionQuery, now: Moment) -> Option<Guarded<ExtractionFacts>> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let account = held.accounts.get(&query.digest).filter(|it| now.is_within(LEASE, it.from))?;
        let wanted = held.rings.get(&query.parameters)?;
        let ring = wanted.ring.as_ref().filter(|it| now.is_within(LEASE, it.from))?;
        let facts = account.value.as_ref()?.facts(
            query,
            None,
            ring.value.choose(query.pivot, query.parameters.count),
        );
        wanted.calls.fetch_add(1, Ordering::Relaxed);
        Some(facts)
    }

    /// What is known of a token, if it is held and may still be used.
    pub(super) fn credential(&self, digest: TokenDigest, now: Moment) -> Option<Credential> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        held.credentials.get(&digest).filter(|it| now.is_within(LEASE, it.from)).map(|it| it.value)
    }

    /// Holds what is known of a token, read by a question sent at this moment.
    pub(super) fn hold_credential(&self, digest: TokenDigest, credential: Credential, from: Moment) {
        let mut held = self.change();
        let newer = held.credentials.get(&digest).is_some_and(|it| it.from.steady > from.steady);
        let leased = Leased { value: credential, from };
        let gone = (!newer).then(|| held.credentials.insert(digest, leased, 1));
        drop(held);
        drop(gone);
    }

    /// Whether the account may be small enough to be held.
    pub(super) fn wants_account(&self, digest: TokenDigest, now: Moment) -> bool {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let too_large = |it: &&Leased<Option<Account>>| it.value.is_none() && now.is_within(LATER, it.from);
        held.accounts.get(&digest).filter(too_large).is_none()
    }

    /// Holds an account, `None` when it is too large, that was read by a question sent at this moment.
    pub(super) fn hold_account(&self, digest: TokenDigest, account: Option<Account>, from: Moment) {
        let weight = account.as_ref().map_or(1, Account::weight);
        let mut held = self.change();
        let newer = held.accounts.get(&digest).is_some_and(|it| it.from.steady > from.steady);
        let gone = (!newer).then(|| held.accounts.insert(digest, Leased { value: account, from }, weight));
        drop(held);
        drop(gone);
    }

    /// Whether it is for the caller, whom the database has just told that there are such gateways, to read their ring:
    /// where it is asked for so often that this costs less than to let the database choose, and nobody else does.
    pub(super) fn wants_ring(&self, parameters: &Parameters, now: Moment) -> bool {
        let mut held = self.change();
        let Some(wanted) = held.rings.get_mut(parameters) else {
            let (calls, since) = (AtomicUsize::new(1), now);
            let wanted = Wanted { calls, since, read: None, size: 0, ring: None };
            let gone = held.rings.insert(parameters, wanted, 1);
            drop(held);
            drop(gone);
            return false;
        };
        if wanted.read.is_some_and(|(read, pause)| now.is_within(pause, read)) {
            return false;
        }
        let calls = wanted.calls.get_mut();
        if !now.is_within(2 * LEASE, wanted.since) {
            (*calls, wanted.since) = (0, now);
        }
        *calls += 1;
        let pays = *calls >= 2 + wanted.size / GATEWAYS_A_QUESTION;
        if pays {
            (*calls, wanted.since, wanted.read) = (0, now, Some((now, SOON)));
        }
        pays
    }

    /// Holds a ring, `None` when it is too large, that was read by a question sent at `from`.
    pub(super) fn hold_ring(&self, parameters: &Parameters, ring: Option<Ring>, from: Moment, now: Moment) {
        let size = ring.as_ref().map_or(0, Ring::len);
        // A database that is slow is not to be asked for more than callers ask of it.
        let slow = !now.is_within(LEASE / 2, from);
        let pause = match &ring {
            None => LATER,
            Some(_) if slow => SOON,
            Some(_) => LEASE,
        };
        let ring = ring.filter(|_| !slow).map(|value| Leased { value, from });
        let wanted =
            Wanted { calls: AtomicUsize::new(0), since: from, read: Some((from, pause)), size, ring };
        let mut held = self.change();
        let gone = held.rings.insert(parameters, wanted, 1 + size);
        drop(held);
        drop(gone);
    }

    fn change(&self) -> RwLockWriteGuard<'_, Held> {
        // Maps of plain values are whole, whatever panicked while they were locked.
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

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

    impl Moment {
        fn later(self, time: Duration) -> Self {
            Self { steady: self.steady + time, wall: self.wall + time }
        }
    }

    fn query() -> ExtractionQuery {
        let parameters = Parameters { count: 1, region: Region::Everywhere, protocol: Protocol::Http };
        let (caller_ip, now) = (Some(Ipv4Addr::LOCALHOST), Timestamp::UNIX_EPOCH);
        let digest = Token::new("t").digest();
        ExtractionQuery { digest, caller_ip, parameters, request_id: None, pivot: 0, now }
    }

    fn account() -> Option<Account> {
        let credential =
            Credential { account: AccountId(1), kind: TokenKind::Api, expires_at: None, revoked_at: None };
        let everyone = Entry { first: Ipv4Addr::UNSPECIFIED, last: Ipv4Addr::BROADCAST, end: None };
        let entitlements = vec![(Protocol::Http, None)];
        Some(Account { credential, verified: true, whitelist: vec![everyone], entitlements })
    }

    fn ring(size: usize) -> Option<Ring> {
        let gateway = |place| (place, Endpoint { host: "gw.invalid".to_owned(), port: 1 });
        Ring::new((0..size as i64).map(gateway).collect(), LARGEST_RING)
    }

    /// Holds a ring that was read in no time.
    fn hold_ring(cache: &Cache, ring: Option<Ring>, from: Moment) {
        cache.hold_ring(&query().parameters, ring, from, from);
    }

    #[test]
    fn what_was_read_is_used_for_a_lease_from_the_question_on() {
        let (cache, query, begun) = (Cache::default(), query(), Moment::now());
        let held = |later| cache.facts(&query, begun.later(later)).is_some();
        hold_ring(&cache, ring(1), begun.later(LEASE / 2));
        assert!(!held(LEASE / 2), "the account is not held");
        cache.hold_account(query.digest, account(), begun);
        assert!(held(LEASE / 2) && held(NEARLY));
        assert!(!held(LEASE), "the lease of the account is over");
        cache.hold_account(query.digest, account(), begun.later(LEASE));
        assert!(held(LEASE) && held(LEASE / 2 + NEARLY));
        assert!(!held(LEASE / 2 + LEASE), "the lease of the ring is over");
        cache.hold_account(query.digest, None, begun);
        assert!(held(LEASE), "an older answer that comes later changes nothing");
        cache.hold_account(query.digest, None, begun.later(LEASE));
        assert!(
            !held(LEASE) && !cache.wants_account(query.digest, begun.later(2 * LEASE)),
            "it is too large"
        );
        assert!(cache.wants_account(query.digest, begun.later(LEASE + LATER)));
    }

    #[test]
    fn a_lease_is_over_when_either_clock_says_so() {
        let begun = Moment::now();
        let at =
            |steady, wall: SignedDuration| Moment { steady: begun.steady + steady, wall: begun.wall + wall };
        let (zero, nearly) = (SignedDuration::ZERO, SignedDuration::try_from(NEARLY).unwrap());
        assert!(at(NEARLY, nearly).is_within(LEASE, begun));
        assert!(!at(LEASE, zero).is_within(LEASE, begun), "the clock on the wall was stopped");
        let awake = SignedDuration::from_hours(1);
        assert!(!at(Duration::ZERO, awake).is_within(LEASE, begun), "the machine was asleep");
        assert!(!at(NEARLY, -SignedDuration::from_nanos(1)).is_within(LEASE, begun), "it was set back");
    }

    #[test]
    fn a_ring_is_read_when_that_costs_less_than_the_calls() {
        let (cache, query, begun) = (Cache::default(), query(), Moment::now());
        let wants = |later| cache.wants_ring(&query.parameters, begun.later(later));
        assert!(!wants(Duration::ZERO), "nobody else has asked");
        assert!(!wants(2 * LEASE), "and this is long ago");
        assert!(wants(2 * LEASE + NEARLY));
        let soon = 2 * LEASE + NEARLY + SOON;
        assert!(!wants(3 * LEASE) && !wants(soon - LEASE / 9), "somebody is about to read it");
        assert!(!wants(soon) && wants(soon), "and did not");

        let size = 3 * GATEWAYS_A_QUESTION;
        hold_ring(&cache, ring(size), begun);
        cache.hold_account(query.digest, account(), begun);
        assert!(!(0..100).any(|_| wants(NEARLY)), "it is held");
        assert!((0..3).all(|_| cache.facts(&query, begun).is_some()));
        assert!(!wants(LEASE), "four calls are fewer than it costs");
        assert!(wants(LEASE), "five are not");

        hold_ring(&cache, None, begun);
        assert!(!(0..100).any(|_| wants(LATER - LEASE)), "it is too large");
        assert!(!wants(LATER) && wants(LATER));
        cache.hold_ring(&query.parameters, ring(1), begun, begun.later(LEASE / 2));
        assert!(cache.facts(&query, begun).is_none(), "the database is slow");
        assert!(!(0..100).any(|_| wants(SOON - LEASE)));
    }
}
