//! The used part of each caller's rate limit, in bounded memory.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher as _,
    net::IpAddr,
    sync::atomic::{AtomicUsize, Ordering},
};

use governor::{
    nanos::Nanos,
    state::{
        InMemoryState, NotKeyed, StateStore,
        keyed::{DashMapStateStore, ShrinkableKeyedStateStore},
    },
};

/// Maximum number of callers that have a state of their own. A caller needs one until its quota has fully refilled.
pub(super) const MAX_CALLERS: usize = 1 << 16;

/// Number of states that all further callers share, chosen by their address.
const SHARED_STATES: usize = 1 << 12;

/// The subject of a rate limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Caller {
    /// The digest of a token, which the store may not know.
    Token([u8; 32]),
    /// An IPv4 address or the /64 network of an IPv6 address.
    Address(IpAddr),
}

/// A caller and the address that it calls from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallerKey {
    pub(super) caller: Caller,
    pub(super) address: IpAddr,
}

/// The states of one rate.
///
/// A client that sends a new random token with each call looks like many callers. When there are [`MAX_CALLERS`], existing states
/// are kept, so that nobody can make the server forget a throttled caller. A new caller then shares one of [`SHARED_STATES`]
/// states with all other new callers from its address and from a few other addresses. Random tokens thus use up only the quota
/// of the addresses that send them.
pub(super) struct CallerStates {
    own: DashMapStateStore<Caller, RandomState>,
    /// Number of entries of `own`. Its own `len` locks every part of the map.
    count: AtomicUsize,
    shared: Box<[InMemoryState]>,
    hasher: RandomState,
}

impl CallerStates {
    pub(super) fn new() -> Self {
        Self {
            own: DashMapStateStore::default(),
            count: AtomicUsize::new(0),
            shared: std::iter::repeat_with(InMemoryState::default).take(SHARED_STATES).collect(),
            hasher: RandomState::new(),
        }
    }

    fn shared(&self, address: IpAddr) -> &InMemoryState {
        &self.shared[self.hasher.hash_one(address) as usize % SHARED_STATES]
    }
}

impl StateStore for CallerStates {
    type Key = CallerKey;

    fn measure_and_replace<T, F, E>(&self, key: &CallerKey, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        if let Some(state) = self.own.get(&key.caller) {
            return state.measure_and_replace(&NotKeyed::NonKey, measure);
        }
        // The count is raised before the insertion, so that concurrent calls cannot exceed the bound. The next sweep corrects a
        // caller that was counted twice.
        let one_more = |count| (count < MAX_CALLERS).then_some(count + 1);
        if self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok() {
            return self.own.measure_and_replace(&key.caller, measure);
        }
        self.shared(key.address).measure_and_replace(&NotKeyed::NonKey, measure)
    }
}

impl ShrinkableKeyedStateStore<CallerKey> for CallerStates {
    fn retain_recent(&self, drop_below: Nanos) {
        self.own.retain_recent(drop_below);
        self.count.store(self.own.len(), Ordering::Relaxed);
    }

    fn shrink_to_fit(&self) {
        self.own.shrink_to_fit();
    }

    fn len(&self) -> usize {
        self.own.len()
    }

    fn is_empty(&self) -> bool {
        self.own.is_empty()
    }
}
