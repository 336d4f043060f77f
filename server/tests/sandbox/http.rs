//! Requests to a sandbox.

use std::net::SocketAddr;

use sallyport_server::{
    api::generated::{ListStaticGroups, SearchStaticInstances},
    domain::token::Token,
    edge::operation::Operation as _,
    sandbox::Sandbox,
};
use serde_json::Value;

use super::wire::{Response, ask};

/// Sends a request with these further lines of its head, and reads its response.
pub(crate) async fn call(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[&str],
    body: &str,
) -> Response {
    let headers: String = headers.iter().map(|line| format!("\r\n{line}")).collect();
    let head = format!("{method} {target} HTTP/1.1{headers}\r\nContent-Length: {}", body.len());
    ask(address, head, body.as_bytes().to_vec()).await.unwrap()
}

pub(crate) async fn get(sandbox: &Sandbox, target: &str) -> Response {
    call(sandbox.server().address(), "GET", target, &[], "").await
}

pub(crate) async fn groups(sandbox: &Sandbox, token: &Token) -> Response {
    get(sandbox, &format!("{}?api_key={}", ListStaticGroups::PATH, token.expose())).await
}

pub(crate) async fn search(sandbox: &Sandbox, token: &Token, body: &Value) -> Response {
    let target = format!("{}?api_key={}", SearchStaticInstances::PATH, token.expose());
    let json = ["Content-Type: application/json"];
    call(sandbox.server().address(), "POST", &target, &json, &body.to_string()).await
}
