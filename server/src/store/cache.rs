//! The cache of both databases for accounts, tokens and gateways. Each database's [`Freshness`] decides how long a value may be
//! used. When the cache is full, quick_cache evicts the values that are used least.

use std::{
    fmt::Debug,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use quick_cache::{DefaultHashBuilder, Equivalent, OptionsBuilder, Weighter, sync::DefaultLifecycle};

use crate::domain::{
    access::{Account, Credential, ProtectedData},
    extraction::{Endpoint, ExtractionData, ExtractionQuery, Parameters, Region},
    protocol::Protocol,
    token::TokenDigest,
};

/// Maximum weight of one cache, in entries: whitelist entries and tokens together, or gateways.
const MAX_WEIGHT: u64 = 1 << 18;

/// Number of values for which a cache allocates memory at first.
const ESTIMATED_VALUES: usize = 1 << 10;

/// When, or from which revision of the database, a value was read, which decides how long the value may be used.
pub(in crate::store) trait Freshness: Copy + Debug + Send + Sync + 'static {
    /// Whether a value that was read at `self` may be used at `now`.
    fn is_fresh(self, now: Self, content: Content) -> bool;

    /// Whether a value that was too large for the cache at `self` is assumed to be too large at `now`.
    fn is_size_known(self, now: Self, content: Content) -> bool {
        self.is_fresh(now, content)
    }
}

/// The content of a cached value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Content {
    /// Tokens, and accounts with whitelist and entitlements.
    Access,
    /// Gateways of a protocol and region.
    Gateways,
}

/// The cache of one store.
#[derive(Debug)]
pub(in crate::store) struct Cache<F: Freshness> {
    accounts: Values<TokenDigest, CachedAccount<F>>,
    /// Of tokens that are used for operations other than extraction.
    credentials: Values<TokenDigest, CachedCredential<F>>,
    gateways: Values<GatewaysKey, Arc<CachedGateways<F>>>,
}

type Values<K, V> = quick_cache::sync::Cache<K, V, Weight, DefaultHashBuilder, DefaultLifecycle<K, V>>;

#[derive(Clone, Debug)]
struct CachedAccount<F> {
    read_at: F,
    /// `None` for an account with too many whitelist entries.
    account: Option<ProtectedData<Arc<Account>>>,
}

#[derive(Clone, Debug)]
struct CachedCredential<F> {
    read_at: F,
    credential: Credential,
}

#[derive(Debug)]
struct CachedGateways<F> {
    read_at: F,
    /// `None` for too many gateways.
    gateways: Option<Gateways>,
    /// Number of extractions served since [`Cache::take_uses`].
    uses: AtomicUsize,
}

/// The gateways of one protocol and region, ascending by `spin`.
#[derive(Debug)]
pub(in crate::store) struct Gateways(pub(in crate::store) Vec<(i64, Endpoint)>);

impl Gateways {
    /// The gateways from `pivot` on, then those before it.
    pub(in crate::store) fn choose(&self, pivot: i64, count: u32) -> Vec<Endpoint> {
        let (before, after) = self.0.split_at(self.0.partition_point(|(spin, _)| *spin < pivot));
        after.iter().chain(before).take(count as usize).map(|(_, gateway)| gateway.clone()).collect()
    }

    /// Number of gateways.
    pub(in crate::store) fn len(&self) -> usize {
        self.0.len()
    }
}

impl<F: Freshness> Cache<F> {
    pub(in crate::store) fn new() -> Self {
        Self { accounts: values(), credentials: values(), gateways: values() }
    }

    /// The data of an extraction without request id, if all of it is cached and fresh.
    pub(in crate::store) fn extraction(
        &self,
        query: &ExtractionQuery,
        now: F,
    ) -> Option<ProtectedData<ExtractionData>> {
        let account = self.accounts.get(&query.digest)?;
        if !account.read_at.is_fresh(now, Content::Access) {
            return None;
        }
        let account = account.account?;
        let cached = self.gateways.get(&GatewaysKeyRef::from(&query.parameters))?;
        let gateways =
            cached.gateways.as_ref().filter(|_| cached.read_at.is_fresh(now, Content::Gateways))?;
        let candidates = gateways.choose(query.pivot, query.parameters.count);
        cached.uses.fetch_add(1, Ordering::Relaxed);
        Some(account.map(|account| ExtractionData { account, stored: None, candidates }))
    }

    /// The stored token, if it is cached and fresh.
    pub(in crate::store) fn credential(&self, digest: TokenDigest, now: F) -> Option<Credential> {
        let cached = self.credentials.get(&digest)?;
        cached.read_at.is_fresh(now, Content::Access).then_some(cached.credential)
    }

    pub(in crate::store) fn insert_credential(
        &self,
        digest: TokenDigest,
        credential: Credential,
        read_at: F,
    ) {
        self.credentials.insert(digest, CachedCredential { read_at, credential });
    }

    /// Whether the account is known to have too many whitelist entries for the cache.
    pub(in crate::store) fn is_account_too_large(&self, digest: TokenDigest, now: F) -> bool {
        let cached = self.accounts.peek(&digest);
        cached.is_some_and(|it| it.account.is_none() && it.read_at.is_size_known(now, Content::Access))
    }

    /// Caches an account with its whole whitelist; `None` for one with too many entries.
    pub(in crate::store) fn insert_account(
        &self,
        digest: TokenDigest,
        account: Option<ProtectedData<Arc<Account>>>,
        read_at: F,
    ) {
        self.accounts.insert(digest, CachedAccount { read_at, account });
    }

    /// Whether the gateways are cached and fresh, or known to be too many.
    pub(in crate::store) fn has_gateways(&self, parameters: &Parameters, now: F) -> bool {
        let cached = self.gateways.peek(&GatewaysKeyRef::from(parameters));
        cached.is_some_and(|it| match it.gateways {
            Some(_) => it.read_at.is_fresh(now, Content::Gateways),
            None => it.read_at.is_size_known(now, Content::Gateways),
        })
    }

    /// Caches gateways; `None` for too many.
    pub(in crate::store) fn insert_gateways(
        &self,
        parameters: &Parameters,
        gateways: Option<Gateways>,
        read_at: F,
    ) {
        let key = GatewaysKey { protocol: parameters.protocol, region: parameters.region.clone() };
        self.gateways.insert(key, Arc::new(CachedGateways { read_at, gateways, uses: AtomicUsize::new(0) }));
    }

    /// Returns and resets the number of extractions that the cached gateways have served.
    #[cfg(any(feature = "postgres", test))]
    pub(in crate::store) fn take_uses(&self, parameters: &Parameters) -> usize {
        let cached = self.gateways.peek(&GatewaysKeyRef::from(parameters));
        cached.map_or(0, |it| it.uses.swap(0, Ordering::Relaxed))
    }
}

fn values<K: Eq + std::hash::Hash, V: Clone>() -> Values<K, V>
where
    Weight: Weighter<K, V>,
{
    let options = OptionsBuilder::new()
        .estimated_items_capacity(ESTIMATED_VALUES)
        .weight_capacity(MAX_WEIGHT)
        // The capacity is divided among the shards, and one value may weigh a quarter of it.
        .shards(1)
        .build();
    #[expect(clippy::expect_used, reason = "every option that has no default is set above")]
    let options = options.expect("complete options");
    Values::with_options(options, Weight, DefaultHashBuilder::default(), DefaultLifecycle::default())
}

/// Weighs values by their number of entries.
#[derive(Clone, Debug)]
struct Weight;

impl<F> Weighter<TokenDigest, CachedAccount<F>> for Weight {
    fn weight(&self, _: &TokenDigest, cached: &CachedAccount<F>) -> u64 {
        1 + cached.account.as_ref().map_or(0, |account| account.value().whitelist.len() as u64)
    }
}

impl<F> Weighter<TokenDigest, CachedCredential<F>> for Weight {
    fn weight(&self, _: &TokenDigest, _: &CachedCredential<F>) -> u64 {
        1
    }
}

impl<F> Weighter<GatewaysKey, Arc<CachedGateways<F>>> for Weight {
    fn weight(&self, _: &GatewaysKey, cached: &Arc<CachedGateways<F>>) -> u64 {
        1 + cached.gateways.as_ref().map_or(0, |gateways| gateways.len() as u64)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GatewaysKey {
    protocol: Protocol,
    region: Region,
}

/// A borrowed [`GatewaysKey`] with the same hash.
#[derive(Hash)]
struct GatewaysKeyRef<'a> {
    protocol: Protocol,
    region: &'a Region,
}

impl<'a> From<&'a Parameters> for GatewaysKeyRef<'a> {
    fn from(parameters: &'a Parameters) -> Self {
        Self { protocol: parameters.protocol, region: &parameters.region }
    }
}

impl Equivalent<GatewaysKey> for GatewaysKeyRef<'_> {
    fn equivalent(&self, key: &GatewaysKey) -> bool {
        self.protocol == key.protocol && *self.region == key.region
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use jiff::Timestamp;

    use super::*;
    use crate::domain::{
        access::{AccountId, WhitelistEntry},
        token::{Token, TokenKind},
    };

    /// Fresh until the number changes; sizes are known for ten numbers.
    impl Freshness for u32 {
        fn is_fresh(self, now: Self, _: Content) -> bool {
            self == now
        }

        fn is_size_known(self, now: Self, _: Content) -> bool {
            now < self + 10
        }
    }

    fn credential() -> Credential {
        Credential { account: AccountId(1), kind: TokenKind::Api, expires_at: None, revoked_at: None }
    }

    /// An account with this many whitelist entries.
    fn account(entries: usize) -> Option<ProtectedData<Arc<Account>>> {
        let everyone = WhitelistEntry {
            first: Ipv4Addr::UNSPECIFIED,
            last: Ipv4Addr::BROADCAST,
            is_enabled: true,
            expires_at: None,
        };
        let account =
            Account { is_verified: true, whitelist: vec![everyone; entries], entitlements: Vec::new() };
        Some(ProtectedData::new(credential(), Arc::new(account)))
    }

    fn gateways(count: i64) -> Option<Gateways> {
        let gateway = |spin| (spin, Endpoint { host: "gw.invalid".to_owned(), port: 1 });
        Some(Gateways((0..count).map(gateway).collect()))
    }

    fn query(token: &str) -> ExtractionQuery {
        ExtractionQuery {
            digest: Token::new(token).digest(),
            caller_ip: Some(Ipv4Addr::LOCALHOST),
            parameters: Parameters { count: 1, region: Region::Everywhere, protocol: Protocol::Http },
            request_id: None,
            pivot: 0,
            now: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_value_is_used_only_while_it_is_fresh() {
        let (cache, query) = (Cache::new(), query("t"));
        cache.insert_account(query.digest, account(1), 1_u32);
        assert!(cache.extraction(&query, 1).is_none(), "no gateways are cached");
        cache.insert_gateways(&query.parameters, gateways(3), 1);
        assert!(cache.extraction(&query, 1).is_some() && cache.has_gateways(&query.parameters, 1));
        assert!(cache.extraction(&query, 2).is_none() && !cache.has_gateways(&query.parameters, 2));
        cache.insert_credential(query.digest, credential(), 1);
        assert_eq!(cache.credential(query.digest, 1), Some(credential()));
        assert_eq!(cache.credential(query.digest, 2), None);
    }

    #[test]
    fn gateways_are_cached_by_protocol_and_region() {
        let (cache, mut query) = (Cache::new(), query("t"));
        cache.insert_account(query.digest, account(1), 1_u32);
        cache.insert_gateways(&query.parameters, gateways(3), 1);
        query.parameters.protocol = Protocol::Socks5;
        assert!(cache.extraction(&query, 1).is_none());
        query.parameters.protocol = Protocol::Http;
        query.parameters.region = Region::Only("USA".to_owned());
        assert!(cache.extraction(&query, 1).is_none());
        cache.insert_gateways(&query.parameters, gateways(1), 1);
        assert!(cache.extraction(&query, 1).is_some());
    }

    #[test]
    fn sizes_that_are_too_large_are_remembered() {
        let (cache, query) = (Cache::new(), query("t"));
        cache.insert_account(query.digest, None, 1_u32);
        cache.insert_gateways(&query.parameters, None, 1);
        assert!(cache.extraction(&query, 1).is_none());
        assert!(cache.is_account_too_large(query.digest, 10) && cache.has_gateways(&query.parameters, 10));
        assert!(!cache.is_account_too_large(query.digest, 11) && !cache.has_gateways(&query.parameters, 11));
    }

    #[test]
    fn memory_is_bounded_and_used_values_stay() {
        let cache = Cache::new();
        let used = query("used");
        cache.insert_gateways(&used.parameters, gateways(1), 1_u32);
        cache.insert_account(used.digest, account(1), 1);
        for number in 0..1000 {
            cache.insert_account(query(&number.to_string()).digest, account(MAX_WEIGHT as usize / 64), 1);
            assert!(cache.extraction(&used, 1).is_some(), "evicted after {number} accounts");
        }
        assert!(cache.accounts.weight() <= MAX_WEIGHT);
        assert!(cache.accounts.len() > 32, "{} accounts are kept", cache.accounts.len());
    }

    #[test]
    fn uses_are_counted_until_they_are_taken() {
        let (cache, query) = (Cache::new(), query("t"));
        cache.insert_account(query.digest, account(1), 1_u32);
        cache.insert_gateways(&query.parameters, gateways(1), 1);
        assert!((0..3).all(|_| cache.extraction(&query, 1).is_some()));
        assert_eq!([cache.take_uses(&query.parameters), cache.take_uses(&query.parameters)], [3, 0]);
    }
}
