//! HTTP/1.1 by hand, so that requests can be as wrong as a test wants them.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// A response as it came.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    /// The header of that name in lower case, which must not come twice.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let value = values.next();
        assert_eq!(values.next(), None, "{name} came twice: {self:?}");
        value
    }

    /// The headers and the body.
    pub(crate) fn text(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
        headers.chain(["\n".to_owned(), self.body.clone()]).collect()
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Sends `head` (request line and headers without the last blank line) and `body` off the runtime's threads, and reads the response, unless
/// the server goes away.
pub(crate) async fn ask(address: SocketAddr, head: String, body: Vec<u8>) -> io::Result<Response> {
    let asked = move || {
        let head = format!("{head}\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        // In one piece: a server that answers the head and closes before it has the body resets the connection.
        try_read(open(address, &[&[head.as_bytes(), &body].concat()])?)
    };
    tokio::task::spawn_blocking(asked).await.unwrap()
}

fn open(address: SocketAddr, parts: &[&[u8]]) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    parts.iter().try_for_each(|part| stream.write_all(part))?;
    Ok(stream)
}

/// Writes parts of a request and leaves the connection open.
pub(crate) fn exchange(address: SocketAddr, parts: &[&[u8]]) -> TcpStream {
    open(address, parts).unwrap()
}

/// Reads one response up to the end of its declared length.
pub(crate) fn read(stream: impl Read) -> Response {
    try_read(stream).unwrap_or_else(|error| panic!("no whole response: {error}"))
}

fn try_read(mut stream: impl Read) -> io::Result<Response> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(response) = parse(&bytes) {
            return Ok(response);
        }
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Err(io::Error::other(format!("it ended with {:?}", String::from_utf8_lossy(&bytes))));
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
}

fn parse(bytes: &[u8]) -> Option<Response> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let (line, headers) = head.split_once("\r\n").unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<_> = headers
        .split("\r\n")
        .map(|header| header.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().unwrap());
    let body = bytes.get(end + 4..end + 4 + length)?;
    Some(Response { status, headers, body: String::from_utf8(body.to_vec()).unwrap() })
}
