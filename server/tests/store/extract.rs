//! Extraction on a real database with the sample data.

use std::{collections::HashSet, sync::Arc, time::Duration};

use jiff::Timestamp;
use sallyport_server::{
    Config,
    data::{
        import,
        seed::{Sample, seed},
    },
    domain::{
        access::{AccountId, Purpose},
        extraction::{Endpoint, ExtractionData, ExtractionQuery, StoredExtraction},
        rejection::Rejection,
        search::SearchQuery,
        service::Service,
    },
    start,
    store::Store,
};

use super::{
    backend::{Database, on_both},
    cluster::eventually,
    requests::{command, with_id},
    search::filter,
};

/// `x-max-utf8-bytes` of a request id.
const MAX_REQUEST_ID: usize = 255;

struct Sandbox {
    database: Database,
    store: Arc<dyn Store>,
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

async fn the_choice_goes_around(database: Database) {
    let sandbox = Sandbox::new(database).await;
    let Sample { tokens, scarce_region, scarce_count, .. } = &sandbox.sample;
    let (mut seen, mut tries) = (HashSet::new(), 0);
    while seen.len() < *scarce_count as usize {
        tries += 1;
        // Each has a fair part of the ring: missing one a thousand times over does not happen by chance.
        assert!(tries < 1_000, "some gateway is never chosen");
        seen.extend(
            sandbox.service.extract(command(&tokens.main, 1, scarce_region)).await.unwrap().endpoints,
        );
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

async fn the_longest_request_id_and_a_longer_one_are_stored(database: Database) {
    let Sandbox { store, service, sample, .. } = Sandbox::new(database).await;
    let command = command(&sample.tokens.main, 20, &sample.plentiful_region);
    for length in [MAX_REQUEST_ID, 8 * MAX_REQUEST_ID] {
        let extract = || service.extract(with_id(&"é".repeat(length / 2), command.clone()));
        assert_eq!(extract().await.unwrap(), extract().await.unwrap());
    }
    assert_eq!(store.delete_extractions(Timestamp::MAX).await.unwrap(), 2);
}

async fn a_shortage_does_not_use_up_the_request_id(database: Database) {
    let sandbox = Sandbox::new(database).await;
    let Sample { tokens, empty_region, .. } = &sandbox.sample;
    let ask = || sandbox.service.extract(with_id("later", command(&tokens.main, 1, empty_region)));
    assert!(matches!(ask().await, Err(Rejection::Shortage)));
    let gateway = format!(
        r#"{{"gateway":{{"host":"new.proxy.invalid","port":1,"region":"{empty_region}","protocol":"http"}}}}"#
    );
    import::import(sandbox.store.as_ref(), std::io::Cursor::new(gateway)).await.unwrap();
    let expected = Endpoint { host: "new.proxy.invalid".into(), port: 1 };
    assert_eq!(ask().await.unwrap().endpoints, [expected]);
}

async fn gateways_come_and_go_between_two_calls(database: Database) {
    let Sandbox { database, service, sample, .. } = Sandbox::new(database).await;
    let ask = async || {
        let ask = || service.extract(command(&sample.tokens.main, 100, &sample.plentiful_region));
        // What is asked for again and again is held in memory.
        for _ in 0..3 {
            let _ = ask().await;
        }
        ask().await
    };
    assert_eq!(ask().await.unwrap().returned(), 100);
    database.execute("DELETE FROM gateways WHERE id NOT IN (SELECT min(id) FROM gateways)").await;
    assert_eq!(ask().await.unwrap().returned(), 1);
    database.execute("UPDATE gateways SET host = 'moved.invalid'").await;
    assert_eq!(ask().await.unwrap().endpoints[0].host, "moved.invalid");
    database.execute("UPDATE gateways SET region = 'XXX'").await;
    assert!(matches!(ask().await, Err(Rejection::Shortage)));
}

/// What the store returns for a command of a token that may extract.
async fn known(store: &Arc<dyn Store>, command: &ExtractionQuery) -> (AccountId, ExtractionData) {
    let found = store.extraction(command, 0).await.unwrap().unwrap();
    found.authorize(Purpose::Extraction, Timestamp::now()).unwrap()
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
    let (account, _) = known(&store, &command).await;
    let keeping = (0..ALL).map(|n| {
        let extraction =
            StoredExtraction { parameters: command.parameters.clone(), endpoints: vec![kept(n)] };
        store.store_extraction(account, id(n), extraction, second(n))
    });
    futures::future::try_join_all(keeping).await.unwrap();

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

async fn a_server_forgets_by_itself(database: Database) {
    let Sandbox { store, sample, .. } = Sandbox::new(database).await;
    let command = command(&sample.tokens.main, 1, &sample.plentiful_region);
    let ask = async |id: &str| known(&store, &with_id(id, command.clone())).await;
    let (account, _) = ask("old").await;
    for (id, kept_at) in [("old", Timestamp::UNIX_EPOCH), ("young", Timestamp::now())] {
        let parameters = command.parameters.clone();
        let extraction = StoredExtraction { parameters, endpoints: Vec::new() };
        store.store_extraction(account, id.to_owned(), extraction, kept_at).await.unwrap();
    }
    let request_id_retention = Some(Duration::from_hours(24));
    let running = start(Config { request_id_retention, ..Config::loopback(store.clone()) }).unwrap();
    eventually(async || match ask("old").await.1.stored {
        None => Ok(()),
        Some(_) => Err("still there"),
    })
    .await;
    assert!(ask("young").await.1.stored.is_some());
    assert!(running.close(Duration::from_secs(5)).await);
}

async fn texts_that_a_database_may_not_hold_are_texts_like_any_other(database: Database) {
    let sandbox = Sandbox::new(database).await;
    let Sample { tokens, plentiful_region, addresses, .. } = &sandbox.sample;
    let rejection = sandbox.service.extract(command(&tokens.main, 1, "U\0SA")).await.unwrap_err();
    assert!(matches!(rejection, Rejection::Shortage));

    let ask =
        |id, count| sandbox.service.extract(with_id(id, command(&tokens.main, count, plentiful_region)));
    let first = ask("nul\0", 5).await.unwrap();
    assert_eq!(ask("nul\0", 5).await.unwrap(), first);
    // For the same id this would be another request, which is rejected.
    ask("nul", 6).await.unwrap();

    let search = |order_no: &str| SearchQuery {
        addresses: addresses[..500].to_vec(),
        filters: vec![filter("orderNo", order_no.into())],
        page: 1,
        page_size: 10,
    };
    let page = sandbox.service.search(&tokens.main, search("\0")).await.unwrap();
    assert_eq!((page.items.len(), page.total), (0, 0));
}

async fn unreadable_records_are_not_returned(database: Database) {
    let Sandbox { database, service, sample, .. } = Sandbox::new(database).await;
    let ask = || command(&sample.tokens.main, 1, &sample.plentiful_region);
    // A value that no version of the program has written.
    database.execute("UPDATE tokens SET kind = 'golden'").await;
    let broken = service.extract(ask()).await.unwrap_err();
    assert!(matches!(broken, Rejection::Unavailable), "{broken:?}");
    database.execute("DROP TABLE extractions; UPDATE tokens SET kind = 'api'").await;
    assert_eq!(service.extract(with_id("lost", ask())).await.err(), Some(Rejection::Internal));
}

async fn a_write_that_waits_too_long_is_rejected_and_passes_later(database: Database) {
    let Sandbox { database, service, sample, .. } = Sandbox::new(database).await;
    let ask = || command(&sample.tokens.main, 1, &sample.plentiful_region);
    let locked = database.lock_extractions().await;
    let busy = service.extract(with_id("busy", ask())).await.unwrap_err();
    assert!(matches!(busy, Rejection::Busy), "{busy:?}");
    assert!(service.extract(ask()).await.is_ok(), "only a request id writes");
    drop(locked);
    eventually(|| service.extract(with_id("busy", ask()))).await;
}

on_both! {
    the_choice_goes_around,
    simultaneous_requests_with_one_id_get_one_result,
    the_longest_request_id_and_a_longer_one_are_stored,
    a_shortage_does_not_use_up_the_request_id,
    gateways_come_and_go_between_two_calls,
    what_was_kept_long_ago_is_forgotten_and_the_rest_is_not,
    a_server_forgets_by_itself,
    texts_that_a_database_may_not_hold_are_texts_like_any_other,
    unreadable_records_are_not_returned,
    a_write_that_waits_too_long_is_rejected_and_passes_later,
}
