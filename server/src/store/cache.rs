//! What extractions and authentication need again and again, kept in memory: tokens, accounts and gateways. When the cache is full,
//! quick_cache evicts what is used least.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter, sync::DefaultLifecycle};

use crate::domain::{
    Protocol,
    access::{Account, Credential, ProtectedData},
    extraction::{Endpoint, ExtractionData, ExtractionQuery, Parameters, Region},
    token::TokenDigest,
};

/// A state of the database, or a quarter of a second of it. A value that was read in an epoch, or as the database was before it ended,
/// is used in that epoch only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Epoch(pub(super) i64);

/// The current epochs of what is cached. On SQLite a change of one leaves the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epochs {
    /// That of accounts, with their tokens, whitelists and entitlements.
    pub(super) access: Epoch,
    /// That of gateways.
    pub(super) gateways: Epoch,
}

/// Maximum number of gateways of one protocol and region that are cached.
pub(super) const MAX_CACHED_GATEWAYS: usize = 1 << 14;

/// Maximum number of cached gateways, counted in each protocol and region.
const MAX_GATEWAYS: u64 = 1 << 18;

/// Maximum number of cached tokens, and of accounts by token and caller.
const MAX_TOKENS: usize = 1 << 16;

/// Maximum number of whitelist entries that cover the caller of a cached account.
const MAX_ENTRIES: usize = 16;

/// About as many gateways are read in the time of one extraction.
const GATEWAYS_PER_QUERY: usize = 64;

/// The cache of one store.
#[derive(Debug)]
pub(super) struct Cache {
    tokens: quick_cache::sync::Cache<TokenDigest, (Epoch, Credential)>,
    accounts: quick_cache::sync::Cache<Caller, (Epoch, ProtectedData<Arc<Account>>)>,
    /// By protocol.
    gateways: [Regions; Protocol::ALL.len()],
    /// Number of extractions that were served from the cache.
    pub(super) hits: AtomicU64,
}

/// Who extracts. An account is cached with the whitelist entries that cover one address.
type Caller = (TokenDigest, Option<Ipv4Addr>);

type Regions = quick_cache::sync::Cache<
    Region,
    Arc<Gateways>,
    Weight,
    DefaultHashBuilder,
    DefaultLifecycle<Region, Arc<Gateways>>,
>;

/// The gateways of a protocol and region.
#[derive(Debug)]
struct Gateways {
    /// `None` for those that are not known: too many, or not read yet.
    read_at: Option<Epoch>,
    /// Ascending by `spin`.
    all: Vec<(i64, Endpoint)>,
    /// Extractions that the database answered since these were read.
    misses: AtomicUsize,
    /// Number of these after which it costs less to read all gateways again.
    reread_after: usize,
}

impl Gateways {
    /// The gateways from `pivot` on, then those before it.
    fn choose(&self, pivot: i64, count: u32) -> Vec<Endpoint> {
        let (before, after) = self.all.split_at(self.all.partition_point(|(spin, _)| *spin < pivot));
        after.iter().chain(before).take(count as usize).map(|(_, gateway)| gateway.clone()).collect()
    }
}

impl Cache {
    pub(super) fn new() -> Self {
        Self {
            tokens: quick_cache::sync::Cache::new(MAX_TOKENS),
            accounts: quick_cache::sync::Cache::new(MAX_TOKENS),
            gateways: Protocol::ALL.map(|_| regions()),
            hits: AtomicU64::new(0),
        }
    }

    /// The stored token, as it is in this epoch.
    pub(super) fn credential(&self, digest: TokenDigest, now: Epoch) -> Option<Credential> {
        let (read_at, credential) = self.tokens.get(&digest)?;
        (read_at == now).then_some(credential)
    }

    pub(super) fn insert_credential(&self, digest: TokenDigest, credential: Credential, read_at: Epoch) {
        self.tokens.insert(digest, (read_at, credential));
    }

    /// The data of an extraction without request id, as it is in this epoch.
    pub(super) fn extraction(
        &self,
        query: &ExtractionQuery,
        pivot: i64,
        now: Epochs,
    ) -> Option<ProtectedData<ExtractionData>> {
        if query.request_id.is_some() {
            return None;
        }
        let (read_at, account) = self.accounts.get(&(query.digest, query.caller_ip))?;
        let gateways = self.gateways(&query.parameters).get(&query.parameters.region)?;
        if read_at != now.access || gateways.read_at != Some(now.gateways) {
            return None;
        }
        self.hits.fetch_add(1, Ordering::Relaxed);
        let candidates = gateways.choose(pivot, query.parameters.count);
        let data = ExtractionData { account: Arc::clone(account.value()), stored: None, candidates };
        Some(account.with(data))
    }

    /// Caches the account of an extraction.
    pub(super) fn insert_account(
        &self,
        query: &ExtractionQuery,
        data: &ProtectedData<ExtractionData>,
        read_at: Epoch,
    ) {
        if data.value().account.whitelist.len() <= MAX_ENTRIES {
            let account = data.with(Arc::clone(&data.value().account));
            self.accounts.insert((query.digest, query.caller_ip), (read_at, account));
        }
    }

    /// Counts an extraction for which the database chose gateways. Returns whether it is time to read all of them: when so many
    /// extractions have missed them that this costs less.
    pub(super) fn should_read_gateways(&self, parameters: &Parameters, now: Epoch) -> bool {
        let Some(gateways) = self.gateways(parameters).get(&parameters.region) else {
            // So that other extractions do not read them as well meanwhile.
            self.insert(parameters, None, Vec::new(), GATEWAYS_PER_QUERY);
            return true;
        };
        if gateways.read_at == Some(now) {
            // It was the account that was missing.
            return false;
        }
        let misses = gateways.misses.fetch_add(1, Ordering::Relaxed) + 1;
        misses.is_multiple_of(gateways.reread_after)
    }

    /// Caches all gateways, ascending by spin, unless there are too many.
    pub(super) fn insert_gateways(
        &self,
        parameters: &Parameters,
        gateways: Vec<(i64, Endpoint)>,
        read_at: Epoch,
    ) {
        if gateways.len() > MAX_CACHED_GATEWAYS {
            self.insert(parameters, None, Vec::new(), MAX_CACHED_GATEWAYS);
        } else {
            let reread_after = 1 + gateways.len() / GATEWAYS_PER_QUERY;
            self.insert(parameters, Some(read_at), gateways, reread_after);
        }
    }

    fn insert(
        &self,
        parameters: &Parameters,
        read_at: Option<Epoch>,
        all: Vec<(i64, Endpoint)>,
        reread_after: usize,
    ) {
        let gateways = Gateways { read_at, all, misses: AtomicUsize::new(0), reread_after };
        self.gateways(parameters).insert(parameters.region.clone(), Arc::new(gateways));
    }

    fn gateways(&self, parameters: &Parameters) -> &Regions {
        &self.gateways[parameters.protocol as usize]
    }
}

fn regions() -> Regions {
    let options = OptionsBuilder::new()
        .estimated_items_capacity(1 << 8)
        .weight_capacity(MAX_GATEWAYS)
        // The capacity is divided among the shards, and one value may weigh a sixteenth of it.
        .shards(1)
        .build();
    #[expect(clippy::expect_used, reason = "every option that has no default is set above")]
    let options = options.expect("complete options");
    Regions::with_options(options, Weight, DefaultHashBuilder::default(), DefaultLifecycle::default())
}

/// Weighs by the number of gateways.
#[derive(Clone, Debug)]
struct Weight;

impl Weighter<Region, Arc<Gateways>> for Weight {
    fn weight(&self, _: &Region, gateways: &Arc<Gateways>) -> u64 {
        1 + gateways.all.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        access::AccountId,
        token::{Token, TokenKind},
    };

    const EPOCH: Epoch = Epoch(1);
    const LATER: Epoch = Epoch(2);
    const NOW: Epochs = Epochs { access: EPOCH, gateways: EPOCH };

    fn credential() -> Credential {
        Credential { account: AccountId(1), kind: TokenKind::Api, expires_at: None, revoked_at: None }
    }

    fn data() -> ProtectedData<ExtractionData> {
        let account = Account { is_verified: true, whitelist: Vec::new(), entitlements: Vec::new() };
        let (account, candidates) = (Arc::new(account), Vec::new());
        ProtectedData::new(credential(), ExtractionData { account, stored: None, candidates })
    }

    fn gateways(count: i64) -> Vec<(i64, Endpoint)> {
        (0..count)
            .map(|spin| (spin, Endpoint { host: format!("gw{spin}.invalid").into(), port: 1 }))
            .collect()
    }

    fn query(token: &str) -> ExtractionQuery {
        ExtractionQuery {
            digest: Token::new(token).digest(),
            caller_ip: Some(Ipv4Addr::LOCALHOST),
            parameters: Parameters { count: 2, region: Region::Everywhere, protocol: Protocol::Http },
            request_id: None,
        }
    }

    #[test]
    fn what_is_cached_for_one_extraction_is_not_used_for_another() {
        let (cache, query) = (Cache::new(), query("t"));
        cache.insert_account(&query, &data(), EPOCH);
        cache.insert_gateways(&query.parameters, gateways(3), EPOCH);
        let other = |change: &dyn Fn(&mut ExtractionQuery)| {
            let mut other = query.clone();
            change(&mut other);
            cache.extraction(&other, 2, NOW).is_none()
        };
        assert!(other(&|it| it.digest = Token::new("u").digest()));
        assert!(other(&|it| it.caller_ip = Some(Ipv4Addr::BROADCAST)));
        assert!(other(&|it| it.caller_ip = None));
        assert!(other(&|it| it.parameters.protocol = Protocol::Socks5));
        assert!(other(&|it| it.parameters.region = Region::Only("USA".to_owned())));
        assert!(other(&|it| it.request_id = Some("id".to_owned())));
        assert!(!other(&|it| it.parameters.count = 1));
    }

    #[test]
    fn gateways_are_read_when_that_costs_less_than_the_misses() {
        let (cache, parameters) = (Cache::new(), query("t").parameters);
        assert!(cache.should_read_gateways(&parameters, LATER), "the first time");
        assert!(!cache.should_read_gateways(&parameters, LATER), "another extraction reads them");
        let misses_until_read = |count| {
            cache.insert_gateways(&parameters, gateways(count), EPOCH);
            let is_known = count <= MAX_CACHED_GATEWAYS as i64;
            assert!(!is_known || !cache.should_read_gateways(&parameters, EPOCH), "they are known");
            (1..).find(|_| cache.should_read_gateways(&parameters, LATER)).unwrap()
        };
        assert_eq!(misses_until_read(1), 1);
        assert_eq!(misses_until_read(3 * GATEWAYS_PER_QUERY as i64), 4);
        assert_eq!(misses_until_read(MAX_CACHED_GATEWAYS as i64 + 1), MAX_CACHED_GATEWAYS, "too many");
        let again = || (1..).find(|_| cache.should_read_gateways(&parameters, LATER)).unwrap();
        assert_eq!(again(), MAX_CACHED_GATEWAYS, "and if the read failed");
    }

    #[test]
    fn memory_is_bounded_and_used_values_stay() {
        let (cache, used) = (Cache::new(), query("used"));
        cache.insert_gateways(&used.parameters, gateways(1), EPOCH);
        cache.insert_account(&used, &data(), EPOCH);
        for number in 0..100 {
            let region = Region::Only(number.to_string());
            let parameters = Parameters { region, ..used.parameters.clone() };
            cache.insert_gateways(&parameters, gateways(MAX_CACHED_GATEWAYS as i64), EPOCH);
            assert!(cache.extraction(&used, 2, NOW).is_some(), "evicted after {number} regions");
        }
        assert!(cache.gateways(&used.parameters).weight() <= MAX_GATEWAYS);
    }
}
