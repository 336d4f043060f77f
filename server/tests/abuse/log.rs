//! Tokens in every place of a request, while everything that can be logged is logged: neither a response nor the log shows one.

use std::{fmt::Write as _, sync::Arc, thread};

use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    edge::operation::Operation,
};

use super::{
    frames::{
        CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PRIORITY, PUSH_PROMISE, RST_STREAM,
        SETTINGS, WINDOW_UPDATE, frame, opening,
    },
    http2::is_served,
    target::Target,
    tls::{TlsTarget, exchange},
};

const GOAWAY: u8 = 7;
// RFC 7838, RFC 9218, and a kind that no RFC has.
const ALTSVC: u8 = 10;
const PRIORITY_UPDATE: u8 = 16;
const UNKNOWN: u8 = 0xfe;
const PADDED: u8 = 8;

/// How many connections are open at once. Some are only left when nothing more comes.
const AT_ONCE: usize = 100;

/// So many characters of a token in a row are no accident.
const PART: usize = 10;

#[test]
fn no_level_logs_a_token_of_http1_as_text() {
    over_http1("human");
}

#[test]
fn no_level_logs_a_token_of_http1_as_json() {
    over_http1("json");
}

#[test]
fn no_level_logs_a_token_over_tls_as_text() {
    over_tls("human");
}

#[test]
fn no_level_logs_a_token_over_tls_as_json() {
    over_tls("json");
}

fn over_http1(format: &str) {
    let mut target = Target::with(&["--log", "trace", "--log-format", format], "");
    for requests in http1(&target.token).chunks(AT_ONCE) {
        target.statuses_of_each(requests);
    }
    let token = target.token.clone();
    let log = target.assert_served_and_unharmed();
    assert_silent(&log, &token, format);
}

fn over_tls(format: &str) {
    let mut server = TlsTarget::start(&["--log", "trace", "--log-format", format]);
    let token = server.target.token.clone();
    let mut http1_client = (*server.client).clone();
    http1_client.alpn_protocols = vec![b"http/1.1".to_vec()];
    let http1_client = Arc::new(http1_client);
    for requests in http1(&token).chunks(AT_ONCE) {
        at_once(requests, |request| {
            let stream = server.connect_to("127.0.0.1", Arc::clone(&http1_client)).unwrap();
            let response = exchange(stream, request, |_| false);
            let response = String::from_utf8_lossy(&response).to_lowercase();
            assert!(!response.contains(token.rsplit('_').next().unwrap()), "{response}");
        });
    }
    for streams in http2(&token).chunks(AT_ONCE) {
        // A server that accepted the frames responds to the ping behind them.
        at_once(streams, |frames| {
            let bytes = [opening(), frames.clone(), frame(PING, 0, 0, &[0; 8])].concat();
            server.exchange(&bytes, |response| {
                response.windows(9).any(|it| it == [0, 0, 8, PING, 1, 0, 0, 0, 0])
            });
        });
    }
    handshakes(&server, &token);
    let call = frame(HEADERS, END_HEADERS | END_STREAM, 1, &block(&good(&token)));
    assert!(is_served(&server.exchange(&[opening(), call].concat(), is_served)), "no response over HTTP/2");
    let log = server.target.assert_unharmed();
    for target in ["h2::", "rustls::"] {
        assert!(log.contains(target), "the log says nothing of {target}");
    }
    assert!(log.contains("tls accept err"), "the log says nothing of handshakes that failed");
    assert_silent(&log, &token, format);
}

fn at_once<T: Sync>(each: &[T], work: impl Fn(&T) + Sync) {
    thread::scope(|scope| {
        for one in each {
            scope.spawn(|| work(one));
        }
    });
}

/// The token in every spelling that a crate may choose, and every line in its form.
#[track_caller]
fn assert_silent(log: &str, token: &str, format: &str) {
    for line in log.lines() {
        if format == "json" {
            let event: serde_json::Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert!(event["timestamp"].is_string() && event["target"].is_string(), "{line}");
        } else {
            assert!(line.starts_with("20") && line.as_bytes()[10] == b'T', "no event of ours: {line}");
        }
    }
    assert!(!log.contains(['\x1b', '\r']), "control characters are in the log");
    for said in ["succeeded", "rejected: ", ListStaticGroups::PATH, ListStaticGroups::ID, "request completed"]
    {
        assert!(log.contains(said), "the log does not say {said:?}");
    }
    // Each of these holds the token as somebody would read it.
    let decoded = percent_encoding::percent_decode_str(log).decode_utf8_lossy().to_lowercase();
    let plain = log.to_lowercase();
    let secret = token.rsplit('_').next().unwrap();
    for part in secret.as_bytes().windows(PART) {
        let text = std::str::from_utf8(part).unwrap();
        let hex = part.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        });
        let list = part.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
        for spelling in [text, &hex, &list] {
            let found = plain.find(spelling).or_else(|| decoded.find(spelling));
            let line = found.and_then(|_| plain.lines().find(|line| line.contains(spelling)));
            assert!(found.is_none(), "`{spelling}` of the token is in the log: {line:?}");
        }
    }
}

/// Every byte of the text as `%XX`.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        write!(encoded, "%{byte:02X}").unwrap();
        encoded
    })
}

/// The spellings of a token that a caller may send.
fn spellings(token: &str) -> [String; 4] {
    [token.to_owned(), token.to_uppercase(), encoded(token), format!("%0a%1b[31m{token}")]
}

/// Requests of HTTP/1 that have the token somewhere: `heads.txt` has their heads, in every spelling and, after an empty line, bare.
fn http1(token: &str) -> Vec<Vec<u8>> {
    let (groups, extract, search) =
        (ListStaticGroups::PATH, ExtractProxies::PATH, SearchStaticInstances::PATH);
    let end = "HTTP/1.1\r\nHost: x\r\nConnection: close";
    let in_text = |head: &str, t: &str| {
        let names = [("{groups}", groups), ("{extract}", extract), ("{search}", search), ("{end}", end)];
        let values = [("{token}", token), ("{t}", t), ("␍", "\r"), ("␊", "\n"), ("␀", "\0"), ("␛", "\x1b")];
        names.into_iter().chain(values).fold(head.to_owned(), |head, (name, value)| head.replace(name, value))
    };
    let (spelled, bare) = include_str!("heads.txt").split_once("\n\n").unwrap();
    let mut heads = Vec::new();
    for t in spellings(token) {
        heads.extend(spelled.lines().map(|head| in_text(head, &t)));
    }
    for t in [token.to_owned(), token.to_uppercase(), token.replace('_', "-")] {
        heads.extend(bare.lines().map(|head| in_text(head, &t)));
        let names = "X-API-Key Authorization Proxy-Authorization Cookie TE Trailer Connection Upgrade Expect \
             Content-Type Content-Encoding Content-Length Transfer-Encoding X-Forwarded-For Forwarded \
             X-Request-Id Referer User-Agent Accept Accept-Encoding If-Modified-Since Sec-WebSocket-Key \
             HTTP2-Settings X";
        for name in names.split_whitespace() {
            heads.push(format!("GET {groups} {end}\r\n{name}: {t}"));
            heads.push(format!("POST {search}?api_key={token} {end}\r\n{name}: {t}\r\nContent-Length: 0"));
        }
    }
    let mut requests: Vec<Vec<u8>> =
        heads.iter().map(|head| format!("{head}\r\n\r\n").into_bytes()).collect();
    let call = |headers: &str, body: &str| {
        let head = format!("POST {search}?api_key={token} {end}\r\nContent-Type: application/json");
        format!("{head}\r\n{headers}\r\n\r\n{body}").into_bytes()
    };
    for t in spellings(token) {
        for body in [
            format!("{{\"ips\":[\"203.0.113.7\"],\"orderNo\":\"{t}\"}}"),
            format!("{{\"ips\":[\"{t}\"]}}"),
            format!("{{\"ips\":{t}}}"),
            format!("{{\"{t}\":1}}"),
            format!("{{\"ips\":[\"203.0.113.7\"],\"page\":\"{t}\"}}"),
            format!("{{{t}"),
            t.clone(),
        ] {
            let length = body.len();
            requests.push(call(&format!("Content-Length: {length}"), &body));
            requests.push(call(
                "Transfer-Encoding: chunked",
                &format!("{length:x};{t}=\"{t}\"\r\n{body}\r\n0\r\n{t}: {t}\r\n\r\n"),
            ));
        }
        requests.extend([
            call("Transfer-Encoding: chunked", &format!("{t}\r\n{t}\r\n0\r\n\r\n")),
            call("Transfer-Encoding: chunked", &format!("2\r\n{{}}\r\n0\r\nX: {t}\r\nX\0{t}\r\n\r\n")),
            call("Transfer-Encoding: chunked\r\nTrailer: X", &format!("2\r\n{{}}\r\n0\r\nX: {t}\r\n\r\n")),
            call("Content-Length: 500", &t),
            call(&format!("Content-Type: multipart/form-data; boundary={t}\r\nContent-Length: 0"), ""),
            [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", t.as_bytes()].concat(),
            [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", t.as_bytes()].concat(),
        ]);
    }
    requests
}

/// Name and value of each header, the pseudo headers first, as they are in HTTP/2.
type Headers = Vec<(String, String)>;

fn headers(pairs: &[(&str, &str)]) -> Headers {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn good(token: &str) -> Headers {
    let path = format!("{}?api_key={token}", ListStaticGroups::PATH);
    headers(&[(":method", "GET"), (":scheme", "https"), (":path", &path), (":authority", "x")])
}

/// RFC 7541: each pair as text. With indexing, since what is remembered is logged as well.
fn block(headers: &Headers) -> Vec<u8> {
    let text = |text: &str| {
        let mut bytes = match text.len() {
            length @ ..127 => vec![u8::try_from(length).unwrap()],
            length @ 127..255 => vec![127, u8::try_from(length - 127).unwrap()],
            length => panic!("a text of {length} bytes has a longer length"),
        };
        bytes.extend(text.bytes());
        bytes
    };
    headers.iter().flat_map(|(name, value)| [vec![0x40], text(name), text(value)].concat()).collect()
}

/// Frames of HTTP/2 that have the token somewhere.
fn http2(token: &str) -> Vec<Vec<u8>> {
    let (groups, search) = (ListStaticGroups::PATH, SearchStaticInstances::PATH);
    let mut calls: Vec<Headers> = Vec::new();
    let with = |changes: &[(&str, &str)], more: &[(&str, &str)]| {
        let mut call =
            headers(&[(":method", "GET"), (":scheme", "https"), (":path", groups), (":authority", "x")]);
        for (name, value) in changes {
            for pair in call.iter_mut().filter(|pair| pair.0 == *name) {
                (*value).clone_into(&mut pair.1);
            }
        }
        call.extend(headers(more));
        call
    };
    // Percent-encoded, it is too long for the lengths that are written here; half of it is as telling.
    let half = encoded(&token[token.len() / 2..]);
    let upper = token.to_uppercase();
    for t in [token, &upper, &half] {
        for path in [
            format!("{groups}?api_key={t}"),
            format!("{groups}%3Fapi_key={t}"),
            format!("/{t}"),
            t.to_owned(),
            format!("/ {t}"),
            format!("/\"{t}\\"),
            format!("/#{t}"),
            format!("*{t}"),
            format!("//{t}"),
            format!("/a\n{t}"),
        ] {
            calls.push(with(&[(":path", &path)], &[]));
        }
        for authority in
            [t.to_owned(), format!("{t}@x"), format!("x:{t}"), format!("[{t}]"), format!("x {t}")]
        {
            calls.push(with(&[(":authority", &authority)], &[]));
            calls.push(with(&[(":method", "CONNECT"), (":authority", &authority)], &[]));
        }
        for (name, value) in [(":method", t), (":scheme", t)] {
            calls.push(with(&[(name, value)], &[]));
            calls.push(with(&[(name, &format!(" {value}"))], &[]));
        }
        let names = ":protocol :status :unknown te connection transfer-encoding upgrade host cookie authorization \
             x-api-key X-Api-Key content-length expect content-type x proxy-connection keep-alive";
        for name in names.split(' ') {
            calls.push(with(&[], &[(name, t)]));
            calls.push(with(&[], &[(name, &format!("a\r\n{t}"))]));
            calls.push(with(&[(":method", "CONNECT")], &[(name, t)]));
        }
        calls.push(with(&[], &[(t, "x")]));
        calls.push(with(&[], &[(&format!(":{t}"), "x")]));
        calls.push(with(&[], &[("x", "y"), (":path", t)]));
        calls.push(with(&[], &[("authorization", &format!("Bearer {t} {t}"))]));
    }
    let mut streams: Vec<Vec<u8>> =
        calls.iter().map(|call| frame(HEADERS, END_HEADERS | END_STREAM, 1, &block(call))).collect();
    let post = block(&headers(&[
        (":method", "POST"),
        (":scheme", "https"),
        (":path", &format!("{search}?api_key={token}")),
        (":authority", "x"),
        ("content-type", "application/json"),
    ]));
    let open = frame(HEADERS, END_HEADERS, 1, &post);
    let body = format!("{{\"ips\":[\"203.0.113.7\"],\"orderNo\":\"{token}\"}}");
    let trailers =
        |pairs: &[(&str, &str)]| frame(HEADERS, END_HEADERS | END_STREAM, 1, &block(&headers(pairs)));
    let code = 2_u32.to_be_bytes();
    let t = token.as_bytes();
    streams.extend([
        [open.clone(), frame(DATA, END_STREAM, 1, body.as_bytes())].concat(),
        [open.clone(), frame(DATA, END_STREAM, 1, t)].concat(),
        [open.clone(), frame(DATA, 0, 1, b"{}"), trailers(&[("x", token), (token, "x")])].concat(),
        [open.clone(), frame(DATA, 0, 1, b"{}"), trailers(&[(":path", token)])].concat(),
        [open.clone(), frame(DATA, END_STREAM | PADDED, 1, &[&[255], t].concat())].concat(),
        [open.clone(), frame(GOAWAY, 0, 0, &[&[0; 4], &code[..], t].concat())].concat(),
        frame(GOAWAY, 0, 0, &[&[0; 4], &code[..], t].concat()),
        frame(GOAWAY, 0, 1, &[&[0; 4], &code[..], t].concat()),
        frame(PUSH_PROMISE, END_HEADERS, 1, &[&[0, 0, 0, 2], post.as_slice()].concat()),
        frame(PING, 0, 0, &t[..8]),
        frame(PING, 0, 0, t),
        frame(SETTINGS, 0, 0, t),
        frame(RST_STREAM, 0, 1, t),
        frame(PRIORITY, 0, 1, t),
        frame(WINDOW_UPDATE, 0, 0, t),
        frame(ALTSVC, 0, 0, t),
        frame(PRIORITY_UPDATE, 0, 0, &[&[0, 0, 0, 1], t].concat()),
        frame(UNKNOWN, 0xff, 1, t),
        t.to_vec(),
        frame(HEADERS, END_STREAM, 1, &post),
        frame(HEADERS, END_HEADERS | END_STREAM, 1, t),
        [frame(HEADERS, END_STREAM, 1, &post[..20]), frame(CONTINUATION, END_HEADERS, 1, &post[20..])]
            .concat(),
        [frame(HEADERS, END_STREAM, 1, &post[..20]), frame(DATA, 0, 1, t)].concat(),
        [open.clone(), open].concat(),
    ]);
    streams
}

/// Handshakes that name the token. The client ends them, since the certificate is another's.
fn handshakes(server: &TlsTarget, token: &str) {
    let secret = token.rsplit('_').next().unwrap();
    let (first, second) = secret.split_at(secret.len() / 2);
    let mut protocols = (*server.client).clone();
    protocols.alpn_protocols = vec![token.as_bytes().to_vec()];
    let protocols = Arc::new(protocols);
    assert!(server.connect_to(&format!("{first}.{second}.test"), Arc::clone(&server.client)).is_err());
    // A server that has none of the client's protocols ends it, or goes on without one.
    let _ = server.connect_to("127.0.0.1", protocols);
    let _ = super::target::statuses(server.target.open(token.as_bytes()));
    let _ = super::target::statuses(server.target.open(format!("GET /{token} HTTP/1.1\r\n\r\n").as_bytes()));
}
