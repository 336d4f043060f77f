//! Requests of scripts, each on a connection of its own.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// When a caller is done with a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The response closes it.
    Close,
    /// With the head of the response, which could keep it open.
    Keep,
    /// After two seconds, whatever came.
    Leave,
}

pub(crate) struct Request {
    pub(crate) address: String,
    /// The request line and the headers.
    pub(crate) head: String,
    pub(crate) body: String,
    /// Whether the response may not show the tokens of accounts.
    pub(crate) is_private: bool,
}

impl Request {
    /// `groups|extract [?QUERY] [NAME:VALUE …]` to the lab with its token, `control METHOD PATH [NAME:VALUE …]` to its control endpoint,
    /// and `get NAME REQUEST [NAME:VALUE …]` to a program, by the names of addresses and tokens. A request line with a version stands
    /// without headers.
    pub(crate) fn new(words: &[&str], texts: &BTreeMap<String, String>) -> Self {
        let (name, line, rest) = match words {
            ["groups", rest @ ..] => ("lab", "GET /openapi/v1/static/groups".to_owned(), rest),
            ["extract", rest @ ..] => ("lab", "GET /openapi/v1/proxy/extract".to_owned(), rest),
            ["control", method, path, rest @ ..] => ("lab:control", format!("{method} {path}"), rest),
            ["get", name, line, rest @ ..] => (*name, (*line).to_owned(), rest),
            other => panic!("no request: {other:?}"),
        };
        let address =
            texts[name].trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned();
        let is_private = name.ends_with(":control");
        if line.contains("HTTP/") {
            return Self { address, head: line, body: String::new(), is_private };
        }
        let token = if ["groups", "extract"].contains(&words[0]) {
            format!("?api_key={}", texts["lab:token"])
        } else {
            String::new()
        };
        let (query, headers): (Vec<&str>, Vec<&str>) = rest.iter().partition(|word| word.starts_with('?'));
        let query: String = query.iter().map(|pair| format!("&{}", &pair[1..])).collect();
        let mut head = format!("{line}{token}{query} HTTP/1.1\r\n");
        if !headers.iter().any(|header| header.starts_with("host:")) {
            head.push_str(&format!("host: {address}\r\n"));
        }
        for header in headers {
            let (name, value) = header.split_once(':').expect("a header");
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        Self { address, head: head.trim_end().to_owned(), body: String::new(), is_private }
    }

    /// The status of the response, and all that came, with its length and how the connection ended.
    pub(crate) fn send(&self, ending: Ending) -> (Option<i32>, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let time = Duration::from_secs(if ending == Ending::Leave { 2 } else { 20 });
        stream.set_read_timeout(Some(time)).expect("a timeout");
        let Self { head, body, .. } = self;
        let length =
            if body.is_empty() { String::new() } else { format!("\r\ncontent-length: {}", body.len()) };
        let close =
            if ending == Ending::Keep || head.ends_with("HTTP/1.0") { "" } else { "\r\nconnection: close" };
        write!(stream, "{head}{length}{close}\r\n\r\n{body}").expect("sent");
        let mut bytes = Vec::new();
        let ended = if ending == Ending::Keep {
            while !bytes.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("a head");
                bytes.extend(byte);
            }
            "open"
        } else {
            match stream.read_to_end(&mut bytes).map_err(|error| error.kind()) {
                Ok(_) => "closed",
                Err(ErrorKind::ConnectionReset) => "reset",
                Err(ErrorKind::WouldBlock | ErrorKind::TimedOut) => "left",
                Err(other) => panic!("{other}"),
            }
        };
        // A variation compresses bodies.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            return (None, format!("{text}(nothing, {ended})"));
        };
        let declared = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
        });
        let difference = match declared.map(|declared| (declared > body.len(), declared.abs_diff(body.len())))
        {
            None => "undeclared".to_owned(),
            Some((_, 0)) => "as declared".to_owned(),
            Some((true, bytes)) => format!("{bytes} less than declared"),
            Some((false, bytes)) => format!("{bytes} more than declared"),
        };
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status, format!("{text}\n({} bytes, {difference}, {ended})", body.len()))
    }
}
