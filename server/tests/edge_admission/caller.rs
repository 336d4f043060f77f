//! The caller's address behind declared proxies, as extraction tells it.

use sallyport_server::{Config, edge::responding::error_code::ErrorCode};

use super::{extraction, get, groups, served};

/// The sample data lets the loopback network in, so that network stands for the callers and one address of it for the
/// proxy that asks for them.
#[tokio::test(flavor = "multi_thread")]
async fn a_declared_proxy_tells_who_calls_and_nobody_else() {
    let behind =
        |config| Config { trusted_proxies: ["127.0.0.1".parse().unwrap()].into_iter().collect(), ..config };
    let (trusting, sample) = served(behind).await;
    let asked = |headers: &str| get(trusting.address(), extraction(&sample), headers.to_owned());

    let response = asked("\r\nX-Forwarded-For: 198.51.100.1, 127.0.0.9").await;
    assert_eq!((response.status, &response.json()["request_ip"]), (200, &"127.0.0.9".into()));
    let other = asked("\r\nX-Forwarded-For: 127.0.0.9\r\nForwarded: for=127.0.0.8").await;
    assert_eq!(other.json()["request_ip"], "127.0.0.9");
    let mapped = asked("\r\nX-Forwarded-For: ::ffff:127.0.0.7").await;
    assert_eq!(mapped.json()["request_ip"], "127.0.0.7");

    for (headers, code) in [
        ("\r\nX-Forwarded-For: 127.0.0.9, 198.51.100.1", ErrorCode::NotWhitelisted),
        ("\r\nX-Forwarded-For: 127.0.0.9, 2001:db8::1", ErrorCode::CallerNotIpv4),
        ("\r\nX-Forwarded-For: 127.0.0.9, unknown", ErrorCode::CallerUnknown),
        ("\r\nForwarded: for=127.0.0.9", ErrorCode::CallerUnknown),
        ("\r\nX-Forwarded-For: 127.0.0.9\r\nX-Forwarded-For: \u{fffd}", ErrorCode::CallerUnknown),
    ] {
        let response = asked(headers).await;
        assert_eq!(response.json()["code"], code.number(), "{headers}: {response:?}");
    }
    // Groups do not ask where a call comes from, but what cannot be read is rejected there as well.
    let unreadable =
        get(trusting.address(), groups(&sample), "\r\nX-Forwarded-For: unknown".to_owned()).await;
    assert_eq!(unreadable.json()["code"], ErrorCode::CallerUnknown.number());

    let (wary, sample) = served(|config| config).await;
    let spoofed = "\r\nX-Forwarded-For: 127.0.0.9".to_owned();
    let response = get(wary.address(), extraction(&sample), spoofed).await;
    assert_eq!(response.json()["request_ip"], "127.0.0.1");
}

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
