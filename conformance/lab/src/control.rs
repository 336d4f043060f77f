//! The control endpoint of a lab, scenarios and the journal over HTTP on an address of its own, and what keeps web pages out.

use std::path::Path;
use std::sync::Arc;

use hyper::Method;
use hyper::header::{HOST, ORIGIN};
use sallyport_conformance_base::plain::plain;
use sallyport_conformance_base::wire::is_loopback;
use serde_json::{Value, json};

use super::exchange::{ProxiedRequest, Reply};
use super::journal::Journal;
use super::scenario::Scenarios;
use super::upstream::{Handler, Upstream};

const HELP: &str = "\
GET /scenarios           names of the scenarios, and how far each run of them is
PUT /scenarios           replace them by the TOML of the body, and begin anew
POST /reset              begin all scenarios anew
POST /reset?scenario=X   begin the scenario X with all its runs anew, or the run X
GET /log                 the latest 1,000 requests and what was changed where
DELETE /log              empty it
";

/// Serves the control endpoint; give it to a [`Proxy`](super::Proxy) on the loopback interface.
///
/// It needs no token and shows none. Requests of web pages (with Origin) and for other hosts are rejected, so that no page in
/// a browser can reach it.
#[derive(Debug)]
pub struct Control {
    scenarios: Arc<Scenarios>,
    journal: Arc<Journal>,
}

impl Control {
    /// The endpoint of a lab with these scenarios and this journal.
    pub fn new(scenarios: &Arc<Scenarios>, journal: &Arc<Journal>) -> Self {
        Self { scenarios: Arc::clone(scenarios), journal: Arc::clone(journal) }
    }
}

impl Handler for Control {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        if request.headers.contains_key(ORIGIN) {
            return message(403, "expected no Origin: web pages may not use this endpoint");
        }
        if let Some(reason) = wrong_host(&request) {
            return message(403, reason);
        }
        // A misspelt parameter would mean all scenarios, those of parallel tests, too.
        let takes = (request.path == "/reset").then_some("scenario");
        if let Some((other, _)) = request.params().iter().find(|(name, _)| takes != Some(name)) {
            let known = takes.unwrap_or("none");
            return message(400, &format!("unknown parameter `{}`; expected {known}", plain(other)));
        }
        match (&request.method, request.path.as_str()) {
            (&Method::GET, "/") => {
                let mut reply = Reply::json_with(200, &Value::Null);
                reply.set_header("content-type", "text/plain; charset=utf-8");
                reply.body = HELP.into();
                reply
            }
            (&Method::GET, "/scenarios") => {
                let body = json!({"scenarios": self.scenarios.names(), "playing": self.scenarios.progress()});
                Reply::json_with(200, &body)
            }
            (&Method::PUT, "/scenarios") => {
                let Ok(toml) = std::str::from_utf8(&request.body) else {
                    return message(400, "expected TOML in UTF-8");
                };
                if toml.trim().is_empty() {
                    return message(400, "expected the TOML of the scenarios; the body is empty");
                }
                match self.scenarios.replace(Path::new("body"), toml) {
                    Ok(()) => Reply::json_with(200, &json!({"scenarios": self.scenarios.names()})),
                    Err(error) => message(400, &error.to_string()),
                }
            }
            (&Method::POST, "/reset") => {
                let (scenario, names) = (request.param("scenario"), self.scenarios.names());
                let is_of = |run: &str| names.iter().any(|name| run.split('/').next() == Some(name));
                if let Some(unknown) = scenario.as_deref().filter(|run| !is_of(run)) {
                    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    let unknown = plain(unknown);
                    return message(400, &format!("unknown scenario `{unknown}`; expected one of: {known}"));
                }
                Reply::json_with(200, &json!({"reset": self.scenarios.reset(scenario.as_deref())}))
            }
            (&Method::GET, "/log") => Reply::json_with(200, &json!({"requests": self.journal.entries()})),
            (&Method::DELETE, "/log") => {
                self.journal.clear();
                Reply::json_with(200, &json!({}))
            }
            _ => message(404, "unknown method or path; GET / lists them"),
        }
    }
}

fn message(status: u16, message: &str) -> Reply {
    Reply::json_with(status, &json!({"message": message}))
}

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
fn wrong_host(request: &ProxiedRequest) -> Option<&'static str> {
    let host = request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_here = url::Url::parse(&format!("http://{host}/")).is_ok_and(|url| is_loopback(&url));
    (!is_here).then_some("expected a Host of the loopback interface, such as 127.0.0.1 or localhost")
}
