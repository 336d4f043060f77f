//! Accounts with their whitelists, entitlements, groups and tokens.

use super::{id, known::SampleTokens, time};
use crate::{
    domain::{
        instance::Id,
        token::{Token, TokenKind},
    },
    store::{RecordKind, record::Record},
};

/// The records without tokens, as lines of an import. Whitelist entries that are disabled, have expired or are for other addresses do
/// not affect a valid one; an account may have each range only once, so they are for nearly the same addresses. Groups are not in the
/// order of their numbers.
const RECORDS: &str = include_str!("accounts.jsonl");

/// A group of the second account; its number lies between those of the main one.
pub(super) const FOREIGN_GROUP: Id = id(12);

/// Groups of the main account that have instances.
pub(super) const MAIN_GROUPS: [Id; 3] = [id(11), id(13), id(17)];

/// Makes the tokens, and the records of all accounts.
pub(super) fn make(new_token: &mut dyn FnMut(TokenKind) -> Token) -> (SampleTokens, Vec<Record>) {
    #[expect(clippy::expect_used, reason = "the lines are constants, and the tests parse each of them")]
    let mut records: Vec<Record> =
        RECORDS.lines().map(|line| serde_json::from_str(line).expect("a line of an import")).collect();
    let tokens = SampleTokens::new(|account, kind, [expires, revoked]| {
        let token = new_token(kind);
        records.push(Record::new(
            RecordKind::Token,
            [
                ("account", account.into()),
                ("sha256", token.digest().into()),
                ("kind", kind.into()),
                ("createdAt", time("2019-06-01T00:00:00Z").into()),
                ("expiresAt", expires.map(time).into()),
                ("revokedAt", revoked.map(time).into()),
            ],
        ));
        token
    });
    (tokens, records)
}
