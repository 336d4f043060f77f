//! Accounts with their tokens, whitelists, entitlements and groups.

use std::net::Ipv4Addr;

use jiff::Timestamp;

use super::{MAIN, SECOND, id, known::SampleTokens, time};
use crate::{
    domain::{
        instance::Id,
        protocol::Protocol,
        token::{Token, TokenKind},
    },
    store::record::{AccountRecord, EntitlementRecord, GroupRecord, Record, TokenRecord, WhitelistRecord},
};

/// Loopback addresses, from which the sample data is used.
const LOOPBACK: (Ipv4Addr, Ipv4Addr) = (Ipv4Addr::new(127, 0, 0, 0), Ipv4Addr::new(127, 255, 255, 255));

/// Nearly the same ranges, because an account may have each range only once.
const NEARLY_LOOPBACK: [(Ipv4Addr, Ipv4Addr); 2] =
    [(LOOPBACK.0, Ipv4Addr::new(127, 255, 255, 254)), (Ipv4Addr::new(127, 0, 0, 1), LOOPBACK.1)];

/// An address that is not loopback.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 200);

/// A time in the past.
const PAST: &str = "2020-01-01T00:00:00Z";

/// A time in the far future.
const FUTURE: &str = "2400-02-29T12:00:00.000000001Z";

/// Makes the tokens, and the records of all accounts.
pub(super) fn make(token: &mut dyn FnMut(TokenKind) -> Token) -> (SampleTokens, Vec<Record>) {
    let mut made = Accounts { records: Vec::new(), new_token: token };
    let both = Protocol::ALL.as_slice();

    made.account(MAIN, true, both);
    made.allow_loopback(MAIN, true, None);
    // A disabled or expired entry, or one for other addresses, does not affect a valid one.
    made.whitelist(MAIN, NEARLY_LOOPBACK[0], false, None);
    made.whitelist(MAIN, NEARLY_LOOPBACK[1], true, Some(time(PAST)));
    let main = made.token(MAIN, TokenKind::Api);
    let link = made.token(MAIN, TokenKind::Link);
    let revoked = made.token_until(MAIN, TokenKind::Api, Some(time(FUTURE)), Some(time(PAST)));
    let expired = made.token_until(MAIN, TokenKind::Api, Some(time(PAST)), None);

    let [second, empty] = [SECOND, "calm"].map(|name| {
        made.account(name, true, both);
        made.allow_loopback(name, true, Some(time(FUTURE)));
        made.token(name, TokenKind::Api)
    });

    made.account("not-whitelisted", true, both);
    made.allow_loopback("not-whitelisted", false, None);
    made.whitelist("not-whitelisted", NEARLY_LOOPBACK[1], true, Some(time(PAST)));
    made.whitelist("not-whitelisted", (ELSEWHERE, ELSEWHERE), true, None);
    let not_whitelisted = made.token("not-whitelisted", TokenKind::Api);

    made.account("not-verified", false, both);
    made.allow_loopback("not-verified", true, None);
    let not_verified = made.token("not-verified", TokenKind::Api);

    made.account("not-entitled", true, &[]);
    made.allow_loopback("not-entitled", true, None);
    made.entitlement("not-entitled", Protocol::Http, Some(time(PAST)));
    let not_entitled = made.token("not-entitled", TokenKind::Api);

    made.account("http-only", true, &[Protocol::Http]);
    made.allow_loopback("http-only", true, None);
    let http_only = made.token("http-only", TokenKind::Api);

    let tokens = SampleTokens {
        main,
        link,
        revoked,
        expired,
        second,
        empty,
        not_whitelisted,
        not_verified,
        not_entitled,
        http_only,
    };
    (tokens, made.records)
}

/// The groups, not in the order of their ids.
pub(super) fn groups() -> impl Iterator<Item = GroupRecord> {
    [
        (
            MAIN,
            17,
            "boundary: nanoseconds",
            "2026-01-31T23:59:59.999999999Z",
            "2026-02-01T00:00:00.000000001Z",
        ),
        (MAIN, 11, "warehouse", "2026-01-04T09:30:00Z", "2026-03-01T00:00:00Z"),
        (SECOND, foreign_group().get(), "foreign", "2026-02-02T02:02:02Z", "2026-02-02T02:02:02Z"),
        (MAIN, 23, "empty group", "1999-12-31T23:59:59Z", "2024-02-29T00:00:00.5Z"),
        (MAIN, 13, "Größe, 仓库 \"quoted\"", "2025-07-01T12:00:00+02:00", "2025-07-01T12:00:00-09:30"),
        (SECOND, 29, "foreign too", "2026-02-03T02:02:02Z", "2026-02-03T02:02:02Z"),
    ]
    .into_iter()
    .map(|(account, group_id, name, created_at, updated_at)| GroupRecord {
        account: account.to_owned(),
        group_id: id(group_id),
        name: name.to_owned(),
        created_at: time(created_at),
        updated_at: time(updated_at),
    })
}

/// A group of the second account; its id lies between those of the main one.
pub(super) const fn foreign_group() -> Id {
    id(12)
}

/// Groups of the main account that have instances.
pub(super) const MAIN_GROUPS: [Id; 3] = [id(11), id(13), id(17)];

struct Accounts<'a> {
    records: Vec<Record>,
    new_token: &'a mut dyn FnMut(TokenKind) -> Token,
}

impl Accounts<'_> {
    fn account(&mut self, name: &str, real_name_verified: bool, entitled: &[Protocol]) {
        self.records.push(Record::Account(AccountRecord { name: name.to_owned(), real_name_verified }));
        for protocol in entitled {
            self.entitlement(name, *protocol, None);
        }
    }

    fn entitlement(&mut self, account: &str, protocol: Protocol, expires_at: Option<Timestamp>) {
        self.records.push(Record::Entitlement(EntitlementRecord {
            account: account.to_owned(),
            protocol,
            expires_at,
        }));
    }

    fn allow_loopback(&mut self, account: &str, enabled: bool, expires_at: Option<Timestamp>) {
        self.whitelist(account, LOOPBACK, enabled, expires_at);
    }

    fn whitelist(
        &mut self,
        account: &str,
        (first, last): (Ipv4Addr, Ipv4Addr),
        enabled: bool,
        expires_at: Option<Timestamp>,
    ) {
        let account = account.to_owned();
        self.records.push(Record::Whitelist(WhitelistRecord {
            account,
            first,
            last: Some(last),
            enabled,
            expires_at,
        }));
    }

    fn token(&mut self, account: &str, kind: TokenKind) -> Token {
        self.token_until(account, kind, None, None)
    }

    fn token_until(
        &mut self,
        account: &str,
        kind: TokenKind,
        expires_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
    ) -> Token {
        let token = (self.new_token)(kind);
        self.records.push(Record::Token(TokenRecord {
            account: account.to_owned(),
            sha256: token.digest(),
            kind,
            created_at: time("2019-06-01T00:00:00Z"),
            expires_at,
            revoked_at,
        }));
        token
    }
}
