//! Good requests with damage at random.

use std::{io::Write as _, net::Shutdown};

use proptest::{prelude::*, test_runner::TestRunner};

use super::{Session, bytes, count, statuses};

const GOOD: [&str; 3] = [
    r"GET {groups} HTTP/1.1\x0d\nHost: x\x0d\nX-Request-Id: a\x0d\n\x0d\n",
    r#"{search-head}Content-Length: 88\x0d\n\x0d\n{"ips":["192.0.2.1","[2001:db8::1]:80"],"page":1,"activatedFrom":"2026-01-31T08:00:00Z"}"#,
    r#"{search-head}Transfer-Encoding: chunked\x0d\n\x0d\na\x0d\n{"ips":[]}\x0d\n1\x0d\n \x0d\n0\x0d\n\x0d\n"#,
];

#[test]
fn damaged_requests_get_no_5xx() {
    let mut session = Session::new(None);
    session.step("damaged", "run --body-timeout 1");
    let good = GOOD.map(|request| bytes(&session.filled(request)));
    let damage = (any::<prop::sample::Index>(), 0_usize..4, prop::collection::vec(any::<u8>(), 0..4));
    let requests = (prop::sample::select(good.to_vec()), prop::collection::vec(damage, 1..4));
    let cases = u32::try_from(count("200/20000")).unwrap();
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&requests, |(mut request, damages)| {
            for (place, removed, added) in damages {
                let place = place.index(request.len() + 1);
                request.splice(place..request.len().min(place + removed), added);
            }
            let (mut stream, socket) = session.connect(0, "plain");
            // The server may hang up before it has read all of it, and does not wait for a client that has closed its side.
            let _ = stream.write_all(&request).and_then(|()| socket.shutdown(Shutdown::Write));
            let given = statuses(socket);
            prop_assert!(given.iter().all(|status| !status.starts_with('5')), "{given:?}");
            Ok(())
        })
        .unwrap();
    session.play("damaged", "GET {groups} => 200\nunharmed");
}
