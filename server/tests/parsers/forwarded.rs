//! What proxies say of a caller in `X-Forwarded-For`.

use std::net::IpAddr;

use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use sallyport_server::{
    edge::{reading::caller, responding::error_code::ErrorCode},
    proxies::TrustedProxies,
};

const NAME: &str = "x-forwarded-for";

/// Of two declared proxies.
const PROXY: &str = "10.0.0.2";

/// Hops as they are written in `X-Forwarded-For`, and whom they name.
const HOPS: &[(&str, Option<&str>)] = &[
    ("198.51.100.1", Some("198.51.100.1")),
    ("198.51.100.2:4711", Some("198.51.100.2")),
    ("2001:db8::5", Some("2001:db8::5")),
    ("[2001:db8::6]:4711", Some("2001:db8::6")),
    ("::ffff:198.51.100.3", Some("198.51.100.3")),
    (PROXY, Some(PROXY)),
    ("::ffff:10.0.0.1", Some("10.0.0.1")),
    ("[2001:db8::7]", Some("2001:db8::7")),
    ("unknown", None),
    ("", None),
    ("198.51.100.256", None),
    ("198.51.100.01", None),
    ("198.51.100.1 10.0.0.2", None),
    ("198.51.100.1:", None),
    ("198.51.100.1:65536", None),
    ("198.51.100.1:+1", None),
    ("[198.51.100.1]", None),
    ("[2001:db8::1]80", None),
    ("[2001:db8::1", None),
    ("fe80::1%eth0", None),
];

fn proxies() -> TrustedProxies {
    ["10.0.0.0/8", "2001:db8:1::/48"].iter().map(|net| net.parse().unwrap()).collect()
}

fn is_proxy(ip: &IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if ip.octets()[0] == 10)
}

/// The caller whom hops name, the nearest proxy's last: the last of them that is no proxy. `None` is unreadable.
fn slow(hops: &[Option<&str>]) -> Option<IpAddr> {
    let mut caller: IpAddr = PROXY.parse().unwrap();
    for hop in hops.iter().rev() {
        caller = (*hop)?.parse().unwrap();
        if !is_proxy(&caller) {
            break;
        }
    }
    Some(caller)
}

/// The caller, or nothing where the header cannot be read.
fn read(fields: &[String]) -> Option<IpAddr> {
    let mut headers = HeaderMap::new();
    for field in fields {
        headers.append(NAME, HeaderValue::from_str(field).unwrap());
    }
    match caller::caller(&proxies(), PROXY.parse().unwrap(), &headers) {
        Ok(ip) => Some(ip),
        Err(error) => {
            assert_eq!(error.code, ErrorCode::CallerUnknown);
            None
        }
    }
}

/// Indices into a table, in fields of at least one each.
fn fields(length: usize) -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0..length, 1..4), 1..4)
}

proptest! {
    #[test]
    fn the_list_names_whom_a_slow_reader_finds(fields in fields(HOPS.len())) {
        let written: Vec<String> = fields
            .iter()
            .map(|field| field.iter().map(|hop| HOPS[*hop].0).collect::<Vec<_>>().join(" ,\t"))
            .collect();
        let hops: Vec<_> = fields.iter().flatten().map(|hop| HOPS[*hop].1).collect();
        prop_assert_eq!(read(&written), slow(&hops), "{:?}", written);
    }

    #[test]
    fn any_bytes_are_read_or_rejected(list: Vec<u8>, peer: IpAddr) {
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_bytes(&list) {
            headers.append(NAME, value);
        }
        // Strangers are whom they ask as, whatever they say.
        let (proxies, peer) = (proxies(), peer.to_canonical());
        if !proxies.contains(peer) {
            prop_assert_eq!(caller::caller(&proxies, peer, &headers).ok(), Some(peer));
        }
        let _ = caller::caller(&proxies, PROXY.parse().unwrap(), &headers);
    }
}
