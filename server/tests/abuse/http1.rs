//! HTTP/1 with faults.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use super::{
    marked, rounds,
    target::{Target, statuses},
};

/// Far longer than the server takes, so that a slow machine is no reason to fail.
const MAX_WAIT: Duration = Duration::from_secs(60);

#[test]
fn request_smuggling_gets_one_response_at_most() {
    let mut target = Target::start();
    let hidden = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target.groups());
    let body = format!("0\r\n\r\n{hidden}");
    let requests = include_str!("smuggling.txt").lines();
    let requests: Vec<_> = requests.map(|headers| target.search(&marked(headers), body.as_bytes())).collect();
    target.assert_rejected(&requests);
    target.assert_served_and_unharmed();
}

#[test]
fn broken_http_is_rejected_or_hung_up_on() {
    let mut target = Target::start();
    let search = |headers| String::from_utf8(target.search(headers, b"")).unwrap();
    let names = [
        ("{groups}", target.groups()),
        ("{chunked}", search("Transfer-Encoding: chunked")),
        ("{nine-bytes}", search("Content-Length: 9")),
        ("{long}", "a".repeat(1 << 20)),
        ("{many}", "X: y\r\n".repeat(5000)),
    ];
    let filled =
        |line| names.iter().fold(marked(line), |line, (name, value)| line.replace(name, value)).into_bytes();
    let mut requests: Vec<_> = include_str!("broken.txt").lines().map(filled).collect();
    requests.push(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec());
    requests.push(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\xff\xff".to_vec());
    target.assert_rejected(&requests);
    target.assert_served_and_unharmed();
}

#[test]
fn bytes_that_are_no_text_are_rejected_wherever_they_stand() {
    let mut target = Target::start();
    let (groups, token) = (target.groups(), target.token.clone());
    let path = groups.split('?').next().unwrap().to_owned();
    let before_and_after = [
        (format!("GET {path}"), format!("?api_key={token} HTTP/1.1\r\nHost: x\r\n\r\n")),
        (format!("GET {groups}"), " HTTP/1.1\r\nHost: x\r\n\r\n".to_owned()),
        (format!("GET {path}?api_key={token}&x="), " HTTP/1.1\r\nHost: x\r\n\r\n".to_owned()),
        ("G".to_owned(), format!(" {groups} HTTP/1.1\r\nHost: x\r\n\r\n")),
        (format!("GET {groups} HTTP/1.1\r\nHost: x\r\nX-"), ": y\r\n\r\n".to_owned()),
    ];
    for bytes in [b"\xff\xfe".as_slice(), b"\xed\xa0\x80", b"\xc0\x80", b"\xf8"] {
        let around = before_and_after
            .iter()
            .map(|(before, after)| [before.as_bytes(), bytes, after.as_bytes()].concat());
        let in_header = ["Content-Type", "Content-Encoding", "Expect", "Transfer-Encoding"].map(|name| {
            let mut request = target.search("MARK", b"{}");
            let place = request.windows(4).position(|four| four == b"MARK").unwrap();
            request
                .splice(place..place + 4, [b"Content-Length: 2\r\n", name.as_bytes(), b": ", bytes].concat());
            request
        });
        target.assert_rejected(&around.chain(in_header).collect::<Vec<_>>());
        let string = [b"{\"ips\":[\"", bytes, b"\"]}"].concat();
        let body = target.search(&format!("Connection: close\r\nContent-Length: {}", string.len()), &string);
        assert_eq!(target.statuses(&body), ["400"]);
    }
    target.assert_served_and_unharmed();
}

#[test]
fn bodies_that_are_deep_huge_or_compressed_are_rejected() {
    let mut target = Target::start();
    let million = 1_000_000;
    let whole = |body: &str| {
        target.search(&format!("Connection: close\r\nContent-Length: {}", body.len()), body.as_bytes())
    };
    let gzip = "Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: 20";
    for (request, status) in [
        (whole(&"[".repeat(million)), "400"),
        (whole(&"{\"a\":".repeat(million / 5)), "400"),
        (whole(&format!("{{\"ips\":{}{}}}", "[".repeat(100), "]".repeat(100))), "400"),
        (whole(&format!("{{\"ips\":[{}\"\"]}}", "\"\",".repeat(million / 3))), "413"),
        (whole(&format!("{{{}\"a\":1}}", "\"a\":1,".repeat(million / 6))), "413"),
        (whole(&format!("{{\"page\":{}}}", "9".repeat(million))), "400"),
        (whole(&format!("{{\"orderNo\":\"{}\"}}", "\\u0000".repeat(million / 6))), "400"),
        (whole(&" ".repeat(2 * million)), "413"),
        (target.search(gzip, b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\xae\x05\0\x43\xbf\xa6\xa3\x02\0"), "415"),
        (target.search("Connection: close\r\nContent-Encoding: br\r\nContent-Length: 2", b"{}"), "415"),
        (target.search("TE: gzip\r\nTransfer-Encoding: gzip, chunked", b"0\r\n\r\n"), "400"),
    ] {
        for _ in 0..rounds(2, 50) {
            let given = target.statuses(&request);
            let shown = String::from_utf8_lossy(&request[..request.len().min(300)]).into_owned();
            assert_eq!(given, [status], "{shown}");
        }
    }
    target.assert_served_and_unharmed();
}

#[test]
fn http_1_0_and_pipelines_are_served() {
    let mut target = Target::start();
    let old = format!("GET {} HTTP/1.0\r\n\r\n", target.groups());
    assert_eq!(target.statuses(old.as_bytes()), ["200"]);
    let calls = rounds(50, 2000);
    let piped = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target.groups()).repeat(calls);
    assert_eq!(target.statuses(piped.as_bytes()), vec!["200"; calls]);
    // A caller that never reads its responses delays no other caller.
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

/// A client that sends chunks reads the response to a request that was rejected by its head.
#[test]
fn a_chunked_request_that_is_rejected_gets_its_response() {
    let mut target = Target::start();
    let body = format!("5000\r\n{}\r\n0\r\n\r\n", " ".repeat(0x5000));
    let good = target.search("Transfer-Encoding: chunked", body.as_bytes());
    let unknown = String::from_utf8(good).unwrap().replace(&target.token, "nobody");
    assert_eq!(target.statuses(unknown.as_bytes()), ["401"]);
    target.assert_served_and_unharmed();
}
