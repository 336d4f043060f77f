//! When a change is in force: once it was reported as done, on the next call, on every server.

use std::{net::Ipv4Addr, sync::Arc};

use jiff::Timestamp;
use sallyport_server::{
    data::{
        import::import,
        seed::{Sample, seed},
        tokens,
    },
    domain::{
        extraction::{ExtractCommand, ExtractionQuery, Parameters, Region},
        protocol::Protocol,
        rejection::Rejection,
        service::Service,
        token::{Token, TokenKind},
    },
    store::{
        Store,
        postgres::LEASE,
        record::{EntitlementRecord, WhitelistRecord},
    },
};

use crate::{
    backend::{Database, on_both},
    cluster::eventually,
};

/// Two servers on one database.
struct Servers {
    stores: [Arc<dyn Store>; 2],
    sample: Sample,
}

/// What is asked again and again, and its outcome: how many gateways there were.
#[derive(Clone)]
struct Question {
    token: Token,
    caller_ip: Ipv4Addr,
    parameters: Parameters,
}

impl Servers {
    async fn on(database: &Database) -> Self {
        let store = database.open().await;
        let sample = seed(store.as_ref()).await.unwrap();
        Self { stores: [store, database.open().await], sample }
    }

    fn question(&self, token: &Token, protocol: Protocol) -> Question {
        let region = Region::Only(self.sample.plentiful_region.clone());
        let parameters = Parameters { count: 10, region, protocol };
        Question { token: token.clone(), caller_ip: Ipv4Addr::LOCALHOST, parameters }
    }

    /// What each server returns for several calls in a row, which must be all alike.
    async fn ask(&self, question: &Question) -> Result<u32, Rejection> {
        let mut responses = Vec::new();
        for store in &self.stores {
            for _ in 0..4 {
                responses.push(self.ask_one(store, question).await);
            }
        }
        assert!(responses.iter().all(|response| *response == responses[0]), "{responses:?}");
        responses.swap_remove(0)
    }

    async fn ask_one(&self, store: &Arc<dyn Store>, question: &Question) -> Result<u32, Rejection> {
        let Question { token, caller_ip, parameters } = question.clone();
        let command = ExtractCommand { token, caller_ip: Some(caller_ip), parameters, request_id: None };
        let response = Service::new(store.clone()).extract(command).await;
        response.map(|extraction| extraction.returned())
    }

    /// Goes on asking until each server has in memory what it takes, which it then is to forget in time.
    async fn hold(&self, question: &Question) -> Result<u32, Rejection> {
        eventually(async || {
            let response = self.ask(question).await;
            let held = |store: &Arc<dyn Store>| store.cached_extraction(&query(question)).is_some();
            if self.stores.iter().all(held) { Ok(response) } else { Err("it is not held") }
        })
        .await
    }
}

fn query(question: &Question) -> ExtractionQuery {
    let Question { token, caller_ip, parameters } = question.clone();
    let (digest, caller_ip, now) = (token.digest(), Some(caller_ip), Timestamp::now());
    ExtractionQuery { digest, caller_ip, parameters, request_id: None, pivot: 0, now }
}

async fn a_change_that_was_reported_as_done_is_in_force_everywhere(database: Database) {
    let servers = Servers::on(&database).await;
    let registry = database.registry().await;
    let (account, protocol) = ("aurora".to_owned(), Protocol::Http);
    let (id, token) = tokens::issue(&registry, &account, TokenKind::Api, None).await.unwrap();
    let question = servers.question(&token, protocol);
    let elsewhere = Question { caller_ip: Ipv4Addr::new(198, 51, 100, 7), ..question.clone() };
    let entry = WhitelistRecord {
        account: account.clone(),
        first: elsewhere.caller_ip,
        last: None,
        enabled: true,
        expires_at: None,
    };

    assert_eq!(servers.hold(&question).await, Ok(10));
    registry.revoke_entitlement(account.clone(), protocol).await.unwrap();
    assert_eq!(servers.ask(&question).await, Err(Rejection::NotEntitled(protocol)));
    assert_eq!(servers.hold(&question).await, Err(Rejection::NotEntitled(protocol)));
    registry.grant(EntitlementRecord { account: account.clone(), protocol, expires_at: None }).await.unwrap();
    assert_eq!(servers.ask(&question).await, Ok(10));
    assert_eq!(servers.hold(&question).await, Ok(10));
    registry.verify_account(account.clone(), false).await.unwrap();
    assert_eq!(servers.ask(&question).await, Err(Rejection::AccountNotVerified));
    registry.verify_account(account.clone(), true).await.unwrap();

    assert_eq!(servers.hold(&elsewhere).await, Err(Rejection::CallerNotWhitelisted));
    let rows = registry.add_whitelist(vec![entry]).await.unwrap();
    assert_eq!(servers.ask(&elsewhere).await, Ok(10));
    assert_eq!(servers.hold(&elsewhere).await, Ok(10));
    registry.enable_whitelist(vec![rows[0].id], false, Timestamp::now()).await.unwrap();
    assert_eq!(servers.ask(&elsewhere).await, Err(Rejection::CallerNotWhitelisted));

    assert_eq!(servers.hold(&question).await, Ok(10));
    registry.revoke_tokens(vec![id], Timestamp::now()).await.unwrap();
    assert_eq!(servers.ask(&question).await, Err(Rejection::TokenRevoked));
}

async fn an_import_that_was_reported_as_done_is_in_force_everywhere(database: Database) {
    let servers = Servers::on(&database).await;
    let registry = database.registry().await;
    registry.revoke_entitlement("aurora".to_owned(), Protocol::Socks5).await.unwrap();
    let question = servers.question(&servers.sample.tokens.main, Protocol::Socks5);
    assert_eq!(servers.hold(&question).await, Err(Rejection::NotEntitled(Protocol::Socks5)));
    let line = r#"{"entitlement":{"account":"aurora","protocol":"socks5"}}"#;
    import(servers.stores[0].as_ref(), std::io::Cursor::new(line), |_| {}).await.unwrap();
    assert_eq!(servers.ask(&question).await, Ok(10));
}

async fn a_whitelist_may_be_longer_than_what_is_held(database: Database) {
    let servers = Servers::on(&database).await;
    let registry = database.registry().await;
    let question = servers.question(&servers.sample.tokens.main, Protocol::Http);
    let other = Question { caller_ip: Ipv4Addr::new(198, 51, 100, 7), ..question.clone() };
    let entry = |first| WhitelistRecord {
        account: "aurora".to_owned(),
        first,
        last: None,
        enabled: true,
        expires_at: None,
    };
    let many = (1..600).map(|number: u32| entry(Ipv4Addr::from_bits(number << 8)));
    registry.add_whitelist(many.chain([entry(other.caller_ip)]).collect()).await.unwrap();
    for _ in 0..3 {
        assert_eq!(servers.ask(&question).await, Ok(10));
        assert_eq!(servers.ask(&other).await, Ok(10));
    }
    database.execute("UPDATE whitelist SET enabled = (1 = 0) WHERE first <> last").await;
    assert_eq!(servers.ask(&question).await, Err(Rejection::CallerNotWhitelisted));
    assert_eq!(servers.ask(&other).await, Ok(10));
}

async fn what_is_held_is_used_for_so_long(database: Database) {
    let servers = Servers::on(&database).await;
    let question = servers.question(&servers.sample.tokens.main, Protocol::Http);
    servers.hold(&question).await.unwrap();
    tokio::time::sleep(LEASE).await;
    let held = servers.stores[0].cached_extraction(&query(&question)).is_some();
    assert_eq!(held, matches!(database, Database::Sqlite { .. }), "nothing was changed");
}

on_both! {
    a_change_that_was_reported_as_done_is_in_force_everywhere,
    an_import_that_was_reported_as_done_is_in_force_everywhere,
    a_whitelist_may_be_longer_than_what_is_held,
    what_is_held_is_used_for_so_long,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_later_version_or_another_program_wrote_is_passed_over() {
    let Some(database) = Database::postgres().await else { return };
    let servers = Servers::on(&database).await;
    let question = servers.question(&servers.sample.tokens.main, Protocol::Http);
    assert_eq!(servers.hold(&question).await, Ok(10));
    let ipv6 = "decode(repeat('20', 16), 'hex')";
    database
        .execute(&format!(
            "INSERT INTO entitlements SELECT id, 'quic', NULL FROM accounts;
             INSERT INTO whitelist (account_id, first, last, enabled) SELECT id, {ipv6}, {ipv6}, true FROM accounts"
        ))
        .await;
    assert_eq!(servers.ask(&question).await, Ok(10));
    assert_eq!(servers.hold(&question).await, Ok(10));
}
