//! The reference server as it is deployed: over its own TLS, and behind nginx with the configuration of
//! `server/nginx.conf`.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

mod caller;
mod identity;
mod nginx;
mod proxied;
mod slow;

use std::sync::Arc;

use sallyport_conformance::embedded::Reference;
use sallyport_conformance::wire::WireOptions;
use sallyport_conformance::{Contract, Options, SilentObserver, Suite, Verdict};
use sallyport_server::store::sqlite::SqliteStore;
use sallyport_server::{Config, RunningServer};

use self::identity::Pair;

fn config() -> Config {
    Config::loopback(Arc::new(SqliteStore::temporary().expect("a database")))
}

#[tokio::test(flavor = "multi_thread")]
async fn it_conforms_over_its_own_tls() {
    let pair = Pair::new();
    let config = Config { tls: Some(pair.identity()), ..config() };
    let reference = Reference::reached_by(config, RunningServer::base_url).await.expect("started");
    assert_conforms(&reference, &pair).await;
    reference.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_judged_behind_a_certificate_that_nobody_trusts() {
    let pair = Pair::new();
    let config = Config { tls: Some(pair.identity()), ..config() };
    let reference = Reference::reached_by(config, RunningServer::base_url).await.expect("started");
    let suite = Suite::new(Contract::embedded().expect("contract"), reference.target(), Options::default());
    let report = suite.expect("a suite").run(&SilentObserver).await;
    reference.close().await;
    assert_eq!(report.verdict, Verdict::Unreachable);
    let reason = report.stopped.expect("a reason");
    assert!(reason.contains("its certificate is not trusted; pass"), "{reason}");
}

/// Every clause that can be looked at is, and none is broken.
async fn assert_conforms(reference: &Reference, pair: &Pair) {
    assert_eq!(reference.target().base().scheme(), "https");
    let wire = WireOptions { authorities: pair.certificate().into_bytes(), ..WireOptions::default() };
    let options = Options { wire, ..Options::default() };
    let suite = Suite::new(Contract::embedded().expect("contract"), reference.target(), options);
    let report = suite.expect("a suite").run(&SilentObserver).await;
    let unclean: Vec<_> = report.checks.iter().filter(|check| !check.findings.is_empty()).collect();
    assert_eq!(report.verdict, Verdict::Conforms, "{unclean:#?}");
    assert_eq!(report.totals.skipped, 1, "throttling is not seen here, everything else is");
}
