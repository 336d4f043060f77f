//! The reference server over its own TLS, and behind nginx with `server/nginx.conf`.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

mod http2;
#[path = "../../../server/tests/support/identity.rs"]
mod identity;
mod network;
#[path = "../../../server/tests/nginx/nginx.rs"]
#[expect(dead_code, reason = "the server's own tests use the rest")]
mod nginx;

use std::net::Ipv4Addr;
use std::sync::Arc;

use sallyport_conformance::embedded::Reference;
use sallyport_conformance::run::Profile;
use sallyport_conformance::wire::WireOptions;
use sallyport_conformance::{Options, Outcome, Report, Verdict};
use sallyport_server::store::Store;
use sallyport_server::{Config, RunningServer};

use self::identity::Pair;
use self::nginx::{Nginx, installed};
use crate::suite::canned;
use crate::support::program;

fn config() -> Config {
    Config::loopback(Arc::new(Store::temporary().expect("a database")))
}

#[tokio::test(flavor = "multi_thread")]
async fn it_conforms_over_its_own_tls() {
    let pair = Pair::new();
    let config = Config { tls: Some(pair.identity()), ..config() };
    let reference = Reference::reached_by(config, RunningServer::base_url).await.expect("started");
    // What handles requests is the same as without TLS, and both fronts get every case.
    let report = judge(&reference, pair.certificate(), Profile::Production).await;
    assert_eq!(report.verdict, Verdict::Conforms, "{:#?}", report.checks);
    let https = report.checks.iter().find(|check| check.id.starts_with("all.https"));
    assert_eq!(https.map(|check| &check.outcome), Some(&Outcome::Passed));
    let is_unseen =
        |outcome: &Outcome| matches!(outcome, Outcome::Skipped(reason) if !reason.ends_with("to run more"));
    let unseen: Vec<_> =
        report.checks.iter().filter(|check| is_unseen(&check.outcome)).map(|check| &check.id).collect();
    assert_eq!(unseen.len(), 1, "throttling is not seen here, all else is or exceeds the budget: {unseen:?}");
    reference.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_conforms_behind_nginx() {
    let Some(program) = installed() else { return };
    let trusted_proxies = [Ipv4Addr::LOCALHOST.to_string().parse().expect("a network")].into_iter().collect();
    let mut nginx = None;
    let reference = Reference::reached_by(Config { trusted_proxies, ..config() }, |running| {
        format!("https://{}", nginx.insert(Nginx::start(&program, running.address())).address)
    });
    let reference = reference.await.expect("started");
    assert_conforms(&reference, nginx.expect("started").pair.certificate()).await;
    reference.close().await;
}

/// Every clause that can be looked at is, and none is broken.
async fn assert_conforms(reference: &Reference, authority: String) {
    let report = judge(reference, authority, Profile::Full).await;
    let unclean: Vec<_> = report.checks.iter().filter(|check| !check.findings.is_empty()).collect();
    assert_eq!(report.verdict, Verdict::Conforms, "{unclean:#?}");
    assert_eq!(report.totals.skipped, 1, "throttling is not seen here, everything else is");
}

async fn judge(reference: &Reference, authority: String, profile: Profile) -> Report {
    assert_eq!(reference.target().base().scheme(), "https");
    let wire = WireOptions { authorities: authority.into_bytes(), ..WireOptions::default() };
    let mut options = Options { wire, profile, budget: profile.budget(), ..Options::default() };
    options.budget.rate = None;
    canned::judge(reference.target(), options).await
}
