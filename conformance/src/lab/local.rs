use hyper::header::HOST;
use serde_json::json;

use super::exchange::{ProxiedRequest, Reply};
use super::upstream::{Handler, Upstream};
use crate::wire::is_loopback;

/// A layer for a listener of the loopback interface. It rejects requests for other hosts: a page in a browser can give its own
/// host an address of this machine, and would be allowed to read the responses.
#[derive(Debug)]
pub struct LocalOnly(pub Upstream);

impl Handler for LocalOnly {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        match wrong_host(&request) {
            // Not 403: the token has nothing to do with it.
            Some(reason) => Reply::json_with(421, &json!({"code": 42100, "message": reason})),
            None => self.0.call(&request).await,
        }
    }
}

/// Why a request is not for this machine.
pub(super) fn wrong_host(request: &ProxiedRequest) -> Option<&'static str> {
    let host = request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_here = url::Url::parse(&format!("http://{host}/")).is_ok_and(|url| is_loopback(&url));
    (!is_here).then_some("expected a Host of the loopback interface, such as 127.0.0.1 or localhost")
}
