//! What both static operations share: the envelope, its headers, and rejections.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::behaviour::Tags;
use super::{Reject, Reply, Server, http};

impl Server {
    pub(super) fn static_error(&self, operation: &str, reject: &Reject, tags: &Tags) -> Reply {
        let (status, code) = self.rejection(reject);
        let body = json!({ "code": code, "message": reject.message, "requestId": "r-e" });
        let body = self.told(&format!("{operation}-error"), body, tags, &Value::Null);
        if self.on(&format!("{operation}-error-is-success"), tags) {
            let page = json!({ "items": [], "page": 1, "pageSize": 20, "total": 0 });
            return self.static_success(operation, page, tags);
        }
        self.rejected("static-error", status, &body, tags)
    }

    pub(super) fn static_success(&self, operation: &str, data: Value, tags: &Tags) -> Reply {
        let id = format!("req-{:06}", self.count("request id"));
        let is_empty = data["items"].as_array().is_some_and(Vec::is_empty);
        let body = json!({ "code": 200, "message": "success", "requestId": id, "data": data });
        let mut body = self.told(operation, body, tags, &Value::Null);
        if is_empty {
            body = self.told(&format!("empty-{operation}"), body, tags, &Value::Null);
        }
        let reply = http::with(http::json(200, &body), "cache-control", "no-store");
        let reply = http::with(reply, "x-request-id", &id);
        let mut reply = self.told_reply(&format!("{operation}-reply"), reply, tags, &Value::Null);
        if is_empty {
            reply = self.told_reply(&format!("empty-{operation}-reply"), reply, tags, &Value::Null);
        }
        if reply.status == StatusCode::NO_CONTENT {
            reply.body.clear();
        }
        reply
    }
}
