//! HTTP/1.1 by hand, so that requests can be as wrong as a test wants them.

use std::{
    io::{Read, Write},
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

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The whole response as text, to look for things that must not be in it.
    pub(crate) fn whole(&self) -> String {
        format!("{:?} {}", self.headers, self.body)
    }
}

/// Sends `head` (request line and headers without the last blank line) and `body`, and reads the response.
pub(crate) fn send(address: SocketAddr, head: &str, body: &[u8]) -> Response {
    let head = format!("{head}\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    read(exchange(address, &[head.as_bytes(), body]))
}

/// Writes parts of a request and leaves the connection open.
pub(crate) fn exchange(address: SocketAddr, parts: &[&[u8]]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    for part in parts {
        stream.write_all(part).unwrap();
    }
    stream
}

/// Reads one response up to the end of its declared length.
pub(crate) fn read(mut stream: impl Read) -> Response {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(response) = parse(&bytes) {
            return response;
        }
        let count = stream.read(&mut buffer).unwrap_or_else(|error| panic!("no whole response: {error}"));
        assert!(
            count > 0,
            "the connection ended without a whole response: {:?}",
            String::from_utf8_lossy(&bytes)
        );
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
