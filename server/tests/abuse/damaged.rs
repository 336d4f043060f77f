//! Good requests with damage at random.

use std::net::Shutdown;

use proptest::{prelude::*, test_runner::TestRunner};

use super::{
    rounds,
    target::{Target, statuses},
};

#[test]
fn damaged_requests_get_no_5xx() {
    let mut target = Target::start();
    let body = br#"{"ips":["192.0.2.1","[2001:db8::1]:80"],"page":1,"activatedFrom":"2026-01-31T08:00:00Z"}"#;
    let good = [
        format!("GET {} HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\r\n\r\n", target.groups()).into_bytes(),
        target.search(&format!("Content-Length: {}", body.len()), body),
        target.search("Transfer-Encoding: chunked", b"a\r\n{\"ips\":[]}\r\n1\r\n \r\n0\r\n\r\n"),
    ];
    let damage = (any::<prop::sample::Index>(), 0_usize..4, prop::collection::vec(any::<u8>(), 0..4));
    let requests = (prop::sample::select(good.to_vec()), prop::collection::vec(damage, 1..4));
    let cases = u32::try_from(rounds(200, 20_000)).unwrap();
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&requests, |(mut request, damages)| {
            for (place, removed, added) in damages {
                let place = place.index(request.len() + 1);
                request.splice(place..request.len().min(place + removed), added);
            }
            let stream = target.open(&request);
            // The server does not wait for a client that has closed its side.
            let _ = stream.shutdown(Shutdown::Write);
            let given = statuses(stream);
            prop_assert!(given.iter().all(|status| !status.starts_with('5')), "{given:?}");
            Ok(())
        })
        .unwrap();
    target.assert_served_and_unharmed();
}
