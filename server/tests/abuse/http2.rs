//! HTTP/2 with intent: floods of frames that cost little to send.

use super::{
    frames::{
        CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, PRIORITY, PUSH_PROMISE,
        RST_STREAM, SETTINGS, WINDOW_UPDATE, frame, get, opening,
    },
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
fn floods_and_faults_of_frames_end_a_connection_at_most() {
    let mut server = TlsTarget::start(&[]);
    let count = rounds(20_000, 1_000_000);
    let headers = get(&server.target.groups());
    let call = frame(HEADERS, END_HEADERS | END_STREAM, 1, &headers);
    let open = frame(HEADERS, END_HEADERS, 1, &headers);
    let unended = frame(HEADERS, END_STREAM, 1, &headers);
    let name = [vec![0x00, 0x01, b'x', 0x7f, 0x81, 0x7f], vec![b'y'; 16_384]].concat();
    for (what, bytes) in [
        ("nothing after the preface", PREFACE.to_vec()),
        ("rubbish after the preface", [PREFACE, &[0xff; 4096]].concat()),
        ("pings", [opening(), frame(PING, 0, 0, &[0; 8]).repeat(count)].concat()),
        ("settings", [opening(), frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0xff, 0xff]).repeat(count)].concat()),
        ("priorities", [opening(), frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 1]).repeat(count)].concat()),
        ("empty data", [opening(), open.clone(), frame(DATA, 0, 1, &[]).repeat(count)].concat()),
        (
            "empty continuations",
            [opening(), unended.clone(), frame(CONTINUATION, 0, 1, &[]).repeat(count)].concat(),
        ),
        (
            "headers without an end",
            [opening(), unended, frame(CONTINUATION, 0, 1, &name).repeat(500)].concat(),
        ),
        ("windows", [opening(), frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]).repeat(2)].concat()),
        ("a window of nothing", [opening(), frame(WINDOW_UPDATE, 0, 0, &[0; 4])].concat()),
        ("no window", [opening(), frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]), call.clone()].concat()),
        ("data without a stream", [opening(), frame(DATA, 0, 7, b"x")].concat()),
        ("an even stream", [opening(), frame(HEADERS, END_HEADERS | END_STREAM, 2, &headers)].concat()),
        ("a promise", [opening(), frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])].concat()),
        ("headers that cannot be read", [opening(), frame(HEADERS, 5, 1, &[0xff; 64])].concat()),
        ("a length that is a lie", [opening(), [&[0xff, 0xff, 0xff], &call[3..]].concat()].concat()),
        ("a call twice", [opening(), call.clone(), call].concat()),
    ] {
        server.exchange(&bytes, |_| true);
        assert_served(&server);
        eprintln!("{what}: good callers are served");
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
