//! A server on a loopback socket that replies as a text or a function says, one reply per request, and records the requests.
//! `sessions/README.md` describes its replies.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use sallyport_client::{Client, ClientBuilder, RetryPolicy, testing::instance};
use serde_json::json;
use tokio::{
    io::{self, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::sleep,
};

/// The token of every test; it must turn up nowhere but in requests.
pub(crate) const CANARY: &str = "canary/T0ken+9";

/// Short waits.
pub(crate) const RETRIES: RetryPolicy = RetryPolicy {
    max_retries: 2,
    initial_backoff: Duration::from_millis(5),
    max_backoff: Duration::from_secs(2),
    max_retry_after: None,
};

pub(crate) struct FaultyServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl FaultyServer {
    /// Starts the server with the replies `REPLY | …`; past their end the last one is given again.
    pub(crate) async fn start(replies: &str) -> Self {
        let replies: Vec<String> = replies.split(" | ").map(str::to_owned).collect();
        Self::with(move |number, _| replies[number.min(replies.len() - 1)].clone()).await
    }

    /// Starts the server, which replies to the request of a number, from 0, and of a text as `respond` says.
    pub(crate) async fn with(respond: impl Fn(usize, &str) -> String + Send + Sync + 'static) -> Self {
        let respond = Arc::new(respond);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (record, respond) = (record.clone(), respond.clone());
                tokio::spawn(async move { serve(stream, respond.as_ref(), &record).await });
            }
        });
        Self { address, seen }
    }

    /// Every request so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A client set up for quick tests: short waits, short limits.
    pub(crate) fn builder(&self) -> ClientBuilder {
        Client::builder()
            .base_url(self.base_url())
            .token(CANARY)
            .request_timeout(Duration::from_millis(400))
            .total_timeout(Duration::from_secs(5))
            .retry(RETRIES)
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    respond: &(impl Fn(usize, &str) -> String + Sync),
    record: &Mutex<Vec<String>>,
) {
    while let Some(request) = read(&mut stream).await {
        let reply = {
            let mut seen = record.lock().unwrap();
            let reply = respond(seen.len(), &request);
            seen.push(request);
            reply
        };
        // A client that has had enough closes the connection; that is no failure of the script.
        if !send(&mut stream, &reply).await.unwrap_or(false) {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length = length.map_or(0, |length| length.parse::<usize>().unwrap());
            if body.len() >= length {
                return Some(text.into_owned());
            }
        }
        match stream.read(&mut buffer).await {
            Ok(count) if count > 0 => bytes.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    }
}

/// Sends a reply. Returns whether the connection is kept.
async fn send(stream: &mut TcpStream, reply: &str) -> io::Result<bool> {
    let (word, rest) = reply.split_once(' ').unwrap_or((reply, ""));
    let milliseconds = |text: &str| Duration::from_millis(number(text).try_into().unwrap());
    let length = |length| format!("content-length: {length}\r\n");
    let bytes = match word {
        "hang" => return stream.read(&mut [0]).await.map(|_| false),
        "close" => return Ok(false),
        "after" => {
            let (pause, rest) = rest.split_once(' ').unwrap();
            sleep(milliseconds(pause)).await;
            return Box::pin(send(stream, rest)).await;
        }
        "pieces" => {
            let [size, pause, rest] = rest.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{reply}") };
            stream.set_nodelay(true)?;
            for piece in response(rest, length).chunks(size.parse().unwrap()) {
                stream.write_all(piece).await?;
                sleep(milliseconds(pause)).await;
            }
            return Ok(false);
        }
        "bytes" => unescaped(rest),
        "unframed" => response(rest, |_| String::new()),
        "cut" => response(rest, |whole| length(whole + 500)),
        "kept" => response(rest, length),
        _ => response(reply, |whole| format!("{}connection: close\r\n", length(whole))),
    };
    stream.write_all(&bytes).await.map(|()| word == "kept")
}

/// The bytes of `STATUS BODY + HEADER: VALUE + …`, with what says where the body ends.
fn response(text: &str, framing: impl Fn(usize) -> String) -> Vec<u8> {
    let mut parts = text.split(" + ");
    let (status, body) = body(parts.next().unwrap());
    let headers: String = parts.map(|header| format!("{header}\r\n")).collect();
    let head = format!("HTTP/1.1 {status} X\r\n{}{headers}\r\n", framing(body.len()));
    [head.into_bytes(), body].concat()
}

fn body(text: &str) -> (&str, Vec<u8>) {
    let words: Vec<&str> = text.split(' ').collect();
    let envelope = |data| json!({"code": 200, "message": "ok", "requestId": "r", "data": data});
    let body = match words.as_slice() {
        ["gateway"] => {
            let data = json!([{"ip": "gw.invalid", "port": 80}]);
            json!({"code": 0, "success": true, "msg": "ok", "data": data, "request_ip": "127.0.0.1"})
        }
        ["groups", ids @ ..] => {
            let at = "2026-01-01T00:00:00Z";
            let group =
                |id: &&str| json!({"groupId": number(id), "name": "a", "createdAt": at, "updatedAt": at});
            envelope(json!({"items": ids.iter().map(group).collect::<Vec<_>>()}))
        }
        ["page", ids @ .., "of", total] => {
            let items: Vec<_> = ids.iter().map(|id| instance(number(id), "203.0.113.7", 1)).collect();
            envelope(json!({"items": items, "page": 1, "pageSize": 2, "total": number(total)}))
        }
        [status, ..] if status.parse::<u16>().is_ok() => {
            return (status, unescaped(text[status.len()..].trim_start()));
        }
        _ => panic!("unknown reply: {text}"),
    };
    ("200", body.to_string().into_bytes())
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("expected a number, found `{text}`"))
}

/// Bytes of a text with `\r`, `\n`, `\s` and `\xff`; other escapes, as those of JSON, stay.
pub(crate) fn unescaped(text: &str) -> Vec<u8> {
    let text = text.replace("\\r", "\r").replace("\\n", "\n").replace("\\s", " ");
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(&part.as_bytes()[2..]);
    }
    bytes
}
