//! Connections on which nothing moves, when the server has no descriptor or no memory left for them. `sessions/deadlines.txt` has others.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use super::target::Target;

/// The deadline that the servers of these tests have, in seconds.
const DEADLINE: &str = "1";

/// Far longer than the deadline, so that a slow machine is no reason to fail.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Waits for the end of a connection.
#[track_caller]
fn assert_closed(mut socket: &TcpStream) {
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let begun = Instant::now();
    while begun.elapsed() < MAX_WAIT {
        match socket.read(&mut [0; 4096]) {
            Ok(0) => return,
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return,
            Ok(_) | Err(_) => {}
        }
    }
    panic!("idle among too many: still open after {MAX_WAIT:?}");
}

/// The list of descriptors that the deadlines are kept by cannot be opened when none is left, so it was opened before.
#[test]
fn a_server_out_of_descriptors_closes_idle_connections() {
    let mut target = Target::with(&["--connection-timeout", DEADLINE], "ulimit -n 200");
    let idle: Vec<_> = (0..300).map(|_| target.open(b"GET /openapi")).collect();
    thread::scope(|scope| {
        for socket in &idle {
            scope.spawn(move || assert_closed(socket));
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
