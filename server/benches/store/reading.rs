//! A search's body of as many items as the document allows: parsed, validated and freed of duplicates.

use http::HeaderMap;
use sallyport_server::{
    api::generated::SearchStaticInstances,
    edge::{
        operation::Operation as _,
        reading::{RequestParts, body},
    },
};

use super::{figure, rounds, thread_cpu};

const ITEMS: usize = 10_000;
const DISTINCT: usize = 500;
const ROUNDS: u64 = 500;

pub(crate) fn bench() {
    let item = |number: usize| match number % 4 {
        0 => format!("203.0.{}.{}", number % DISTINCT / 250, number % 250),
        1 => format!("203.0.{}.{}:20001", number % DISTINCT / 250, number % 250),
        2 => format!("2001:db8::{:x}", number % DISTINCT),
        _ => format!("[2001:db8::{:x}]:20001", number % DISTINCT),
    };
    let items: Vec<_> = (0..ITEMS).map(item).collect();
    let body = serde_json::json!({ "ips": items }).to_string().into_bytes();
    let headers = HeaderMap::new();
    let schema = &SearchStaticInstances::document().body.as_ref().unwrap().schema;
    let rounds = rounds(ROUNDS);
    let begun = thread_cpu();
    for _ in 0..rounds {
        let json = Some(body::parse(&body, schema).unwrap());
        let parts = RequestParts { path: "/", query: Some("api_key=token"), headers: &headers, json };
        let mut addresses = SearchStaticInstances::read(parts).unwrap().1.body.ips;
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), DISTINCT);
    }
    // Linux counts in steps of its own clock, which are longer than a round.
    let micros = (thread_cpu() - begun) / rounds as f64;
    figure("", &format!("body of {ITEMS} items, ms of CPU"), format_args!("{:.2}", micros / 1e3));
}
