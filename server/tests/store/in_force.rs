//! When a change is in force: for whoever has heard that it is done, on the next call, on every server.

use std::{net::Ipv4Addr, sync::Arc, time::Instant};

use jiff::Timestamp;
use sallyport_server::{
    data::{
        import::import,
        seed::{Sample, seed},
    },
    domain::{
        extraction::{ExtractCommand, ExtractionQuery, Parameters, Protocol, Region},
        refusal::Refusal,
        service::Service,
    },
    store::{
        Store,
        postgres::LEASE,
        record::{Entitlement, WhitelistEntry},
    },
};

use crate::{
    backend::{Database, on_both},
    cluster::eventually,
};

/// Two servers on one database, which have in memory what they can.
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

    /// What each server answers to several calls in a row, which must be all alike.
    async fn ask(&self, region: &str) -> Result<u32, Refusal> {
        let mut answers = Vec::new();
        for _ in 0..5 {
            for store in &self.stores {
                let command = ExtractCommand {
                    token: self.sample.tokens.main.clone(),
                    caller_ip: Some(Ipv4Addr::LOCALHOST),
                    parameters: parameters(region),
                    request_id: None,
                };
                let answer = Service::new(store.clone()).extract(command).await;
                answers.push(answer.map(|extraction| extraction.returned()));
            }
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        answers.swap_remove(0)
    }
}

fn parameters(region: &str) -> Parameters {
    Parameters { count: 10, region: Region::Only(region.to_owned()), protocol: Protocol::Http }
}

async fn whoever_heard_that_a_change_is_done_finds_it_everywhere(database: Database) {
    let servers = Servers::on(&database).await;
    let registry = database.registry().await;
    let (account, protocol) = ("aurora".to_owned(), Protocol::Http);
    let Sample { plentiful_region, empty_region, .. } = &servers.sample;
    let grant = Entitlement { account: account.clone(), protocol, expires_at: None };
    for _ in 0..2 {
        assert_eq!(servers.ask(plentiful_region).await, Ok(10));
        registry.revoke_entitlement(account.clone(), protocol).await.unwrap();
        assert_eq!(servers.ask(plentiful_region).await, Err(Refusal::NotEntitled(protocol)));
        registry.grant(grant.clone()).await.unwrap();
        assert_eq!(servers.ask(plentiful_region).await, Ok(10));
        registry.verify_account(account.clone(), false).await.unwrap();
        assert_eq!(servers.ask(plentiful_region).await, Err(Refusal::AccountNotVerified));
        registry.verify_account(account.clone(), true).await.unwrap();
    }

    assert!(matches!(servers.ask(empty_region).await, Err(Refusal::Shortage { .. })));
    let gateway = format!(
        r#"{{"gateway":{{"host":"new.proxy.invalid","port":1,"region":"{empty_region}","protocol":"http"}}}}"#
    );
    import(servers.stores[0].as_ref(), std::io::Cursor::new(gateway), |_| {}).await.unwrap();
    assert_eq!(servers.ask(empty_region).await, Ok(1));
}

async fn a_whitelist_may_be_longer_than_what_is_held(database: Database) {
    let servers = Servers::on(&database).await;
    let registry = database.registry().await;
    let region = &servers.sample.plentiful_region;
    let everyone = |number: u32| WhitelistEntry {
        account: "aurora".to_owned(),
        first: Ipv4Addr::from_bits(number << 8),
        last: None,
        enabled: true,
        expires_at: None,
    };
    registry.add_whitelist((1..600).map(everyone).collect()).await.unwrap();
    assert_eq!(servers.ask(region).await, Ok(10));
    database.execute("UPDATE whitelist SET enabled = (1 = 0) WHERE first <> last").await;
    assert_eq!(servers.ask(region).await, Err(Refusal::CallerNotWhitelisted));
    database.execute("UPDATE whitelist SET enabled = (1 = 1)").await;
    assert_eq!(servers.ask(region).await, Ok(10));
}

async fn what_is_held_is_used_without_asking(database: Database) {
    let servers = Servers::on(&database).await;
    let Sample { tokens, plentiful_region, .. } = &servers.sample;
    let query = |request_id| ExtractionQuery {
        digest: tokens.main.digest(),
        caller_ip: Some(Ipv4Addr::LOCALHOST),
        parameters: parameters(plentiful_region),
        request_id,
        pivot: 0,
        now: Timestamp::now(),
    };
    let store = &servers.stores[0];
    eventually(async || {
        let begun = Instant::now();
        servers.ask(plentiful_region).await.unwrap();
        assert!(store.at_hand(&query(Some("id".to_owned()))).is_none(), "a request id is looked up");
        // On a busy machine a lease can be over before the question is put.
        let held = store.at_hand(&query(None)).is_some();
        held.then_some(()).ok_or_else(|| format!("nothing is held {:?} later", begun.elapsed()))
    })
    .await;
    if matches!(database, Database::Postgres { .. }) {
        tokio::time::sleep(LEASE).await;
        assert!(store.at_hand(&query(None)).is_none(), "it is used for longer than it may be");
    }
}

on_both! {
    whoever_heard_that_a_change_is_done_finds_it_everywhere,
    a_whitelist_may_be_longer_than_what_is_held,
    what_is_held_is_used_without_asking,
}
