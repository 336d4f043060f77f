//! Requests over plain sockets.

use std::net::SocketAddr;

use sallyport_server::{
    api::generated::{ListStaticGroups, SearchStaticInstances},
    domain::token::Token,
    edge::operation::Operation as _,
    sandbox::Sandbox,
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// A response.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

/// Sends a request and reads its response. A header `host` replaces the address.
pub(crate) async fn call(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut head =
        format!("{method} {target} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if headers.iter().all(|(name, _)| *name != "host") {
        head.push_str(&format!("host: {address}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let (head, text) = response.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Response { status, head: head.to_owned(), text: text.to_owned() }
}

pub(crate) async fn get(sandbox: &Sandbox, target: &str) -> Response {
    call(sandbox.server().address(), "GET", target, &[], "").await
}

pub(crate) async fn groups(sandbox: &Sandbox, token: &Token) -> Response {
    get(sandbox, &format!("{}?api_key={}", ListStaticGroups::PATH, token.expose())).await
}

pub(crate) async fn search(sandbox: &Sandbox, token: &Token, body: &Value) -> Response {
    let target = format!("{}?api_key={}", SearchStaticInstances::PATH, token.expose());
    let json = [("content-type", "application/json")];
    call(sandbox.server().address(), "POST", &target, &json, &body.to_string()).await
}
