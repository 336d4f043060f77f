//! Responses of an extraction: JSON, text, or an error.

use serde_json::{Value, json};

use super::behaviour::{Tags, with_tags};
use super::extract::{Extraction, SHORTAGE};
use super::http::PEER;
use super::world::Gateway;
use super::{Reject, Reply, Request, Server};

const PASSWORD: &str = "pw-Secret00000x";

impl Server {
    pub(super) fn extract_success(&self, request: &Request, extracted: &Extraction, tags: &Tags) -> Reply {
        let (wanted, got) = (extracted.parameters.num, extracted.gateways.len());
        let tags = &with_tags(tags, [(got < wanted, "partial"), (extracted.is_repeat, "repeat")]);
        let reply = if extracted.parameters.is_text {
            Reply::text(200, &self.text(extracted, tags))
        } else {
            self.json(request, extracted, tags)
        };
        let mut reply = self.counted(reply, wanted, got, tags);
        let rules = [("extract-status-201", 201), ("extract-status-202", 202), ("extract-status-206", 206)];
        if let Some(status) = self.first_broken(tags, rules.map(|(rule, status)| (rule, Some(status)))) {
            reply.status = status;
        }
        if self.on("extract-password-in-header", tags) {
            reply = reply.with("X-Proxy-Auth", &format!("user:{PASSWORD}"));
        }
        if self.decides("extra-fields") {
            reply = reply.with("X-Served-By", "edge-4");
        }
        reply.with("X-Request-Id", extracted.parameters.request_id.as_deref().unwrap_or("srv-1"))
    }

    /// Adds the X-Proxy headers to a partial result.
    fn counted(&self, reply: Reply, wanted: usize, got: usize, tags: &Tags) -> Reply {
        let partial = got < wanted;
        let mut requested = wanted.to_string();
        let mut returned = got.to_string();
        let flags = [("flag-1", "1"), ("flag-yes", "yes"), ("flag-capital", "True")];
        let mut flag = self.decided(flags).unwrap_or("true");
        if !partial {
            return if self.decides("full-headers") {
                reply
                    .with("X-Proxy-Requested-Count", &requested)
                    .with("X-Proxy-Returned-Count", &returned)
                    .with("X-Proxy-Partial", if flag == "1" { "0" } else { "false" })
            } else {
                reply
            };
        }
        let is_silent = self.fault.is_of("extract-at-most-") || self.fault.is_of("extract-shortage-as-empty");
        if is_silent || self.on("extract-partial-unsignalled", tags) {
            return reply;
        }
        match () {
            () if self.on("extract-partial-counts-swapped", tags) => {
                std::mem::swap(&mut requested, &mut returned);
            }
            () if self.on("extract-partial-returned-as-requested", tags) => returned.clone_from(&requested),
            () if self.on("extract-partial-requested-as-returned", tags) => requested.clone_from(&returned),
            () if wanted != 100 && self.on("extract-partial-requested-100", tags) => requested = "100".into(),
            () if self.on("extract-partial-returned-zero", tags) => returned = "0".into(),
            () if self.on("extract-partial-counts-as-words", tags) => returned = "some".into(),
            () if self.on("extract-partial-flag-false", tags) => flag = "false",
            () => {}
        }
        let mut reply = reply;
        for (name, value, rule) in [
            ("X-Proxy-Requested-Count", requested.as_str(), "extract-partial-without-requested"),
            ("X-Proxy-Returned-Count", returned.as_str(), "extract-partial-without-returned"),
            ("X-Proxy-Partial", flag, "extract-partial-without-flag"),
        ] {
            if !self.on(rule, tags) {
                reply = reply.with(name, value);
            }
        }
        reply
    }

    fn text(&self, extracted: &Extraction, tags: &Tags) -> String {
        let forms = [
            ("text-url", "http://{ip}:{port}"),
            ("text-trailing-url", "socks5://{ip}:{port}/"),
            ("text-comma", "{ip},{port}"),
            ("text-labels", "ip={ip};port={port}"),
        ];
        let form = self.decided(forms).unwrap_or("{ip}:{port}");
        let line = |gateway: &Gateway| {
            let port = gateway.port.to_string();
            let mut line = form.replace("{ip}", &gateway.host).replace("{port}", &port);
            if self.on("extract-password-in-text", tags) {
                line = format!("{line}:user:{PASSWORD}");
            }
            line
        };
        let lines: Vec<String> = extracted.gateways.iter().map(line).collect();
        let separator = &extracted.parameters.separator;
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                let other = at > 10 && self.on("extract-separator-lf-beyond-ten", tags);
                let last =
                    at + 1 == lines.len() && at > 1 && self.on("extract-separator-lf-before-last", tags);
                let twice = self.on("extract-separator-twice", tags);
                let spaced = self.on("extract-separator-with-space", tags);
                text += if other || last { "\n" } else { separator };
                if twice {
                    text += separator;
                }
                if spaced {
                    text.push(' ');
                }
            }
            text += line;
        }
        if self.decides("trailing-separator") && !lines.is_empty() {
            text += separator;
        }
        text
    }

    fn json(&self, request: &Request, extracted: &Extraction, tags: &Tags) -> Reply {
        let count = extracted.gateways.len();
        let data: Vec<Value> = extracted
            .gateways
            .iter()
            .enumerate()
            .map(|(at, gateway)| self.endpoint(gateway, at, count, tags))
            .collect();
        let msg = if self.decides("empty-msg") { "" } else { "success" };
        let mut body = json!({
            "code": 0, "success": true, "msg": msg, "data": data, "request_ip": self.request_ip(request, tags),
        });
        let rules = [
            ("extract-code-200", "code", json!(200)),
            ("extract-code-text", "code", json!("0")),
            ("extract-code-1", "code", json!(1)),
            ("extract-code-null", "code", Value::Null),
            ("extract-success-text", "success", json!("true")),
            ("extract-success-number", "success", json!(1)),
            ("extract-success-false", "success", json!(false)),
            ("extract-msg-null", "msg", Value::Null),
            ("extract-msg-number", "msg", json!(0)),
            ("extract-msg-object", "msg", json!({ "en": "success" })),
            ("extract-data-object", "data", json!({ "list": body["data"] })),
            ("extract-data-text", "data", json!(body["data"].to_string())),
            ("extract-data-null", "data", Value::Null),
        ];
        self.set_members(&mut body, tags, rules);
        if count == 1 && self.on("extract-data-single-object", tags) {
            body["data"] = body["data"][0].take();
        }
        let rules = [
            ("extract-without-code", "code", ""),
            ("extract-without-success", "success", ""),
            ("extract-without-msg", "msg", ""),
            ("extract-without-data", "data", ""),
            ("extract-without-request-ip", "request_ip", ""),
            ("extract-message-for-msg", "msg", "message"),
        ];
        self.rename_members(&mut body, tags, rules);
        if self.decides("extra-fields") {
            body["trace"] = json!("t-1");
        }
        Reply::json(200, &body)
    }

    fn endpoint(&self, gateway: &Gateway, at: usize, count: usize, tags: &Tags) -> Value {
        let more = [(at > 0, "later"), (at + 1 == count && at > 0, "last"), (at >= 10, "beyond-ten")];
        let tags = &with_tags(tags, more);
        let mut element = json!({ "ip": gateway.host, "port": gateway.port });
        let rules = [
            ("extract-port-text", "port", json!(gateway.port.to_string())),
            ("extract-port-null", "port", Value::Null),
            ("extract-port-fraction", "port", json!(f64::from(gateway.port) + 0.5)),
            ("extract-ip-null", "ip", Value::Null),
            ("extract-ip-empty", "ip", json!("")),
            ("extract-ip-with-port", "ip", json!(format!("{}:{}", gateway.host, gateway.port))),
            ("extract-ip-with-scheme", "ip", json!(format!("http://{}", gateway.host))),
            ("extract-ip-number", "ip", json!(873_529_601)),
            ("extract-password-in-ip", "ip", json!(format!("user:{PASSWORD}@{}", gateway.host))),
            ("extract-internal-node", "node_id", json!(4711)),
            ("extract-internal-weight", "weight", json!(0.75)),
            ("extract-internal-upstream", "upstream_ip", json!("10.0.0.7")),
            ("extract-internal-id", "id", json!(at)),
            ("extract-internal-debug", "_debug", json!({ "pool": "a" })),
            ("extract-password", "password", json!(PASSWORD)),
            ("extract-credential-base64", "auth", json!("dXNlcjpwdy1TZWNyZXQwMDAwMHg=")),
            ("extract-user-and-password", "user", json!(format!("user:{PASSWORD}"))),
        ];
        self.set_members(&mut element, tags, rules);
        let rules = [("extract-ip-as-host", "ip", "host"), ("extract-without-port", "port", "")];
        self.rename_members(&mut element, tags, rules);
        if self.on("extract-endpoint-text", tags) {
            return json!(format!("{}:{}", gateway.host, gateway.port));
        }
        element
    }

    fn request_ip(&self, request: &Request, tags: &Tags) -> Value {
        for (name, rule) in [
            ("x-forwarded-for", "extract-request-ip-x-forwarded-for"),
            ("x-real-ip", "extract-request-ip-x-real-ip"),
            ("forwarded", "extract-request-ip-forwarded"),
            ("true-client-ip", "extract-request-ip-true-client-ip"),
            ("cf-connecting-ip", "extract-request-ip-cf-connecting-ip"),
            ("x-client-ip", "extract-request-ip-x-client-ip"),
        ] {
            if let Some(value) = request.header(name)
                && self.on(rule, tags)
            {
                return json!(value.split(',').next().unwrap_or_default().trim().trim_start_matches("for="));
            }
        }
        let peer = PEER.to_string();
        let rules = [
            ("extract-request-ip-mapped", json!(format!("::ffff:{peer}"))),
            ("extract-request-ip-with-port", json!(format!("{peer}:50412"))),
            ("extract-request-ip-empty", json!("")),
            ("extract-request-ip-null", Value::Null),
            ("extract-request-ip-unspecified", json!("0.0.0.0")),
            ("extract-request-ip-proxy", json!("10.0.0.1")),
            ("extract-request-ip-name", json!("localhost")),
            ("extract-request-ip-masked", json!("127.0.0.0")),
        ];
        let wrong = self.first_broken(tags, rules.map(|(rule, value)| (rule, Some(value))));
        wrong.unwrap_or_else(|| json!(peer))
    }

    pub(super) fn extract_error(&self, reject: &Reject, tags: &Tags) -> Reply {
        let is_shortage = reject.code == SHORTAGE;
        let kind = match reject.code {
            SHORTAGE => "shortage",
            40_100 => "unauthorized",
            40_301..=40_303 => "forbidden",
            _ => "invalid",
        };
        let tags = &with_tags(tags, [(true, kind)]);
        let (mut status, code) = self.rejection(reject);
        let mut body = json!({ "code": code, "message": reject.message });
        if self.decides("extra-fields") {
            body["success"] = json!(false);
            body["requestId"] = json!("r-1");
        }
        if is_shortage {
            let shortages =
                [("shortage-503", 503), ("shortage-200", 200), ("shortage-429", 429), ("shortage-404", 404)];
            status = self.decided(shortages).unwrap_or(409);
        }
        let rules = [
            ("extract-error-code-0", "code", json!(0)),
            ("extract-error-code-null", "code", Value::Null),
            ("extract-error-message-null", "message", Value::Null),
            ("extract-error-message-object", "message", json!({ "text": reject.message })),
            ("extract-error-message-number", "message", json!(17)),
            ("extract-error-password", "debug", json!({ "password": PASSWORD })),
        ];
        self.set_members(&mut body, tags, rules);
        let rules = [
            ("extract-error-msg", "message", "msg"),
            ("extract-error-error", "message", "error"),
            ("extract-error-without-message", "message", ""),
            ("extract-error-without-code", "code", ""),
            ("extract-error-error-code", "code", "errorCode"),
        ];
        self.rename_members(&mut body, tags, rules);
        let page = b"<html><body>error</body></html>".to_vec();
        let rules = [
            ("extract-error-as-text", Some(Reply::text(status, &reject.message))),
            ("extract-error-as-html", Some(Reply::bytes(status, "text/html", page))),
            ("extract-error-empty", Some(Reply::bytes(status, "application/json", Vec::new()))),
            ("extract-error-nested", Some(Reply::json(status, &json!({ "error": body })))),
            ("extract-error-list", Some(Reply::json(status, &json!([body])))),
        ];
        let reply = self.first_broken(tags, rules).unwrap_or_else(|| Reply::json(status, &body));
        if !is_shortage {
            return reply;
        }
        let wait = if self.decides("retry-after-date") { "Thu, 01 Jan 2026 00:00:00 GMT" } else { "1" };
        let rules = [
            ("extract-shortage-without-retry-after", None),
            ("extract-shortage-retry-after-word", Some("later")),
            ("extract-shortage-retry-after-negative", Some("-5")),
            ("extract-shortage-retry-after-fraction", Some("1.5")),
            ("extract-shortage-retry-after-unit", Some("1s")),
            ("extract-shortage-retry-after-iso-date", Some("2026-01-01T00:00:00Z")),
            ("extract-shortage-retry-after-empty", Some("")),
        ];
        let wrong = self.first_broken(tags, rules.map(|(rule, value)| (rule, Some(value))));
        match wrong.unwrap_or(Some(wait)) {
            Some(wait) => reply.with("Retry-After", wait),
            None => reply,
        }
    }
}
