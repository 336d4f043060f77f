//! Issuing tokens. A token is seen once, by whoever asked for it; the store keeps its digest.

use jiff::Timestamp;

use crate::{
    domain::{
        instance::Id,
        token::{Token, TokenKind},
    },
    store::{NewToken, Store, StoreError},
};

/// Makes a token for the account of that name, and gives its number and the token itself.
///
/// # Errors
/// [`StoreError::Conflict`] when there is no such account, and the storage's own faults.
pub async fn issue(
    store: &dyn Store,
    account: &str,
    kind: TokenKind,
    expires_at: Option<Timestamp>,
) -> Result<(Id, Token), StoreError> {
    let token = Token::generate(kind);
    let created_at = Timestamp::now();
    let new = NewToken { account: account.to_owned(), digest: token.digest(), kind, created_at, expires_at };
    Ok((store.issue_token(new).await?, token))
}
