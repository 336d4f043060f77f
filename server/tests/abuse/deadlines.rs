//! Connections on which nothing moves, in each phase of their life. Each is closed; what is under way is not.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use super::{
    frames::{CONTINUATION, END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, frame, get, opening},
    target::Target,
    tls::TlsTarget,
};

/// The deadline that the servers of these tests have, in seconds.
const DEADLINE: &str = "1";

/// Far longer than the deadline, so that a slow machine is no reason to fail.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Sends these bytes, the last of them again and again if `drips`, and waits for the end of the connection.
#[track_caller]
fn assert_closed<S: Read + Write>(what: &str, mut stream: S, socket: &TcpStream, bytes: &[u8], drips: bool) {
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    // The server may hang up before it has read all of it.
    let _ = stream.write_all(bytes).and_then(|()| stream.flush());
    let begun = Instant::now();
    while begun.elapsed() < MAX_WAIT {
        if drips && stream.write_all(&bytes[bytes.len() - 1..]).and_then(|()| stream.flush()).is_err() {
            return;
        }
        match stream.read(&mut [0; 4096]) {
            Ok(0) => return,
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return,
            Ok(_) | Err(_) => {}
        }
    }
    panic!("{what}: still open after {MAX_WAIT:?}");
}

/// What a connection may begin with and never go on, over plain TCP and inside TLS alike: its name, its bytes, and whether
/// the last one comes again and again.
fn beginnings(groups: &str) -> Vec<(&'static str, Vec<u8>, bool)> {
    let headers = get(groups);
    let open_headers = frame(HEADERS, END_STREAM, 1, &headers);
    let whole = format!("GET {groups} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes();
    let half_block = &headers[..headers.len() / 2];
    vec![
        ("no byte", Vec::new(), false),
        ("half of the HTTP/2 preface", PREFACE[..12].to_vec(), false),
        ("half of a request line", b"GET /openapi".to_vec(), false),
        ("a header that never ends", b"GET / HTTP/1.1\r\nHost: x".to_vec(), true),
        ("nothing after a response over HTTP/1.1", whole, false),
        ("nothing after the HTTP/2 preface", PREFACE.to_vec(), false),
        ("HTTP/2 without a request", opening(), false),
        ("half of a frame's head", [opening(), open_headers[..5].to_vec()].concat(), false),
        ("half of a HEADERS frame", [opening(), open_headers[..20].to_vec()].concat(), false),
        ("HEADERS without CONTINUATION", [opening(), open_headers.clone()].concat(), false),
        (
            "CONTINUATION without an end",
            [opening(), open_headers, frame(CONTINUATION, 0, 1, half_block)].concat(),
            false,
        ),
        (
            "nothing after a response over HTTP/2",
            [opening(), frame(HEADERS, END_HEADERS | END_STREAM, 1, &headers)].concat(),
            false,
        ),
        (
            "a response over HTTP/2 for which there is no window",
            [
                PREFACE.to_vec(),
                frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]),
                frame(HEADERS, END_HEADERS | END_STREAM, 1, &headers),
            ]
            .concat(),
            false,
        ),
    ]
}

#[test]
fn a_connection_on_which_nothing_moves_is_closed() {
    let mut target = Target::with(&["--connection-timeout", DEADLINE], "");
    thread::scope(|scope| {
        for (what, bytes, drips) in beginnings(&target.groups()) {
            let socket = target.open(b"");
            scope.spawn(move || assert_closed(what, &socket, &socket, &bytes, drips));
        }
        let socket = target.open(b"P");
        scope.spawn(move || {
            for byte in &PREFACE[1..PREFACE.len() - 1] {
                thread::sleep(Duration::from_millis(300));
                if (&socket).write_all(&[*byte]).is_err() {
                    return;
                }
            }
            assert_closed("a preface that drips", &socket, &socket, b"", false);
        });
    });
    target.assert_served_and_unharmed();
}

#[test]
fn inside_tls_it_is_closed_as_well() {
    let mut server = TlsTarget::start(&["--connection-timeout", DEADLINE]);
    let hello = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03];
    thread::scope(|scope| {
        for (what, bytes) in [("no byte", b"".as_slice()), ("half of a ClientHello", &hello)] {
            let socket = server.target.open(b"");
            scope.spawn(move || assert_closed(what, &socket, &socket, bytes, false));
        }
        for (what, bytes, drips) in beginnings(&server.target.groups()) {
            let stream = server.connect();
            let socket = stream.sock.try_clone().unwrap();
            scope.spawn(move || assert_closed(what, stream, &socket, &bytes, drips));
        }
    });
    server.target.assert_unharmed();
}

/// The list of descriptors that the deadlines are kept by cannot be opened when none is left, so it was opened before.
#[test]
fn a_server_out_of_descriptors_closes_idle_connections() {
    let mut target = Target::with(&["--connection-timeout", DEADLINE], "ulimit -n 200");
    let idle: Vec<_> = (0..300).map(|_| target.open(b"GET /openapi")).collect();
    thread::scope(|scope| {
        for socket in &idle {
            scope.spawn(move || assert_closed("idle among too many", socket, socket, b"", false));
        }
    });
    target.assert_served_and_unharmed();
}

/// A caller who never reads leaves responses in the server's memory; when those of the kernel are full, nothing moves.
#[test]
fn a_pipeline_that_is_never_read_is_closed() {
    let mut target = Target::with(&["--connection-timeout", DEADLINE], "");
    let call = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target.groups()).repeat(100).into_bytes();
    let mut socket = target.open(b"");
    socket.set_nonblocking(true).unwrap();
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < MAX_WAIT, "still open after {MAX_WAIT:?}");
        match socket.write(&call) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(50)),
            // Reset: it was closed with requests that nobody will read.
            Err(_) => break,
            Ok(_) => {}
        }
    }
    target.assert_served_and_unharmed();
}
