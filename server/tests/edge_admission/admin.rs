//! The operator's address.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use sallyport_server::{Config, contract_page, start};

use super::{get, groups, paused_store::PausedStore, served};

const ADMIN: Option<SocketAddr> =
    Some(SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0));

#[tokio::test(flavor = "multi_thread")]
async fn health_readiness_and_metrics_are_apart_from_the_operations() {
    let (running, sample) = served(|config| Config { admin: ADMIN, ..config }).await;
    let admin = running.admin_address().unwrap();
    let page = |path: &str| get(admin, path.to_owned(), String::new());
    assert_eq!(page("/healthz").await.status, 200);
    assert_eq!(page("/readyz").await.status, 200);
    assert_eq!(get(running.address(), groups(&sample), String::new()).await.status, 200);
    assert_eq!(get(running.address(), "/metrics".to_owned(), String::new()).await.status, 404);
    assert_eq!(get(admin, groups(&sample), String::new()).await.status, 404);

    let metrics = page("/metrics").await;
    for line in [
        "sallyport_calls_total{operation=\"listStaticGroups\",outcome=\"success\",status=\"200\",code=\"0\"} 1",
        "sallyport_call_duration_seconds_count{operation=\"listStaticGroups\"} 1",
        "sallyport_store_duration_seconds_count{query=\"groups\"} 1",
        "sallyport_calls_in_flight 0",
        "sallyport_pool_busy 0",
        "sallyport_pool_waiting 0",
    ] {
        assert!(metrics.body.lines().any(|it| it == line), "no {line} in\n{}", metrics.body);
    }
    assert!(!metrics.body.contains(sample.tokens.main.expose()));
    running.drain();
    let page = get(admin, "/readyz".to_owned(), String::new()).await;
    assert_eq!((page.status, page.body.as_str()), (503, "draining\n"));
    assert_eq!(get(running.address(), groups(&sample), String::new()).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_is_a_page_that_may_load_nothing() {
    let (running, sample) = served(|config| Config { admin: ADMIN, ..config }).await;
    assert_eq!(get(running.address(), groups(&sample), String::new()).await.status, 200);
    assert_eq!(get(running.address(), "/docs".to_owned(), String::new()).await.status, 404);

    let page = get(running.admin_address().unwrap(), "/docs".to_owned(), String::new()).await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    let policy = page.header("content-security-policy").unwrap();
    let directives: Vec<_> = policy.split("; ").collect();
    for directive in ["default-src 'none'", "form-action 'none'", "frame-ancestors 'none'"] {
        assert!(directives.contains(&directive), "no {directive} in {policy}");
    }
    assert!(!policy.contains("http") && !policy.contains('*') && !policy.contains("'self'"), "{policy}");

    assert_eq!(page.body, contract_page());
    assert!(!format!("{page:?}").contains(sample.tokens.main.expose()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storage_that_hangs_is_not_ready_and_the_process_is_healthy() {
    let store = Arc::new(PausedStore::new().await);
    let running = start(Config { admin: ADMIN, ..Config::loopback(store.clone()) }).unwrap();
    let admin = running.admin_address().unwrap();
    let page = get(admin, "/readyz".to_owned(), String::new()).await;
    assert_eq!((page.status, page.body.as_str()), (503, "the storage does not respond in time\n"));
    assert_eq!(get(admin, "/healthz".to_owned(), String::new()).await.status, 200);
    store.permits.add_permits(1);
    assert_eq!(get(admin, "/readyz".to_owned(), String::new()).await.status, 200);
    assert!(running.close(Duration::from_secs(5)).await);
}
