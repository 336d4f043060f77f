//! Small servers that misbehave, each in one way, on real sockets of the loopback interface.

use std::io::{Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What a server does with each connection once it has read the head of a request.
pub(crate) type Behaviour = fn(&mut TcpStream) -> std::io::Result<()>;

/// A server that does the same to everybody. Its thread ends with the test.
pub(crate) struct MisbehavingServer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl MisbehavingServer {
    pub(crate) fn start(
        behaviour: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::start_reading(move |stream, _| behaviour(stream))
    }

    /// The same for one that looks at the head of a request.
    pub(crate) fn start_reading(
        behaviour: impl Fn(&mut TcpStream, &str) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let behaviour = Arc::new(behaviour);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                count.fetch_add(1, Ordering::SeqCst);
                let behaviour = Arc::clone(&behaviour);
                std::thread::spawn(move || {
                    if let Ok(head) = read_head(&mut stream) {
                        // A client that has had enough hangs up, which is what many of these are for.
                        let _ = behaviour(&mut stream, &head);
                    }
                });
            }
        });
        Self { address, connections }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
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

pub(crate) fn garbage(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"\x16\x03\x01 nothing of this is HTTP \xff\xfe\r\n\r\n")
}

pub(crate) fn close(_: &mut TcpStream) -> std::io::Result<()> {
    Ok(())
}

pub(crate) fn endless(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    )?;
    let chunk = [b"10000\r\n".as_slice(), &vec![b' '; 0x10000], b"\r\n"].concat();
    loop {
        stream.write_all(&chunk)?;
    }
}

pub(crate) fn ten_megabytes(stream: &mut TcpStream) -> std::io::Result<()> {
    json(stream, format!(r#"{{"code": 500, "message": "{}"}}"#, "x".repeat(10_000_000)).as_bytes())
}

/// A small text that takes fifty times its length once it is parsed.
pub(crate) fn numbers(stream: &mut TcpStream) -> std::io::Result<()> {
    json(stream, format!("[{}0]", "0,".repeat(500_000)).as_bytes())
}

pub(crate) fn deep(stream: &mut TcpStream) -> std::io::Result<()> {
    json(stream, "[".repeat(500_000).as_bytes())
}

pub(crate) fn invalid_utf8(stream: &mut TcpStream) -> std::io::Result<()> {
    json(stream, b"{\"code\": 200, \"message\": \"\xff\xfe\xc0\"}")
}

pub(crate) fn truncated(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"code\": 2",
    )
}

pub(crate) fn a_page(stream: &mut TcpStream) -> std::io::Result<()> {
    response(stream, "200 OK", &[("Content-Type", "text/html")], b"<!doctype html><title>Welcome</title>")
}

pub(crate) fn drip(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")?;
    loop {
        stream.write_all(b"x")?;
        stream.flush()?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn read_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0; 1024];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let read = stream.read(&mut byte)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&byte[..read]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
