//! Many connections.

use std::{thread, time::Duration};

use sallyport_server::edge::reading::body::MAX_BYTES;

use super::{
    rounds,
    target::{Target, statuses},
};

#[test]
fn connections_that_say_little_keep_nobody_out() {
    let mut target = Target::start();
    let half = target.search("Content-Length: 1000000", b"{");
    let large = target.search("Content-Length: 1000000", &[b' '; 100_000]);
    let (idle, heads, bodies) = (rounds(500, 4000), rounds(300, 2000), rounds(300, 2000));
    let _idle: Vec<_> = (0..idle).map(|_| target.open(b"")).collect();
    let _head: Vec<_> = (0..heads).map(|_| target.open(b"GET /openapi")).collect();
    let _body: Vec<_> = (0..bodies).map(|_| target.open(&half)).collect();
    let _large: Vec<_> = (0..rounds(50, 200)).map(|_| target.open(&large)).collect();
    for _ in 0..rounds(20, 500) {
        target.assert_good_callers_are_served();
    }
    target.assert_unharmed();
}

/// Memory for bodies is for callers who are known: the token stands in front of the body. What a connection itself
/// takes while its body is thrown away (some 600 KiB) is left to the proxy, so the number of connections is fixed.
#[test]
fn large_bodies_with_unknown_tokens_do_not_block_others() {
    let mut target = Target::start();
    let nearly = MAX_BYTES - 1;
    let known = target.search(&format!("Content-Length: {MAX_BYTES}"), &vec![b' '; nearly]);
    let text = String::from_utf8(known).unwrap();
    let unknown = text.replace(&target.token, "nobody").into_bytes();
    let held: Vec<_> = thread::scope(|scope| {
        let opened: Vec<_> = (0..200).map(|_| scope.spawn(|| target.open(&unknown))).collect();
        opened.into_iter().map(|each| each.join().unwrap()).collect()
    });
    let search = target.search("Connection: close\r\nContent-Length: 24", b"{\"ips\":[\"198.51.100.1\"]}");
    for _ in 0..rounds(20, 200) {
        assert_eq!(target.statuses(&search), ["200"]);
    }
    for stream in held {
        assert_eq!(statuses(stream), ["401"], "the response does not wait for the body");
    }
    target.assert_unharmed();
}

#[test]
fn callers_who_leave_in_between_leave_nothing_behind() {
    let mut target = Target::start();
    let whole = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target.groups());
    for round in 0..rounds(500, 20_000) {
        let length = round % whole.len() + 1;
        drop(target.open(&whole.as_bytes()[..length]));
    }
    target.assert_served_and_unharmed();
}

/// The one resource that callers can use up in process; the docs leave its bound to the proxy.
#[test]
fn a_server_out_of_files_serves_again_when_connections_end() {
    let mut target = Target::with(&[], "ulimit -n 200");
    let held: Vec<_> = (0..300).map(|_| target.open(b"GET /openapi")).collect();
    // Long enough to have been asked for more than there is.
    thread::sleep(Duration::from_millis(500));
    drop(held);
    target.assert_served_and_unharmed();
}
