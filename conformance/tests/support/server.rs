//! What servers of tests do with a connection, on real sockets of the loopback interface.

use std::io::{Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

pub(crate) fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound")
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
