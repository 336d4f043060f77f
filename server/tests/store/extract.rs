//! Extraction on a real database with the sample data. `tests/sessions/extractions.txt` has more.

use std::{collections::HashSet, sync::Arc};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use jiff::Timestamp;
use sallyport_server::{
    data::seed::{Sample, seed},
    domain::{
        access::Purpose,
        extraction::{Endpoint, ExtractionQuery, Parameters, Region, StoredExtraction},
        ports::Repository as _,
        service::Service,
        token::TokenKind,
    },
    store::Store,
};

use super::{
    backend::{Database, on_both},
    cluster::eventually,
    requests::{command, with_id},
};

struct Sandbox {
    database: Database,
    store: Arc<Store>,
    service: Service,
    sample: Sample,
}

impl Sandbox {
    async fn new(database: Database) -> Self {
        let store = database.open().await;
        let sample = seed(store.as_ref()).await.unwrap();
        Self { database, service: Service::new(store.clone()), store, sample }
    }
}

async fn simultaneous_requests_with_one_id_get_one_result(database: Database) {
    let sandbox = Sandbox::new(database).await;
    // As two servers on one database are.
    let services = [sandbox.service.clone(), Service::new(sandbox.database.open().await)];
    for round in 0..8 {
        let calls: Vec<_> = (0..16)
            .map(|place| {
                let Sample { tokens, plentiful_region, .. } = &sandbox.sample;
                let command = with_id(&format!("race-{round}"), command(&tokens.main, 30, plentiful_region));
                let service = services[place % 2].clone();
                tokio::spawn(async move { service.extract(command).await.unwrap() })
            })
            .collect();
        let mut responses = HashSet::new();
        for call in calls {
            responses.insert(call.await.unwrap().endpoints);
        }
        assert_eq!(responses.len(), 1);
    }
}

async fn what_was_kept_long_ago_is_forgotten_and_the_rest_is_not(database: Database) {
    const OLD: i64 = 600;
    const ALL: i64 = OLD + 5;
    let Sandbox { store, service, sample, .. } = Sandbox::new(database).await;
    let second = |n| Timestamp::from_second(n).unwrap();
    let id = |n: i64| format!("kept-{n}");
    let kept = |n: i64| Endpoint { host: format!("gw{n}.invalid").into(), port: 1 };
    let ask = |n| service.extract(with_id(&id(n), command(&sample.tokens.main, 1, &sample.plentiful_region)));
    let command = command(&sample.tokens.main, 1, &sample.plentiful_region);
    let found = store.extraction(&command, 0).await.unwrap().unwrap();
    let (account, _) = found.authorize(Purpose::Extraction, Timestamp::now()).unwrap();
    let keeping = (0..ALL).map(|n| {
        let extraction =
            StoredExtraction { parameters: command.parameters.clone(), endpoints: vec![kept(n)] };
        store.store_extraction(account, id(n), extraction, second(n))
    });
    // So many that none waits long for a connection.
    stream::iter(keeping).buffer_unordered(4).try_collect::<Vec<_>>().await.unwrap();

    let mut changes = Vec::new();
    while changes.last() != Some(&0) {
        changes.push(store.delete_extractions(second(OLD)).await.unwrap());
    }
    assert_eq!(changes.iter().sum::<u64>(), OLD as u64);
    assert!(changes.len() > 2, "nobody waits for all of them at once: {changes:?}");
    for n in OLD..ALL {
        assert_eq!(ask(n).await.unwrap().endpoints, [kept(n)]);
    }
    for n in [0, OLD - 1] {
        let again = ask(n).await.unwrap().endpoints;
        assert_ne!(again, [kept(n)]);
        assert_eq!(ask(n).await.unwrap().endpoints, again);
    }
}

async fn memory_and_database_choose_alike(database: Database) {
    let store = database.open().await;
    database.execute("INSERT INTO accounts (name, real_name_verified) VALUES ('a', true)").await;
    let token = store.issue_token("a", TokenKind::Api, None).await.unwrap().token;
    let spins = [-30_i64, -7, 0, 1, 12, i64::MAX];
    let row = |(n, spin)| format!("({n}, 'gw{n}.invalid', 1, 'USA', 'http', {spin})");
    let rows: Vec<_> = (1..).zip(spins).map(row).collect();
    let insert = "INSERT INTO gateways (id, host, port, region, protocol, spin) VALUES";
    database.execute(&format!("{insert} {}", rows.join(", "))).await;
    let candidates = async |query: &ExtractionQuery, pivot| {
        let found = store.extraction(query, pivot).await.unwrap().unwrap();
        found.authorize(Purpose::Extraction, Timestamp::now()).unwrap().1.candidates
    };
    let ask = command(&token, 1, "");
    for (region, most) in [(Region::Everywhere, 6), (region("USA"), 6), (region("usa"), 0)] {
        for count in [1, 3, 6, 100] {
            for pivot in [i64::MIN, -30, -29, 0, 2, 12, 13, i64::MAX] {
                let parameters = Parameters { count, region: region.clone(), ..ask.parameters.clone() };
                let query = ExtractionQuery { parameters, ..ask.clone() };
                let chosen = candidates(&with_id("new", query.clone()), pivot).await;
                assert_eq!(chosen.len(), most.min(count as usize));
                // Nothing is cached of a region without gateways.
                let hits = store.cache_hits() + u64::from(most > 0);
                let cached = eventually(async || {
                    let cached = candidates(&query, pivot).await;
                    if store.cache_hits() >= hits { Ok(cached) } else { Err("not cached yet") }
                });
                assert_eq!(cached.await, chosen, "{query:?}");
            }
        }
    }
}

fn region(code: &str) -> Region {
    Region::Only(code.to_owned())
}

on_both! {
    memory_and_database_choose_alike,
    simultaneous_requests_with_one_id_get_one_result,
    what_was_kept_long_ago_is_forgotten_and_the_rest_is_not,
}
