//! HTTP/2 with intent: requests that are taken back, and idle connections. `sessions/http2.txt` has other floods.

use super::{
    frames::{END_HEADERS, END_STREAM, HEADERS, RST_STREAM, frame, get, opening},
    rounds,
    tls::TlsTarget,
};

/// Kind, flags, stream and payload of each whole frame.
fn frames(mut bytes: &[u8]) -> Vec<(u8, u8, Vec<u8>)> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(9) {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let Some((payload, rest)) = rest.split_at_checked(length) else { break };
        frames.push((head[3], head[4], payload.to_vec()));
        bytes = rest;
    }
    frames
}

/// Whether a response with status 200 is among the frames: its first header is pair number 8.
fn is_served(bytes: &[u8]) -> bool {
    frames(bytes).iter().any(|(kind, _, payload)| *kind == HEADERS && payload.contains(&0x88))
}

#[track_caller]
fn assert_served(server: &TlsTarget) {
    let call = frame(HEADERS, END_HEADERS | END_STREAM, 1, &get(&server.target.groups()));
    assert!(is_served(&server.exchange(&[opening(), call].concat(), is_served)), "no response over HTTP/2");
}

/// Requests that are taken back at once, thousands on one connection.
#[test]
fn rapid_resets_delay_no_other_caller() {
    let mut server = TlsTarget::start(&[]);
    assert_served(&server);
    let headers = get(&server.target.groups());
    let count = u32::try_from(rounds(5000, 100_000)).unwrap();
    let flood: Vec<u8> = (0..count)
        .flat_map(|number| {
            let stream = 2 * number + 1;
            let call = frame(HEADERS, END_HEADERS | END_STREAM, stream, &headers);
            [call, frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat()
        })
        .collect();
    for _ in 0..rounds(3, 20) {
        server.exchange(&[opening(), flood.clone()].concat(), |_| false);
        assert_served(&server);
    }
    server.target.assert_unharmed();
}

#[test]
fn idle_connections_keep_nobody_out() {
    let mut server = TlsTarget::start(&[]);
    let mut idle: Vec<_> = (0..rounds(200, 3000)).map(|_| server.connect()).collect();
    for stream in idle.iter_mut().step_by(2) {
        std::io::Write::write_all(stream, &opening()).unwrap();
    }
    for _ in 0..rounds(5, 100) {
        assert_served(&server);
    }
    server.target.assert_unharmed();
}
