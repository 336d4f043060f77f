//! HTTP/1 that never ends. `sessions/http1.txt` has other faults.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use super::{
    rounds,
    target::{Target, statuses},
};

/// Far longer than the server takes, so that a slow machine is no reason to fail.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A caller that never reads its responses delays no other caller.
#[test]
fn deaf_callers_delay_nobody() {
    let mut target = Target::start();
    let piped = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target.groups()).repeat(rounds(50, 2000));
    let _deaf: Vec<_> = (0..20).map(|_| target.open(piped.as_bytes())).collect();
    target.assert_served_and_unharmed();
}

/// A chunk's size may begin with any number of zeros, and end with any number of spaces, none of which is body.
#[test]
fn chunks_that_never_begin_keep_nobody_out_and_are_closed() {
    let mut target = Target::start();
    let chunked = "Transfer-Encoding: chunked";
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\n{chunked}\r\n\r\n");
    let known = String::from_utf8(target.search(chunked, b"")).unwrap();
    let unknown = known.replace(&target.token, "nobody");
    let heads = [
        ("unknown token", unknown.clone()),
        ("unknown token, too", unknown),
        ("known token", known.clone()),
        ("another type", known.replace("application/json", "text/plain")),
        ("another method", known.replace("POST", "PUT")),
        ("no body expected", get(&target.groups())),
        ("unknown path", get("/unknown")),
    ];
    for (beginning, byte) in [("", b'0'), ("0", b' ')] {
        thread::scope(|scope| {
            for (what, head) in &heads {
                let stream = target.open((head.to_owned() + beginning).as_bytes());
                scope.spawn(move || assert_closed_while_written(what, stream, &[byte; 64 << 10]));
            }
            for _ in 0..rounds(10, 100) {
                target.assert_good_callers_are_served();
            }
        });
    }
    target.assert_served_and_unharmed();

    let mut target = Target::with(&["--body-timeout", "60"], "");
    for (beginning, byte) in [("", b'0'), ("1\r\n[\r\n0", b' ')] {
        let mut stream = target.open(&target.search(chunked, beginning.as_bytes()));
        let read = stream.try_clone().unwrap();
        let statuses = thread::spawn(move || statuses(read));
        // Each byte is an attempt to read; those that arrive together are one.
        for _ in 0..10_000 {
            if statuses.is_finished() || stream.write_all(&[byte]).is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(statuses.join().unwrap(), ["400"]);
    }
    target.assert_served_and_unharmed();
}

fn assert_closed_while_written(what: &str, mut stream: TcpStream, block: &[u8]) {
    stream.set_nonblocking(true).unwrap();
    let begun = Instant::now();
    let is_over = |result: io::Result<usize>| {
        result.map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |read| read == 0)
    };
    while !is_over(stream.write(block)) && !is_over(stream.read(&mut [0; 4096])) {
        assert!(begun.elapsed() < MAX_WAIT, "{what}: still open after {MAX_WAIT:?}");
        thread::yield_now();
    }
}
