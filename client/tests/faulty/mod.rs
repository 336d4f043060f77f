//! A server on a loopback socket that replies as a script or a function says, one reply per request, and records the requests.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use sallyport_client::{Client, ClientBuilder, RetryPolicy};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// The token of every test; it must turn up nowhere but in requests.
pub(crate) const CANARY: &str = "canary/T0ken+9";

/// What the server does with one request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Sends these bytes and closes.
    Raw(Vec<u8>),
    /// Sends nothing and keeps the connection.
    Hang,
    /// Sends these pieces, with this pause after each, and closes.
    Pieces(Vec<Vec<u8>>, Duration),
    /// Sends these bytes after this pause, and keeps the connection for the next request.
    Kept(Vec<u8>, Duration),
}

/// The reply on a connection that is kept alive, although nothing in it says so.
pub(crate) fn kept(reply: Reply) -> Reply {
    let Reply::Raw(bytes) = reply else { panic!("a reply of bytes") };
    let text = String::from_utf8(bytes).unwrap();
    Reply::Kept(text.replace("connection: close\r\n", "").into_bytes(), Duration::ZERO)
}

/// A response with a body and its length.
pub(crate) fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut head =
        format!("HTTP/1.1 {status} Some\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    Reply::Raw(format!("{head}\r\n{body}").into_bytes())
}

/// A JSON response under status 200.
pub(crate) fn ok(body: &str) -> Reply {
    reply(200, &[("content-type", "application/json")], body)
}

/// A plain-text response under status 200.
pub(crate) fn plain_text(body: &str) -> Reply {
    reply(200, &[("content-type", "text/plain")], body)
}

/// A successful extraction of one gateway.
pub(crate) fn one_gateway() -> Reply {
    ok(
        r#"{"code":0,"success":true,"msg":"ok","data":[{"ip":"gw.invalid","port":80}],"request_ip":"127.0.0.1"}"#,
    )
}

/// A success of a static operation with these items, on the only page.
pub(crate) fn items(items: &str, total: i64) -> Reply {
    ok(&format!(
        r#"{{"code":200,"message":"ok","requestId":"r","data":{{"items":[{items}],"page":1,"pageSize":20,"total":{total}}}}}"#
    ))
}

/// A successful listing without groups.
pub(crate) fn no_groups() -> Reply {
    ok(r#"{"code":200,"message":"ok","requestId":"r","data":{"items":[]}}"#)
}

pub(crate) struct FaultyServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl FaultyServer {
    /// Starts the server; past the end of the script the last reply is given again.
    pub(crate) async fn start(script: Vec<Reply>) -> Self {
        Self::with(move |number, _| script[number.min(script.len() - 1)].clone()).await
    }

    /// Starts the server, which replies to the request of a number, from 0, and of a text as `respond` says.
    pub(crate) async fn with(respond: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Self {
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
            .retry(RetryPolicy {
                max_retries: 2,
                initial_backoff: Duration::from_millis(5),
                max_backoff: Duration::from_secs(2),
                max_retry_after: None,
            })
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    respond: &(impl Fn(usize, &str) -> Reply + Sync),
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
        let _ = match &reply {
            Reply::Raw(bytes) => stream.write_all(bytes).await,
            Reply::Hang => {
                let mut end = [0];
                stream.read(&mut end).await.map(|_| ())
            }
            Reply::Pieces(pieces, pause) => send_pieces(&mut stream, pieces, *pause).await,
            Reply::Kept(bytes, pause) => {
                tokio::time::sleep(*pause).await;
                let _ = stream.write_all(bytes).await;
                continue;
            }
        };
        return;
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

async fn send_pieces(stream: &mut TcpStream, pieces: &[Vec<u8>], pause: Duration) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    for piece in pieces {
        stream.write_all(piece).await?;
        tokio::time::sleep(pause).await;
    }
    Ok(())
}
