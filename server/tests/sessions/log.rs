//! Tokens in every place of a request, while everything that can be logged is logged: neither a response nor the log shows one.

use std::{fmt::Write as _, net::TcpStream, thread};

use sallyport_server::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    edge::operation::Operation,
};

use super::{Session, Stream, sockets::statuses};
use crate::support::tls_client::{client, handshake};

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

fn over_http1(format: &str) {
    let mut session = Session::new(None);
    session.step("log", &format!("run --body-timeout 1 --log trace --log-format {format}"));
    for requests in http1(&session.names["main"]).chunks(AT_ONCE) {
        thread::scope(|scope| {
            for request in requests {
                let connection = session.connect(0, "plain");
                scope.spawn(|| send(connection, request));
            }
        });
    }
    session.play("log", "GET {groups} => 200\nunharmed");
    let log = session.log();
    for said in ["succeeded", "rejected: ", ListStaticGroups::ID, "request completed"] {
        assert!(log.contains(said), "the log does not say {said:?}");
    }
    assert_silent(&log, &session.names["main"], format);
}

/// Sends bytes, and waits for the end of the connection or until nothing more comes.
fn send((mut stream, socket): (Box<dyn Stream>, TcpStream), bytes: &[u8]) {
    // The server may hang up before it has read all of it.
    let _ = stream.write_all(bytes);
    statuses(socket);
}

#[test]
fn no_level_logs_a_token_of_a_handshake() {
    let mut session = Session::new(None);
    session.step("log", "certificate");
    session.step(
        "log",
        "run --body-timeout 1 --log trace --log-format json --tls-cert chain.pem --tls-key key.pem",
    );
    let token = session.names["main"].clone();
    handshakes(&session, &token);
    session.play("log", "unharmed");
    let log = session.log();
    assert!(log.contains("tls accept err"), "the log says nothing of handshakes that failed");
    assert_silent(&log, &token, "json");
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

/// Requests of HTTP/1 that have the token somewhere. `heads.txt` has their heads, in every spelling and, after an empty line, bare; then
/// bodies, requests for each of these, and others.
fn http1(token: &str) -> Vec<Vec<u8>> {
    let (groups, extract, search) =
        (ListStaticGroups::PATH, ExtractProxies::PATH, SearchStaticInstances::PATH);
    let end = "HTTP/1.1\r\nHost: x\r\nConnection: close";
    let in_text = |head: &str, t: &str| {
        let names = [
            ("{call}", "POST {search}?api_key={token} {end}\r\nContent-Type: application/json"),
            ("{groups}", groups),
            ("{extract}", extract),
            ("{search}", search),
            ("{end}", end),
            ("{token}", token),
            ("{t}", t),
        ];
        names.into_iter().fold(marked(head), |head, (name, value)| head.replace(name, value))
    };
    let parts: Vec<_> = include_str!("heads.txt").split("\n\n").collect();
    let [spelled, bare, bodies, framed, calls] = parts[..] else { panic!("five parts") };
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
    for t in spellings(token) {
        for body in bodies.lines().map(|body| in_text(body, &t)) {
            let (length, hex) = (body.len().to_string(), format!("{:x}", body.len()));
            let filled = |call: &str| {
                let call = in_text(call, &t).replace("{length}", &length).replace("{hex}", &hex);
                call.replace("{body}", &body).into_bytes()
            };
            requests.extend(framed.lines().map(filled));
        }
        requests.extend(calls.lines().map(|call| in_text(call, &t).into_bytes()));
        requests.push([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", t.as_bytes()].concat());
    }
    requests
}

/// Handshakes that name the token. The client ends the first, since the certificate is another's.
fn handshakes(session: &Session, token: &str) {
    let secret = token.rsplit('_').next().unwrap();
    let (first, second) = secret.split_at(secret.len() / 2);
    let trusted = session.trusted.as_ref().unwrap();
    let connect = |name: &str, protocol: &str| {
        handshake(session.connect(0, "plain").1, name, &client(trusted.clone(), &[protocol]))
    };
    assert!(connect(&format!("{first}.{second}.test"), "h2").is_err());
    // A server that has none of the client's protocols ends it, or goes on without one.
    let _ = connect("127.0.0.1", token);
    send(session.connect(0, "plain"), token.as_bytes());
    send(session.connect(0, "plain"), format!("GET /{token} HTTP/1.1\r\n\r\n").as_bytes());
}

/// The text in which pictures of control characters stand for these.
fn marked(text: &str) -> String {
    let pictures = [('␍', "\r"), ('␊', "\n"), ('␋', "\u{b}"), ('␀', "\0"), ('␛', "\u{1b}")];
    pictures.into_iter().fold(text.to_owned(), |text, (picture, letter)| text.replace(picture, letter))
}
