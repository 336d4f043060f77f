//! The raw connections of a session: bytes at a pace, floods, frames of HTTP/2, and the statuses that come back.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddrV4, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use super::{Session, Stream, programs::Running, text::*};
use crate::support::{
    frames::{
        self, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, PRIORITY, PUSH_PROMISE,
        RST_STREAM, SETTINGS, WINDOW_UPDATE, frame,
    },
    tls_client::{client, handshake},
    wire::exchange,
};

impl Session {
    pub(super) fn connect(&self, server: usize, endpoint: &str) -> (Box<dyn Stream>, TcpStream) {
        let Running { process, is_encrypted, admin } = &self.servers[server];
        let (socket, trusted) = match endpoint {
            "admin" => (exchange(*admin, &[]), None),
            "nginx" | "nginx-plain" | "nginx-h2" | "other" => {
                let nginx = self.nginx.as_ref().unwrap();
                let from = Ipv4Addr::new(127, 0, 0, if endpoint == "other" { 8 } else { 9 });
                let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
                bind(&socket, &SocketAddrV4::new(from, 0)).unwrap();
                connect(&socket, &nginx.address).unwrap();
                let socket = TcpStream::from(socket);
                socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                (socket, Some(nginx.pair.der()))
            }
            _ => (exchange(process.address, &[]), self.trusted.clone().filter(|_| *is_encrypted)),
        };
        let protocols: &[&str] = match endpoint {
            "h2" | "nginx-h2" => &["h2"],
            _ => &["http/1.1"],
        };
        let same = socket.try_clone().unwrap();
        match trusted.filter(|_| !endpoint.ends_with("plain")) {
            Some(trusted) => {
                let stream = handshake(socket, "127.0.0.1", &client(trusted, protocols)).unwrap();
                assert_eq!(stream.conn.alpn_protocol(), Some(protocols[0].as_bytes()));
                (Box::new(stream), same)
            }
            None => (Box::new(socket), same),
        }
    }

    /// Opens connections and sends bytes on each, as the verb says.
    pub(super) fn open(&mut self, place: &str, verb: &str, rest: &str, expected: &str) {
        let (rest, later) = rest.split_once(" < ").unwrap_or((rest, ""));
        let (endpoint, number, first) = destination(rest);
        let [first, later]: [Arc<[_]>; 2] = [first, later].map(|text| bytes(text).into());
        let is_patient = verb == "flood" || endpoint.starts_with("nginx");
        let max_wait = Duration::from_secs(if is_patient { 60 } else { 20 });
        for round in 0..number {
            let (mut stream, socket) = self.connect(0, endpoint);
            let (place, verb, expected) = (place.to_owned(), verb.to_owned(), expected.to_owned());
            let (first, later) = (Arc::clone(&first), Arc::clone(&later));
            let send = move |bytes: &[u8]| {
                // The server may hang up before it has read all of it.
                let _ = stream.write_all(bytes).and_then(|()| stream.flush());
                stream
            };
            match &*verb {
                "keep" => self.kept.push(send(&first)),
                "leave" => drop(send(&first[..round % first.len() + 1])),
                _ => self.opened.push(thread::spawn(move || {
                    let stream = send(&first);
                    match &*verb {
                        "open" => return ended(&place, stream, &socket, &later, max_wait),
                        "flood" => flooded(&place, socket, &later, max_wait),
                        _ => assert_statuses(&place, &statuses(socket), &expected),
                    }
                    String::new()
                })),
            }
        }
    }
}

/// Sends bytes one after another, and reads up to the end of the connection, which must come. Returns what came before.
fn ended(
    place: &str,
    mut stream: Box<dyn Stream>,
    socket: &TcpStream,
    later: &[u8],
    max_wait: Duration,
) -> String {
    let pause = if later.is_empty() { 200 } else { 50 };
    socket.set_read_timeout(Some(Duration::from_millis(pause))).unwrap();
    let mut later = later.iter();
    let (begun, mut received, mut buffer) = (Instant::now(), Vec::new(), [0; 4096]);
    while begun.elapsed() < max_wait {
        let is_cut = later
            .next()
            .is_some_and(|byte| stream.write_all(&[*byte]).and_then(|()| stream.flush()).is_err());
        match stream.read(&mut buffer) {
            Ok(count) if count > 0 && !is_cut => received.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) && !is_cut => {}
            // A reset is an end as well, and so is one without TLS's farewell.
            _ => return String::from_utf8_lossy(&received).into_owned(),
        }
    }
    panic!("{place}: still open after {max_wait:?}");
}

/// Writes bytes again and again, and reads nothing, up to the end of the connection, which must come.
fn flooded(place: &str, mut socket: TcpStream, bytes: &[u8], max_wait: Duration) {
    socket.set_nonblocking(true).unwrap();
    let begun = Instant::now();
    while begun.elapsed() < max_wait {
        match socket.write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(5))
            }
            // It was closed with bytes that nobody will read.
            Err(_) => return,
            Ok(_) => {}
        }
    }
    panic!("{place}: still open after {max_wait:?}");
}

/// The status of each response on a connection, up to its end or until nothing more comes.
pub(super) fn statuses(mut socket: TcpStream) -> Vec<String> {
    // Longer than the server waits for a body; a caller without a response by then gets none.
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut received = Vec::new();
    // A reset is an end as well, and what came before it counts.
    let _ = socket.read_to_end(&mut received);
    let text = String::from_utf8_lossy(&received);
    let starts = text.split("HTTP/1.1 ").skip(1).chain(text.split("HTTP/1.0 ").skip(1));
    starts.map(|start| start.split(' ').next().unwrap_or_default().to_owned()).collect()
}

fn assert_statuses(place: &str, found: &[String], expected: &str) {
    let is_rejected = found.len() <= 1 && found.iter().all(|status| status.starts_with('4'));
    let is_expected =
        if expected == "rejected" { is_rejected } else { found.join(" ") == repeated(expected).trim_end() };
    assert!(is_expected, "{place}: {found:?}");
}

/// Requests of HTTP/2 that are taken back at once, each on a stream of its own.
fn h2_resets(headers: &[u8]) -> Vec<u8> {
    let streams = (0..u32::try_from(count("5000/100000")).unwrap()).map(|number| 2 * number + 1);
    let call = |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, headers);
    streams
        .flat_map(|stream| [call(stream), frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat())
        .collect()
}

/// Frames of HTTP/2, as the bytes of a line.
pub(super) fn h2_frames(target: &str) -> [(&'static str, Vec<u8>); 23] {
    let headers = frames::get(target);
    let unended = frame(HEADERS, END_STREAM, 1, &headers);
    let call = frame(HEADERS, END_HEADERS | END_STREAM, 1, &headers);
    let name = [vec![0x00, 0x01, b'x', 0x7f, 0x81, 0x7f], vec![b'y'; 16_384]].concat();
    [
        ("h2-preface", PREFACE.to_vec()),
        ("h2-opening", frames::opening()),
        ("h2-lie", [&[0xff, 0xff, 0xff], &call[3..]].concat()),
        ("h2-call", call),
        ("h2-even", frame(HEADERS, END_HEADERS | END_STREAM, 2, &headers)),
        ("h2-open", frame(HEADERS, END_HEADERS, 1, &headers)),
        ("h2-name", frame(CONTINUATION, 0, 1, &name)),
        ("h2-unended-5", unended[..5].to_vec()),
        ("h2-unended-20", unended[..20].to_vec()),
        ("h2-unended", unended),
        ("h2-continuation", frame(CONTINUATION, 0, 1, &headers[..headers.len() / 2])),
        ("h2-no-window", frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0])),
        ("h2-ping", frame(PING, 0, 0, &[0; 8])),
        ("h2-settings", frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0xff, 0xff])),
        ("h2-priority", frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 1])),
        ("h2-empty-data", frame(DATA, 0, 1, &[])),
        ("h2-empty-continuation", frame(CONTINUATION, 0, 1, &[])),
        ("h2-largest-window", frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])),
        ("h2-window-of-nothing", frame(WINDOW_UPDATE, 0, 0, &[0; 4])),
        ("h2-data-without-stream", frame(DATA, 0, 7, b"x")),
        ("h2-promise", frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])),
        ("h2-resets", h2_resets(&headers)),
        ("h2-unreadable", frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0xff; 64])),
    ]
}
