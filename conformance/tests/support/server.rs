//! A server for tests on a real socket of the loopback interface, which does with each connection what a test wants.

use std::io::{Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A server that does the same to everybody. Its threads end with the test.
pub(crate) struct TestServer {
    address: SocketAddr,
    counts: Arc<Counts>,
}

/// What a server has seen.
#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    requests: AtomicUsize,
    /// For how long nobody listens after the next connection.
    pause: Mutex<Option<Duration>>,
}

/// The first request on a connection.
pub(crate) struct Request<'a> {
    /// The request line and the headers.
    pub(crate) head: &'a str,
    pub(crate) body: &'a str,
    pause: &'a dyn Fn(Duration),
}

impl Request<'_> {
    /// Stops listening for this time. Returns once nobody listens.
    pub(crate) fn stop_listening(&self, time: Duration) {
        (self.pause)(time);
    }
}

impl TestServer {
    pub(crate) fn start(
        behaviour: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::start_reading(move |stream, _| behaviour(stream))
    }

    /// The same for one that looks at the request.
    pub(crate) fn start_reading(
        behaviour: impl Fn(&mut TcpStream, &Request<'_>) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let mut listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        let behaviour = Arc::new(behaviour);
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let pause = counts.pause.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(time) = pause {
                    drop(listener);
                    drop(stream);
                    std::thread::sleep(time);
                    listener = TcpListener::bind(address).expect("its own port");
                    continue;
                }
                counts.connections.fetch_add(1, Ordering::SeqCst);
                let (behaviour, counts) = (Arc::clone(&behaviour), Arc::clone(&counts));
                std::thread::spawn(move || {
                    let Ok((head, body)) = read_request(&mut stream) else { return };
                    counts.requests.fetch_add(1, Ordering::SeqCst);
                    // The listener waits for a connection; it is dropped before the end of this one can be read.
                    let pause = |time| {
                        *counts.pause.lock().unwrap_or_else(PoisonError::into_inner) = Some(time);
                        if let Ok(mut wake) = TcpStream::connect(address) {
                            let _ = wake.read(&mut [0; 1]);
                        }
                    };
                    let request = Request { head: &head, body: &body, pause: &pause };
                    // A client that has had enough hangs up, which is what many of these are for.
                    let _ = behaviour(&mut stream, &request);
                });
            }
        });
        Self { address, counts: counted }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> usize {
        self.counts.requests.load(Ordering::SeqCst)
    }
}

/// A port on which nobody listens.
pub(crate) fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound")
}

/// A whole response; the connection closes after it.
pub(crate) fn response(
    stream: &mut TcpStream,
    status: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(body)
}

/// A response that a client takes for JSON.
pub(crate) fn json(stream: &mut TcpStream, body: &[u8]) -> std::io::Result<()> {
    response(stream, "200 OK", &[("Content-Type", "application/json")], body)
}

/// A listing of groups in this order, as the contract wants it but perhaps for the order.
pub(crate) fn groups(stream: &mut TcpStream, ids: &[u32]) -> std::io::Result<()> {
    let moment = "2026-01-01T00:00:00Z";
    let group =
        |id: &u32| serde_json::json!({"groupId": id, "name": "g", "createdAt": moment, "updatedAt": moment});
    let items: Vec<_> = ids.iter().map(group).collect();
    let body = serde_json::json!({"code": 200, "message": "ok", "requestId": "r", "data": {"items": items}});
    let headers =
        [("Content-Type", "application/json"), ("Cache-Control", "no-store"), ("X-Request-Id", "r")];
    response(stream, "200 OK", &headers, body.to_string().as_bytes())
}

pub(crate) fn hang(stream: &mut TcpStream) -> std::io::Result<()> {
    // Until the client hangs up; nothing more comes before that.
    stream.read(&mut [0; 1]).map(drop)
}

/// A chunked response whose body repeats this without end.
pub(crate) fn endless(stream: &mut TcpStream, body: &str) -> std::io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    )?;
    loop {
        stream.write_all(body.as_bytes())?;
    }
}

pub(crate) fn drip(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")?;
    loop {
        stream.write_all(b"x")?;
        stream.flush()?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The head and the body of a request.
pub(crate) fn read_request(stream: &mut TcpStream) -> std::io::Result<(String, String)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = stream.read(&mut chunk)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&chunk[..read]);
        // A handshake of TLS, which has no head.
        if bytes[0] == 0x16 {
            return Ok(Default::default());
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if bytes.len() >= head.len() + 4 + length.unwrap_or(0) {
            return Ok((head.to_owned(), body.to_owned()));
        }
    }
}
