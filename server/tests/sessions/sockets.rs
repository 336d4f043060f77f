//! What sessions do with raw connections: bytes at a pace, floods, frames of HTTP/2, and the statuses that come back.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use super::{
    Stream,
    text::{count, repeated},
};
use crate::support::frames::{
    self, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, PRIORITY, PUSH_PROMISE,
    RST_STREAM, SETTINGS, WINDOW_UPDATE, frame,
};

/// Sends bytes at this pace, and reads up to the end of the connection, which must come. Returns what came before.
pub(super) fn ended(
    place: &str,
    pace: &str,
    mut stream: Box<dyn Stream>,
    socket: &TcpStream,
    bytes: &[u8],
    max_wait: Duration,
) -> String {
    let pause = if pace == "open" { 200 } else { 50 };
    socket.set_read_timeout(Some(Duration::from_millis(pause))).unwrap();
    let mut later = match pace {
        "drip" => bytes[bytes.len() - 1..].repeat(1000),
        "slow" => bytes.to_vec(),
        _ => Vec::new(),
    }
    .into_iter();
    // The server may hang up before it has read all of it.
    let _ = stream.write_all(if pace == "slow" { b"" } else { bytes }).and_then(|()| stream.flush());
    let (begun, mut received, mut buffer) = (Instant::now(), Vec::new(), [0; 4096]);
    while begun.elapsed() < max_wait {
        let is_cut =
            later.next().is_some_and(|byte| stream.write_all(&[byte]).and_then(|()| stream.flush()).is_err());
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
pub(super) fn flooded(place: &str, mut socket: TcpStream, bytes: &[u8], max_wait: Duration) {
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

pub(super) fn assert_statuses(place: &str, found: &[String], expected: &str) {
    let is_rejected = found.len() <= 1 && found.iter().all(|status| status.starts_with('4'));
    let is_expected =
        if expected == "rejected" { is_rejected } else { found.join(" ") == repeated(expected).trim_end() };
    assert!(is_expected, "{place}: {found:?}");
}

/// Requests of HTTP/2 that are taken back at once, each on a stream of its own.
pub(super) fn h2_resets(target: &str) -> Vec<u8> {
    let headers = frames::get(target);
    let streams = (0..u32::try_from(count("5000/100000")).unwrap()).map(|number| 2 * number + 1);
    let call = |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &headers);
    streams
        .flat_map(|stream| [call(stream), frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat())
        .collect()
}

/// Frames of HTTP/2, as the bytes of a line.
pub(super) fn h2_frames(target: &str) -> [(&'static str, Vec<u8>); 22] {
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
        ("h2-unreadable", frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0xff; 64])),
    ]
}
