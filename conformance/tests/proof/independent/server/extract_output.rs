//! Responses of an extraction: JSON, text, or an error.

use serde_json::{Value, json};

use super::access::claimed;
use super::behaviour::{Tags, with_tags};
use super::extract::{Extraction, SHORTAGE};
use super::http::{self, PEER};
use super::world::Gateway;
use super::{Reject, Reply, Request, Server};

impl Server {
    pub(super) fn extract_success(&self, request: &Request, extracted: &Extraction, tags: &Tags) -> Reply {
        let (wanted, got) = (extracted.parameters.num, extracted.gateways.len());
        let tags = &with_tags(tags, [(got < wanted, "partial"), (extracted.is_repeat, "repeat")]);
        let reply = if extracted.parameters.is_text {
            http::text(200, self.text(extracted, tags))
        } else {
            self.json(request, extracted, tags)
        };
        let reply = self.counted(reply, wanted, got, tags);
        let mut reply = self.told_reply("extract-reply", reply, tags, &Value::Null);
        if self.decides("extra-fields") {
            reply.set_header("x-served-by", "edge-4");
        }
        let id = extracted.parameters.request_id.as_deref().unwrap_or("srv-1");
        http::with(reply, "x-request-id", id)
    }

    /// Adds the X-Proxy headers to a partial result.
    fn counted(&self, mut reply: Reply, wanted: usize, got: usize, tags: &Tags) -> Reply {
        let flags =
            [("flag-1", ["1", "0"]), ("flag-yes", ["yes", "false"]), ("flag-capital", ["True", "false"])];
        let [partial, full] = self.decided(flags).unwrap_or(["true", "false"]);
        let is_partial = got < wanted;
        if is_partial && self.breaks("extract.silent", tags, || known! {})
            || !is_partial && !self.decides("full-headers")
        {
            return reply;
        }
        reply.set_header("x-proxy-requested-count", &wanted.to_string());
        reply.set_header("x-proxy-returned-count", &got.to_string());
        reply.set_header("x-proxy-partial", if is_partial { partial } else { full });
        self.told_reply("extract-partial", reply, tags, &json!({ "wanted": wanted, "got": got }))
    }

    fn text(&self, extracted: &Extraction, tags: &Tags) -> String {
        let forms = [
            ("text-url", "http://{ip}:{port}"),
            ("text-trailing-url", "socks5://{ip}:{port}/"),
            ("text-comma", "{ip},{port}"),
            ("text-labels", "ip={ip};port={port}"),
        ];
        let form = self.decided(forms).unwrap_or("{ip}:{port}");
        let password = match self.on("extract-password-in-text", tags) {
            true => ":user:pw-Secret00000x",
            false => "",
        };
        let line = |gateway: &Gateway| {
            form.replace("{ip}", &gateway.host).replace("{port}", &gateway.port.to_string()) + password
        };
        let separator = extracted.parameters.separator.as_str();
        let count = extracted.gateways.len();
        let mut text = String::new();
        for (at, gateway) in extracted.gateways.iter().enumerate() {
            if at > 0 {
                let between = self.instead("extract.between", tags, || known! { at, count, separator });
                text += &between.unwrap_or_else(|| separator.to_owned());
            }
            text += &line(gateway);
        }
        if self.decides("trailing-separator") && count > 0 {
            text += separator;
        }
        text
    }

    fn json(&self, request: &Request, extracted: &Extraction, tags: &Tags) -> Reply {
        let count = extracted.gateways.len();
        let gateways = extracted.gateways.iter().enumerate();
        let data: Vec<Value> =
            gateways.map(|(at, gateway)| self.endpoint(gateway, at, count, tags)).collect();
        let msg = if self.decides("empty-msg") { "" } else { "success" };
        let claimed = self.instead("extract.request-ip", tags, || known! { claimed => claimed(request) });
        let request_ip = claimed.unwrap_or_else(|| PEER.to_string());
        let body = json!({ "code": 0, "success": true, "msg": msg, "data": data, "request_ip": request_ip });
        let mut body = self.told("extraction", body, tags, &Value::Null);
        if count == 1 && self.on("extract-data-single-object", tags) {
            body["data"] = body["data"][0].take();
        }
        if self.decides("extra-fields") {
            body["trace"] = json!("t-1");
        }
        http::json(200, &body)
    }

    fn endpoint(&self, gateway: &Gateway, at: usize, count: usize, tags: &Tags) -> Value {
        let more = [(at > 0, "later"), (at + 1 == count && at > 0, "last"), (at >= 10, "beyond-ten")];
        let tags = &with_tags(tags, more);
        if self.on("extract-endpoint-text", tags) {
            return json!(format!("{}:{}", gateway.host, gateway.port));
        }
        self.told("endpoint", json!({ "ip": gateway.host, "port": gateway.port }), tags, &Value::Null)
    }

    pub(super) fn extract_error(&self, reject: &Reject, tags: &Tags) -> Reply {
        let is_shortage = reject.code == SHORTAGE;
        let kind = match reject.code {
            SHORTAGE => "shortage",
            40_100 => "unauthorized",
            40_301..=40_303 => "forbidden",
            40_500 => "post",
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
        let mut body = self.told("extract-error", body, tags, &Value::Null);
        if kind == "post" {
            body = self.told("post-error", body, tags, &Value::Null);
        }
        let page = "<html><body>error</body></html>";
        let reply = match () {
            () if self.on("extract-error-as-text", tags) => http::text(status, reject.message.clone()),
            () if self.on("extract-error-as-html", tags) => http::bytes(status, "text/html", page),
            () if self.on("extract-error-empty", tags) => http::bytes(status, "application/json", ""),
            () if self.on("extract-error-nested", tags) => http::json(status, &json!({ "error": body })),
            () if self.on("extract-error-list", tags) => http::json(status, &json!([body])),
            () => http::json(status, &body),
        };
        let wait = if self.decides("retry-after-date") { "Thu, 01 Jan 2026 00:00:00 GMT" } else { "1" };
        if !is_shortage {
            return reply;
        }
        self.told_reply("shortage", http::with(reply, "retry-after", wait), tags, &Value::Null)
    }
}
