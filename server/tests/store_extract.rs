//! Extraction on a real database with the sample data.
#![expect(clippy::unwrap_used, reason = "a test may panic; clippy does not know that helpers are part of it")]

use std::{collections::HashSet, net::Ipv4Addr, path::Path, sync::Arc, time::Duration};

use sallyport_server::{
    data::{
        import,
        seed::{Sample, seed},
        tokens,
    },
    domain::{
        extraction::{Endpoint, ExtractCommand, Extraction, Parameters, Protocol, Region},
        refusal::Refusal,
        search::{Filters, SearchCommand},
        service::Service,
        token::{Token, TokenKind},
    },
    store::{OpenMode, Store, sqlite::SqliteStore},
};

const HOME: Ipv4Addr = Ipv4Addr::LOCALHOST;

struct Sandbox {
    store: Arc<SqliteStore>,
    service: Service,
    sample: Sample,
}

impl Sandbox {
    async fn new() -> Self {
        let store = Arc::new(SqliteStore::temporary().unwrap());
        let sample = seed(store.as_ref()).await.unwrap();
        Self { service: Service::new(store.clone()), store, sample }
    }

    async fn extract(&self, token: &Token, count: u32, region: &str) -> Result<Extraction, Refusal> {
        self.service.extract(command(token, count, region)).await
    }
}

fn command(token: &Token, count: u32, region: &str) -> ExtractCommand {
    let region = Region::Only(region.to_owned());
    let parameters = Parameters { count, region, protocol: Protocol::Http };
    ExtractCommand { token: token.clone(), caller_ip: Some(HOME), parameters, request_id: None }
}

fn with_id(id: &str, command: ExtractCommand) -> ExtractCommand {
    ExtractCommand { request_id: Some(id.to_owned()), ..command }
}

#[tokio::test]
async fn each_condition_has_its_refusal() {
    let sandbox = Sandbox::new().await;
    let tokens = &sandbox.sample.tokens;
    let region = &sandbox.sample.plentiful_region;
    for (token, expected) in [
        (&tokens.main, None),
        (&tokens.link, None),
        (&tokens.second, None),
        (&tokens.empty, None),
        (&tokens.http_only, None),
        (&tokens.revoked, Some(Refusal::TokenRevoked)),
        (&tokens.expired, Some(Refusal::TokenExpired)),
        (&tokens.not_whitelisted, Some(Refusal::CallerNotWhitelisted)),
        (&tokens.not_verified, Some(Refusal::AccountNotVerified)),
        (&tokens.not_entitled, Some(Refusal::NotEntitled(Protocol::Http))),
        (&Token::new("unknown"), Some(Refusal::TokenUnknown)),
        (&Token::new(""), Some(Refusal::TokenUnknown)),
    ] {
        let answer = sandbox.extract(token, 2, region).await;
        assert_eq!(answer.as_ref().err(), expected.as_ref());
        assert!(answer.is_err() || answer.is_ok_and(|it| it.endpoints.len() == 2 && it.caller_ip == HOME));
    }

    let mut socks = command(&tokens.http_only, 1, region);
    socks.parameters.protocol = Protocol::Socks5;
    assert_eq!(sandbox.service.extract(socks).await.err(), Some(Refusal::NotEntitled(Protocol::Socks5)));
    let elsewhere = |caller_ip| ExtractCommand { caller_ip, ..command(&tokens.main, 1, region) };
    assert_eq!(sandbox.service.extract(elsewhere(None)).await.err(), Some(Refusal::CallerNotIpv4));
    for (ip, expected) in [
        ([126, 255, 255, 255], Some(Refusal::CallerNotWhitelisted)),
        ([127, 0, 0, 0], None),
        ([127, 255, 255, 255], None),
        ([128, 0, 0, 0], Some(Refusal::CallerNotWhitelisted)),
    ] {
        assert_eq!(sandbox.service.extract(elsewhere(Some(ip.into()))).await.err(), expected, "{ip:?}");
    }
}

#[tokio::test]
async fn a_link_credential_opens_nothing_else() {
    let sandbox = Sandbox::new().await;
    let link = &sandbox.sample.tokens.link;
    let search = SearchCommand {
        addresses: sandbox.sample.addresses[..1].to_vec(),
        filters: Filters::default(),
        page: 1,
        page_size: 1,
    };
    assert_eq!(sandbox.service.groups(link).await.err(), Some(Refusal::TokenForExtractionOnly));
    assert_eq!(sandbox.service.search(link, search).await.err(), Some(Refusal::TokenForExtractionOnly));
}

#[tokio::test]
async fn groups_ascend_and_are_the_accounts_own() {
    let sandbox = Sandbox::new().await;
    let Sample { tokens, foreign_group, .. } = &sandbox.sample;
    let ids: Vec<_> =
        sandbox.service.groups(&tokens.main).await.unwrap().into_iter().map(|it| it.id).collect();
    assert!(ids.len() > 2 && ids.is_sorted() && !ids.contains(foreign_group));
    assert_eq!(sandbox.service.groups(&tokens.empty).await, Ok(Vec::new()));
}

#[tokio::test]
async fn regions_are_plentiful_scarce_or_empty() {
    let sandbox = Sandbox::new().await;
    let Sample { tokens, plentiful_region, scarce_region, scarce_count, empty_region, .. } = &sandbox.sample;
    let full = sandbox.extract(&tokens.main, 100, plentiful_region).await.unwrap();
    assert_eq!((full.returned(), full.is_partial()), (100, false));
    let distinct: HashSet<&Endpoint> = full.endpoints.iter().collect();
    assert_eq!(distinct.len(), 100);

    let partial = sandbox.extract(&tokens.main, scarce_count + 1, scarce_region).await.unwrap();
    assert_eq!((partial.returned(), partial.requested), (*scarce_count, scarce_count + 1));
    assert!(partial.is_partial());
    let exact = sandbox.extract(&tokens.main, *scarce_count, scarce_region).await.unwrap();
    assert!(!exact.is_partial());

    for region in [empty_region.as_str(), "nowhere", "usa"] {
        let refusal = sandbox.extract(&tokens.main, 1, region).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Shortage { retry_after } if retry_after > Duration::ZERO));
    }
}

#[tokio::test]
async fn the_choice_goes_around() {
    let sandbox = Sandbox::new().await;
    let Sample { tokens, scarce_region, scarce_count, .. } = &sandbox.sample;
    let (mut seen, mut tries) = (HashSet::new(), 0);
    while seen.len() < *scarce_count as usize {
        tries += 1;
        // Each has a fair part of the ring: missing one a thousand times over does not happen by chance.
        assert!(tries < 1_000, "some gateway is never chosen");
        seen.extend(sandbox.extract(&tokens.main, 1, scarce_region).await.unwrap().endpoints);
    }

    let mut everywhere = command(&tokens.main, u32::MAX, "");
    everywhere.parameters.region = Region::Everywhere;
    let all = sandbox.service.extract(everywhere).await.unwrap().endpoints;
    let scarce = sandbox.extract(&tokens.main, u32::MAX, scarce_region).await.unwrap().endpoints;
    assert!(scarce.iter().all(|gateway| all.contains(gateway)) && all.len() > 300);
}

#[tokio::test]
async fn a_request_id_stands_for_one_extraction() {
    let sandbox = Sandbox::new().await;
    let Sample { tokens, plentiful_region: region, .. } = &sandbox.sample;
    let extract = |command| sandbox.service.extract(command);
    let first = extract(with_id("a", command(&tokens.main, 20, region))).await.unwrap();
    let again = extract(with_id("a", command(&tokens.main, 20, region))).await.unwrap();
    assert_eq!(first, again);
    // The id belongs to the account: another of its tokens repeats, another account does not.
    let link = extract(with_id("a", command(&tokens.link, 20, region))).await.unwrap();
    assert_eq!(first, link);
    let second = extract(with_id("a", command(&tokens.second, 20, region))).await.unwrap();
    let other = extract(with_id("b", command(&tokens.main, 20, region))).await.unwrap();
    assert!(first.endpoints != second.endpoints && first.endpoints != other.endpoints);

    let more = extract(with_id("a", command(&tokens.main, 21, region))).await;
    assert_eq!(more.err(), Some(Refusal::RequestIdReused));
    let elsewhere = extract(with_id("a", command(&tokens.main, 20, &sandbox.sample.scarce_region))).await;
    assert_eq!(elsewhere.err(), Some(Refusal::RequestIdReused));
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_requests_with_one_id_get_one_answer() {
    let sandbox = Arc::new(Sandbox::new().await);
    for round in 0..8 {
        let calls: Vec<_> = (0..16)
            .map(|_| {
                let sandbox = Arc::clone(&sandbox);
                tokio::spawn(async move {
                    let Sample { tokens, plentiful_region, .. } = &sandbox.sample;
                    let command = command(&tokens.main, 30, plentiful_region);
                    sandbox.service.extract(with_id(&format!("race-{round}"), command)).await.unwrap()
                })
            })
            .collect();
        let mut answers = HashSet::new();
        for call in calls {
            answers.insert(call.await.unwrap().endpoints);
        }
        assert_eq!(answers.len(), 1);
    }
}

#[tokio::test]
async fn a_shortage_does_not_use_up_the_request_id() {
    let sandbox = Sandbox::new().await;
    let Sample { tokens, empty_region, .. } = &sandbox.sample;
    let ask = || sandbox.service.extract(with_id("later", command(&tokens.main, 1, empty_region)));
    assert!(matches!(ask().await, Err(Refusal::Shortage { .. })));
    let gateway = format!(
        r#"{{"gateway":{{"host":"new.proxy.invalid","port":1,"region":"{empty_region}","protocol":"http"}}}}"#
    );
    import::import(sandbox.store.as_ref(), std::io::Cursor::new(gateway)).await.unwrap();
    let expected = Endpoint { host: "new.proxy.invalid".to_owned(), port: 1 };
    assert_eq!(ask().await.unwrap().endpoints, [expected]);
}

#[tokio::test]
async fn access_is_looked_at_on_every_call_also_for_a_known_request_id() {
    let sandbox = Sandbox::new().await;
    let (store, region) = (sandbox.store.as_ref(), &sandbox.sample.plentiful_region);
    let (id, token) = tokens::issue(store, "aurora", TokenKind::Api, None).await.unwrap();
    let ask = || sandbox.service.extract(with_id("known", command(&token, 1, region)));
    ask().await.unwrap();
    assert!(store.revoke_token(id, jiff::Timestamp::now()).await.unwrap());
    assert_eq!(ask().await.err(), Some(Refusal::TokenRevoked));
}

#[tokio::test]
async fn a_kept_extraction_outlives_the_process_and_other_processes_changes_show_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    let (sample, first) = {
        let store = Arc::new(SqliteStore::open(&path, OpenMode::Create).unwrap());
        let sample = seed(store.as_ref()).await.unwrap();
        let command = with_id("kept", command(&sample.tokens.main, 10, &sample.plentiful_region));
        let first = Service::new(store).extract(command).await.unwrap();
        (sample, first)
    };
    let service = Service::new(Arc::new(SqliteStore::open(&path, OpenMode::Existing).unwrap()));
    let ask = || service.extract(with_id("kept", command(&sample.tokens.main, 10, &sample.plentiful_region)));
    assert_eq!(ask().await.unwrap(), first);

    switch_whitelists_off(&path);
    assert_eq!(ask().await.err(), Some(Refusal::CallerNotWhitelisted));
}

#[tokio::test]
async fn faults_of_the_storage_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("failing.db");
    let store = Arc::new(SqliteStore::open(&path, OpenMode::Create).unwrap());
    let sample = seed(store.as_ref()).await.unwrap();
    let service = Service::new(store);
    let ask = || command(&sample.tokens.main, 1, &sample.plentiful_region);

    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = service.extract(with_id("busy", ask())).await.unwrap_err();
    assert!(matches!(busy, Refusal::Busy { retry_after } if retry_after > Duration::ZERO), "{busy}");
    assert!(service.extract(ask()).await.is_ok(), "only a request id needs the lock");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(service.extract(with_id("busy", ask())).await.is_ok());

    // A value that no version of the program has written.
    other.execute_batch("UPDATE tokens SET kind = 'golden'").unwrap();
    let broken = service.extract(ask()).await.unwrap_err();
    assert!(matches!(broken, Refusal::Unavailable { .. }), "{broken}");
    other.execute_batch("DROP TABLE extractions; UPDATE tokens SET kind = 'api'").unwrap();
    assert_eq!(service.extract(with_id("lost", ask())).await.err(), Some(Refusal::Internal));
}

/// Changes the database through a connection of its own, as another program would.
fn switch_whitelists_off(path: &Path) {
    rusqlite::Connection::open(path).unwrap().execute("UPDATE whitelist SET enabled = 0", []).unwrap();
}
