//! The account that owns a token.

use deadpool_postgres::Client;
use quick_cache::sync::Cache;

use super::codec::get;
use crate::{domain::token::TokenDigest, store::Result};

/// Accounts by token. Every statement gets the account as a constant, by which a cluster finds the right node in the same round
/// trip. They can be cached for long, because a token never changes its account; its validity is read with the data.
#[derive(Debug)]
pub(super) struct Owners(Cache<TokenDigest, i64>);

/// Maximum number of tokens whose owners are cached.
const MAX_OWNERS: usize = 1 << 16;

/// The owner of a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) account: i64,
    /// Whether it is from the cache, so that the database may have been replaced since.
    pub(super) is_cached: bool,
}

impl Owners {
    pub(super) fn new() -> Self {
        Self(Cache::new(MAX_OWNERS))
    }

    pub(super) async fn find(&self, client: &Client, digest: TokenDigest) -> Result<Option<Owner>> {
        if let Some(account) = self.0.get(&digest) {
            return Ok(Some(Owner { account, is_cached: true }));
        }
        let statement = client.prepare_cached("SELECT account_id FROM tokens WHERE sha256 = $1").await?;
        let Some(row) = client.query_opt(&statement, &[&digest]).await? else { return Ok(None) };
        let account = get(&row, 0)?;
        self.0.insert(digest, account);
        Ok(Some(Owner { account, is_cached: false }))
    }

    pub(super) fn remove(&self, digest: TokenDigest) {
        self.0.remove(&digest);
    }
}
