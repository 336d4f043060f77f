//! One step of a scenario: what happens to a request and its response.

use std::time::{Duration, SystemTime};

use hyper::body::Bytes;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exchange::{Framing, ProxiedRequest, Reply};
use crate::journal::{Change, note};
use crate::rows::edit::{places, visit_all};
use crate::rows::row::Row;
use crate::upstream::Handler;

/// What happens to a number of requests. Without any of its actions they pass unchanged.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    /// Number of requests. Default: 1.
    pub(super) times: Option<u32>,
    pub(super) is_forever: bool,
    /// Share of them that it happens to; the others pass unchanged. Default: all.
    pub(super) probability: Option<f64>,
    pub(super) row: Option<&'static Row>,
    pub(super) delay: Option<Duration>,
    /// HTTP status of a response that the lab makes; nothing is sent to the upstream then.
    pub(super) status: Option<u16>,
    /// Business code of such a response. Default: a hundred times its status. Without a status, that is 200.
    pub(super) code: Option<Value>,
    pub(super) message: Option<String>,
    pub(super) body: Option<String>,
    /// Redirects to this URL, with the path of the request unless the URL has one.
    pub(super) redirect: Option<url::Url>,
    /// Redirects with the query of the request, too, and so with a token in it.
    pub(super) redirect_query: bool,
    pub(super) retry_after: Option<u64>,
    /// The same as an HTTP date, this many seconds after the response, rounded up to a whole second.
    pub(super) retry_after_date: Option<u64>,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) duplicate_headers: bool,
    /// Adds a field that no document has to each object.
    pub(super) unknown_fields: bool,
    /// Gives each instance a status and a protocol that no document has.
    pub(super) unknown_values: bool,
    /// Sends each number but the business code as text.
    pub(super) numbers_as_text: bool,
    pub(super) close: bool,
    pub(super) framing: Option<Framing>,
}

/// A step at work. Its context passes requests on.
pub(super) struct StepServer {
    pub(super) name: String,
    pub(super) step: Step,
    pub(super) context: Context,
}

impl Handler for StepServer {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        if let Some(delay) = self.step.delay {
            let what = vec![format!("waited {} ms", delay.as_millis())];
            note(Change { by: self.name.clone(), what });
            tokio::time::sleep(delay).await;
        }
        let mut reply = match self.step.made(&request) {
            Some(made) => made,
            None => self.context.upstream.call(&request).await,
        };
        self.step.change(&mut reply);
        reply
    }
}

impl Step {
    /// Whether HTTP gives responses with this status no body.
    pub(super) fn is_without_body(status: u16) -> bool {
        matches!(status, 204 | 205 | 304)
    }

    /// The response that the lab makes, if the step asks for one.
    fn made(&self, request: &ProxiedRequest) -> Option<Reply> {
        if let Some(url) = &self.redirect {
            let mut url = url.clone();
            if url.path() == "/" {
                url.set_path(&request.path);
            }
            if self.redirect_query {
                url.set_query(request.query.as_deref());
            }
            let status = self.status.unwrap_or(307);
            let mut reply = Reply::json_with(status, &json!({"code": 30700, "message": "moved"}));
            reply.set_header(LOCATION.as_str(), url.as_str());
            return Some(reply);
        }
        if self.status.is_none() && self.code.is_none() && self.body.is_none() {
            return None;
        }
        let status = self.status.unwrap_or(200);
        let code = self.code.clone().unwrap_or_else(|| json!(i64::from(status) * 100));
        let message = self.message.as_deref().unwrap_or("a response of the fault lab");
        let mut reply = Reply::json_with(status, &json!({"code": code, "message": message}));
        if let Some(body) = &self.body {
            reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
            reply.body = body.clone().into();
        }
        if Self::is_without_body(status) {
            reply.headers.remove(CONTENT_TYPE);
            reply.body = Bytes::new();
        }
        Some(reply)
    }

    fn change(&self, reply: &mut Reply) {
        let after = self.retry_after.map(|seconds| seconds.to_string());
        if let Some(after) = after.or_else(|| self.retry_after_date.map(date_after)) {
            reply.set_header(RETRY_AFTER.as_str(), &after);
        }
        if self.unknown_fields {
            reply.edit(|body| visit_all(body, &mut add_field));
        }
        if self.unknown_values {
            reply.edit(|body| {
                for status in places(body, "/data/items/*/status") {
                    *status = json!("lab-unknown");
                }
                let protocols = places(body, "/data/items/*/protocols").into_iter();
                for protocols in protocols.filter_map(Value::as_array_mut) {
                    protocols.push(json!("lab-unknown"));
                }
            });
        }
        if self.numbers_as_text {
            reply.edit(|body| {
                let code = body.get("code").cloned();
                visit_all(body, &mut number_to_text);
                if let (Some(code), Some(object)) = (code, body.as_object_mut()) {
                    object.insert("code".to_owned(), code);
                }
            });
        }
        if let Some(value) = &self.content_type {
            reply.headers.insert(CONTENT_TYPE, value.clone());
        }
        for (name, value) in &self.headers {
            reply.headers.append(name, value.clone());
        }
        if self.duplicate_headers {
            for (name, value) in &reply.headers.clone() {
                reply.headers.append(name, value.clone());
            }
        }
        if self.close {
            reply.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(framing) = self.framing {
            reply.framing = framing;
        }
    }
}

fn date_after(seconds: u64) -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let whole = since.as_secs() + u64::from(since.subsec_nanos() > 0) + seconds;
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(whole))
}

fn add_field(value: &mut Value) {
    if let Value::Object(object) = value {
        object.insert("labUnknown".to_owned(), json!({"nested": [1, null, "text"]}));
    }
}

fn number_to_text(value: &mut Value) {
    if let Value::Number(number) = value {
        *value = Value::String(number.to_string());
    }
}
