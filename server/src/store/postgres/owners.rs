//! Which account a token belongs to.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use deadpool_postgres::Client;

use super::codec::get;
use crate::{domain::token::TokenDigest, store::StoreError};

/// Accounts by token, to give every statement its account as a constant, by which a cluster finds the right node in the
/// same round trip. This is safe to remember, since a token never moves; whether it is still good is read with what it is asked for.
#[derive(Debug, Default)]
pub(super) struct Owners(Mutex<HashMap<TokenDigest, i64>>);

/// Most tokens that are remembered. When there are more, all are forgotten, and looked up again.
const MOST: usize = 1 << 16;

/// The owner of a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) account: i64,
    /// It was remembered, so the database may have been replaced since.
    pub(super) remembered: bool,
}

impl Owners {
    pub(super) async fn find(
        &self,
        client: &Client,
        digest: TokenDigest,
    ) -> Result<Option<Owner>, StoreError> {
        if let Some(&account) = self.map().get(&digest) {
            return Ok(Some(Owner { account, remembered: true }));
        }
        let statement = client.prepare_cached("SELECT account_id FROM tokens WHERE sha256 = $1").await?;
        let Some(row) = client.query_opt(&statement, &[&digest]).await? else { return Ok(None) };
        let account = get(&row, 0)?;
        let mut map = self.map();
        if map.len() >= MOST {
            map.clear();
        }
        map.insert(digest, account);
        Ok(Some(Owner { account, remembered: false }))
    }

    pub(super) fn forget(&self, digest: TokenDigest) {
        self.map().remove(&digest);
    }

    fn map(&self) -> MutexGuard<'_, HashMap<TokenDigest, i64>> {
        // A map of plain values is whole, whatever panicked while it was locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
