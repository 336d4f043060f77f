//! Stores sample data: every kind of token, account, gateway and instance.

use super::sample;
pub use super::sample::known::{AddressPorts, Pools, Sample, SampleToken, SampleTokens};
use crate::{
    domain::token::{Token, TokenKind},
    store::{LoadError, Store, StoreError, record::Line},
};

/// Why the sample data was not stored.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// Names or numbers of the sample data already exist, of which this says the first.
    #[error("the database has data that conflicts with the sample data ({0}); nothing was changed")]
    Present(String),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fills a store with the sample data, all or nothing. The tokens are random.
pub async fn seed(store: &Store) -> Result<Sample, SeedError> {
    seed_with(store, &mut Token::generate).await
}

/// The same with the tokens of a generator. Only a sandbox may have tokens that others can know.
pub(crate) async fn seed_with(
    store: &Store,
    token: &mut (dyn FnMut(TokenKind) -> Token + Send),
) -> Result<Sample, SeedError> {
    let (mut sample, records) = sample::make(token)?;
    let lines = (1..).zip(records).map(|(number, record)| Ok(Line { number, bytes: 0, record: Ok(record) }));
    sample.loaded = store.load(lines).await.map_err(|error| match error {
        LoadError::Rejected(bad) => {
            SeedError::Present(bad.lines.into_iter().next().map(|(_, reason)| reason).unwrap_or_default())
        }
        LoadError::Input(error) => StoreError::Internal(error.to_string()).into(),
        LoadError::Store(error) => error.into(),
    })?;
    Ok(sample)
}
