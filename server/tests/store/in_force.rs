//! When a change is in force: once it was reported as done, on the next call, on every server.

use std::{net::Ipv4Addr, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use sallyport_server::{
    data::{
        import::import,
        seed::{Sample, seed},
    },
    domain::{
        Protocol,
        extraction::ExtractionQuery,
        rejection::Rejection,
        service::Service,
        token::{Token, TokenKind},
    },
    store::{RecordKind, Store, postgres::LEASE, registry::IssuedToken},
};
use serde_json::json;

use super::{
    backend::{Database, on_both, put, remove},
    cluster::eventually,
    requests::command,
};

/// An address that the sample data does not whitelist.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);

/// Two servers on one database.
struct Servers {
    stores: [Arc<dyn Store>; 2],
    sample: Sample,
}

impl Servers {
    async fn on(database: &Database) -> Self {
        let store = database.open().await;
        let sample = seed(store.as_ref()).await.unwrap();
        Self { stores: [store, database.open().await], sample }
    }

    fn command(&self, token: &Token, protocol: Protocol) -> ExtractionQuery {
        let mut command = command(token, 10, &self.sample.plentiful_region);
        command.parameters.protocol = protocol;
        command
    }

    /// What each server returns for several calls in a row, which must be all alike.
    async fn ask(&self, command: &ExtractionQuery) -> Result<u32, Rejection> {
        let mut responses = Vec::new();
        for store in &self.stores {
            for _ in 0..4 {
                let response = Service::new(store.clone()).extract(command.clone()).await;
                responses.push(response.map(|extraction| extraction.returned()));
            }
        }
        assert!(responses.iter().all(|response| *response == responses[0]), "{responses:?}");
        responses.swap_remove(0)
    }

    /// Asks until each server has cached what it takes, so that it must then drop it in time.
    async fn fill_caches(&self, command: &ExtractionQuery) -> Result<u32, Rejection> {
        eventually(async || {
            let response = self.ask(command).await;
            for store in &self.stores {
                if !is_cached(store, command).await {
                    return Err("not cached");
                }
            }
            Ok(response)
        })
        .await
    }
}

/// Whether an extraction is served from memory.
async fn is_cached(store: &Arc<dyn Store>, command: &ExtractionQuery) -> bool {
    let before = store.cache_hits();
    store.extraction(command, 0).await.unwrap();
    store.cache_hits() > before
}

async fn a_change_that_was_reported_as_done_is_in_force_everywhere(database: Database) {
    let servers = Servers::on(&database).await;
    let registry = database.open().await;
    let (account, protocol) = ("aurora".to_owned(), Protocol::Http);
    let IssuedToken { id, token, .. } = registry.issue_token(&account, TokenKind::Api, None).await.unwrap();
    let command = servers.command(&token, protocol);
    let elsewhere = ExtractionQuery { caller_ip: Some(ELSEWHERE), ..command.clone() };
    assert_eq!(servers.fill_caches(&command).await, Ok(10));
    remove(registry.as_ref(), RecordKind::Entitlement, &["account=aurora", "protocol=http"]).await;
    assert_eq!(servers.ask(&command).await, Err(Rejection::NotEntitled(protocol)));
    assert_eq!(servers.fill_caches(&command).await, Err(Rejection::NotEntitled(protocol)));
    let expired = Some(Timestamp::now() - SignedDuration::from_secs(1));
    for (expires_at, expected) in [(expired, Err(Rejection::NotEntitled(protocol))), (None, Ok(10))] {
        let right = json!({"account": account, "protocol": protocol, "expiresAt": expires_at});
        put(registry.as_ref(), RecordKind::Entitlement, right).await.unwrap();
        assert_eq!(servers.ask(&command).await, expected);
    }
    assert_eq!(servers.fill_caches(&command).await, Ok(10));
    let verified = |is_verified: bool| json!({"name": account, "realNameVerified": is_verified});
    put(registry.as_ref(), RecordKind::Account, verified(false)).await.unwrap();
    assert_eq!(servers.ask(&command).await, Err(Rejection::AccountNotVerified));
    put(registry.as_ref(), RecordKind::Account, verified(true)).await.unwrap();

    assert_eq!(servers.fill_caches(&elsewhere).await, Err(Rejection::CallerNotWhitelisted));
    let entry = |is_enabled: bool| json!({"account": account, "first": ELSEWHERE, "enabled": is_enabled});
    let rows = put(registry.as_ref(), RecordKind::Whitelist, entry(true)).await.unwrap();
    assert_eq!(servers.ask(&elsewhere).await, Ok(10));
    assert_eq!(servers.fill_caches(&elsewhere).await, Ok(10));
    for (is_enabled, expected) in [(false, Err(Rejection::CallerNotWhitelisted)), (true, Ok(10))] {
        put(registry.as_ref(), RecordKind::Whitelist, entry(is_enabled)).await.unwrap();
        assert_eq!(servers.ask(&elsewhere).await, expected);
    }
    let key = format!("id={}", rows[0].entry["id"]);
    remove(registry.as_ref(), RecordKind::Whitelist, &[&key]).await;
    assert_eq!(servers.ask(&elsewhere).await, Err(Rejection::CallerNotWhitelisted));

    assert_eq!(servers.fill_caches(&command).await, Ok(10));
    registry.revoke_tokens(vec![id], Timestamp::now()).await.unwrap();
    assert_eq!(servers.ask(&command).await, Err(Rejection::TokenRevoked));
}

async fn an_import_that_was_reported_as_done_is_in_force_everywhere(database: Database) {
    let servers = Servers::on(&database).await;
    let registry = database.open().await;
    remove(registry.as_ref(), RecordKind::Entitlement, &["account=aurora", "protocol=socks5"]).await;
    let command = servers.command(&servers.sample.tokens.main, Protocol::Socks5);
    assert_eq!(servers.fill_caches(&command).await, Err(Rejection::NotEntitled(Protocol::Socks5)));
    let line = r#"{"entitlement":{"account":"aurora","protocol":"socks5"}}"#;
    import(servers.stores[0].as_ref(), std::io::Cursor::new(line)).await.unwrap();
    assert_eq!(servers.ask(&command).await, Ok(10));
}

async fn a_whitelist_may_be_longer_than_the_cache_takes(database: Database) {
    let servers = Servers::on(&database).await;
    let registry = database.open().await;
    let command = servers.command(&servers.sample.tokens.main, Protocol::Http);
    let other = ExtractionQuery { caller_ip: Some(ELSEWHERE), ..command.clone() };
    let entry = |ip: Ipv4Addr| json!({"account": "aurora", "first": ip});
    let many = (1..600).map(|number: u32| entry(Ipv4Addr::from_bits(number << 8)));
    put(registry.as_ref(), RecordKind::Whitelist, many.chain([entry(ELSEWHERE)]).collect()).await.unwrap();
    for _ in 0..3 {
        assert_eq!(servers.ask(&command).await, Ok(10));
        assert_eq!(servers.ask(&other).await, Ok(10));
    }
    database.execute("UPDATE whitelist SET enabled = (1 = 0) WHERE first <> last").await;
    assert_eq!(servers.ask(&command).await, Err(Rejection::CallerNotWhitelisted));
    assert_eq!(servers.ask(&other).await, Ok(10));
}

async fn what_is_cached_is_used_for_its_lease_only(database: Database) {
    let servers = Servers::on(&database).await;
    let command = servers.command(&servers.sample.tokens.main, Protocol::Http);
    servers.fill_caches(&command).await.unwrap();
    tokio::time::sleep(LEASE).await;
    assert_eq!(
        is_cached(&servers.stores[0], &command).await,
        matches!(database, Database::Sqlite { .. }),
        "nothing was changed"
    );
}

on_both! {
    a_change_that_was_reported_as_done_is_in_force_everywhere,
    an_import_that_was_reported_as_done_is_in_force_everywhere,
    a_whitelist_may_be_longer_than_the_cache_takes,
    what_is_cached_is_used_for_its_lease_only,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_later_version_or_another_program_wrote_is_passed_over() {
    let Some(database) = Database::postgres().await else { return };
    let servers = Servers::on(&database).await;
    let command = servers.command(&servers.sample.tokens.main, Protocol::Http);
    let elsewhere = ExtractionQuery { caller_ip: Some(ELSEWHERE), ..command.clone() };
    assert_eq!(servers.fill_caches(&command).await, Ok(10));
    // All IPv6 addresses. By their bytes, those of IPv4 are among them.
    let add = "INSERT INTO entitlements SELECT id, 'quic', NULL FROM accounts;
               INSERT INTO whitelist (account_id, first, last, enabled)
               SELECT id, decode(repeat('00', 16), 'hex'), decode(repeat('ff', 16), 'hex'), true
               FROM accounts";
    database.execute(add).await;
    assert_eq!(servers.ask(&command).await, Ok(10));
    assert_eq!(servers.fill_caches(&command).await, Ok(10));
    assert_eq!(servers.ask(&elsewhere).await, Err(Rejection::CallerNotWhitelisted));
}
