//! Callers by IPv6.

use sallyport_server::{Config, edge::responding::error_code::ErrorCode};

use super::{extraction, get, groups, served};

/// From an IPv6 caller: rejected where a whitelist is asked for, served elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn ipv6_callers_are_told_why() {
    let Ok(probe) = std::net::TcpListener::bind("[::1]:0") else {
        eprintln!("skipped: this machine has no IPv6");
        return;
    };
    drop(probe);
    let (running, sample) = served(|config| Config { listen: "[::1]:0".parse().unwrap(), ..config }).await;
    let response = get(running.address(), extraction(&sample), String::new()).await;
    assert_eq!(
        (response.status, response.json()["code"].as_i64()),
        (403, Some(ErrorCode::CallerNotIpv4.number()))
    );
    assert_eq!(get(running.address(), groups(&sample), String::new()).await.status, 200);
}

/// A socket of both families shows IPv4 callers as IPv4-mapped.
#[tokio::test(flavor = "multi_thread")]
async fn mapped_callers_are_ipv4_callers() {
    let Ok(probe) = std::net::TcpListener::bind("[::]:0") else {
        eprintln!("skipped: this machine has no IPv6");
        return;
    };
    drop(probe);
    let (running, sample) =
        served(|config| Config { listen: "[::ffff:127.0.0.1]:0".parse().unwrap(), ..config }).await;
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], running.address().port()));
    let response = get(address, extraction(&sample), String::new()).await;
    assert_eq!(response.json()["request_ip"], "127.0.0.1");
}
