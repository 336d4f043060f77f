//! What both static operations share: the envelope, its headers, and rejections.

use serde_json::{Value, json};

use super::behaviour::Tags;
use super::{Reject, Reply, Server};

impl Server {
    pub(super) fn static_error(&self, operation: &str, reject: &Reject, tags: &Tags) -> Reply {
        let (status, code) = self.rejection(reject);
        let mut body = json!({ "code": code, "message": reject.message, "requestId": "r-e" });
        if !reject.mark.is_empty() {
            body["reason"] = json!(reject.mark);
        }
        if self.on_part(operation, "password-in-error", tags) {
            body["debug"] = json!("password=pw-Secret00000x");
        }
        if self.on_part(operation, "error-is-success", tags) {
            let page = json!({ "items": [], "page": 1, "pageSize": 20, "total": 0 });
            return self.static_success(operation, page, tags);
        }
        let problem =
            json!({ "type": "about:blank", "title": reject.message, "status": status, "code": code });
        let bodies = [
            ("static-error-empty", ("application/octet-stream", String::new())),
            ("static-error-html", ("text/html", "<h1>no</h1>".to_owned())),
            ("static-error-problem", ("application/problem+json", problem.to_string())),
        ];
        match self.decided(bodies) {
            Some((media, text)) => Reply::bytes(status, media, text.into_bytes()),
            None => Reply::json(status, &body),
        }
    }

    pub(super) fn static_success(&self, operation: &str, data: Value, tags: &Tags) -> Reply {
        let number = self.count("request id");
        let id = format!("req-{number:06}");
        let mut body = json!({ "code": 200, "message": "success", "requestId": id, "data": data });
        let rule = |what: &str| format!("{operation}-{what}");
        let rules = [
            ("code-0", "code", json!(0)),
            ("code-text", "code", json!("200")),
            ("code-null", "code", Value::Null),
            ("message-null", "message", Value::Null),
            ("message-number", "message", json!(1)),
            ("request-id-number", "requestId", json!(number)),
            ("request-id-null", "requestId", Value::Null),
            ("data-bare-list", "data", body["data"]["items"].clone()),
            ("data-null", "data", Value::Null),
            ("data-in-list", "data", json!([body["data"]])),
            ("password-in-message", "message", json!("ok pw-Secret00000x")),
        ];
        self.set_members(&mut body, tags, rules.map(|(what, name, value)| (rule(what), name, value)));
        let no_items = body["data"]["items"].as_array().is_some_and(Vec::is_empty);
        if no_items {
            let data = &mut body["data"];
            let rules = [("empty-items-null", Value::Null), ("empty-items-object", json!({}))];
            self.set_members(data, tags, rules.map(|(what, value)| (rule(what), "items", value)));
            self.rename_members(data, tags, [(rule("empty-items-missing"), "items", "")]);
            let rules = [("empty-data-null", "data", Value::Null), ("empty-code-404", "code", json!(404))];
            self.set_members(&mut body, tags, rules.map(|(what, name, value)| (rule(what), name, value)));
        }
        let rules = [
            ("without-code", "code", ""),
            ("without-message", "message", ""),
            ("without-request-id", "requestId", ""),
            ("without-data", "data", ""),
            ("msg-for-message", "message", "msg"),
            ("snake-case-request-id", "requestId", "request_id"),
        ];
        self.rename_members(&mut body, tags, rules.map(|(what, name, other)| (rule(what), name, other)));
        if self.decides("extra-fields") {
            body["serverTime"] = json!(1_700_000_000);
        }
        let status = match () {
            () if self.on_part(operation, "status-201", tags) => 201,
            () if self.on_part(operation, "status-202", tags) => 202,
            () if no_items && self.on_part(operation, "empty-status-404", tags) => 404,
            () if no_items && self.on_part(operation, "empty-status-204", tags) => {
                return self.static_headers(
                    operation,
                    Reply { body: Vec::new(), ..Reply::text(204, "") },
                    &id,
                    tags,
                );
            }
            () => 200,
        };
        let mut reply = Reply::json(status, &body);
        if self.decides("media-charset") {
            reply.headers[0].1 = "application/json; charset=UTF-8".into();
        }
        self.static_headers(operation, reply, &id, tags)
    }

    fn static_headers(&self, operation: &str, mut reply: Reply, id: &str, tags: &Tags) -> Reply {
        let more = self.decides("more-cache-control");
        let mut cache = Some(if more { "private, no-store, max-age=0" } else { "no-store" });
        for (what, value) in [
            ("cache-control-missing", None),
            ("cache-control-no-cache", Some("no-cache")),
            ("cache-control-max-age", Some("private, max-age=60")),
            ("cache-control-private", Some("private")),
            ("cache-control-misspelt", Some("nostore")),
            ("cache-control-empty", Some("")),
        ] {
            if self.on_part(operation, what, tags) {
                cache = value;
            }
        }
        if let Some(cache) = cache {
            reply = reply.with("Cache-Control", cache);
        }
        if self.on_part(operation, "pragma-only", tags) {
            reply.headers.retain(|(name, _)| name != "Cache-Control");
            reply = reply.with("Pragma", "no-cache");
        }
        if self.on_part(operation, "password-in-header", tags) {
            reply = reply.with("X-Debug", "proxy_password=pw-Secret00000x");
        }
        let header = if self.decides("other-header-id") { format!("edge-{id}") } else { id.to_owned() };
        match () {
            () if self.on_part(operation, "trace-header-other-name", tags) => reply.with("X-Trace-Id", id),
            () if self.on_part(operation, "x-request-id-empty", tags) => reply.with("X-Request-Id", ""),
            () if self.on_part(operation, "x-request-id-missing", tags) => reply,
            () => reply.with("X-Request-Id", &header),
        }
    }
}
