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
        let reply = self.told_reply("extract-reply", reply, tags, &Value::Null);
        let id = extracted.parameters.request_id.as_deref().unwrap_or("srv-1");
        http::with(reply, "x-request-id", id)
    }

    /// Adds the X-Proxy headers to a partial result.
    fn counted(&self, mut reply: Reply, wanted: usize, got: usize, tags: &Tags) -> Reply {
        let is_partial = got < wanted;
        if is_partial && self.breaks("extract.silent", tags, || known! {})
            || !is_partial && !self.decides("full-headers")
        {
            return reply;
        }
        reply.set_header("x-proxy-requested-count", &wanted.to_string());
        reply.set_header("x-proxy-returned-count", &got.to_string());
        reply.set_header("x-proxy-partial", if is_partial { "true" } else { "false" });
        self.told_reply("extract-partial", reply, tags, &json!({ "wanted": wanted, "got": got }))
    }

    fn text(&self, extracted: &Extraction, tags: &Tags) -> String {
        let line = |gateway: &Gateway| {
            let Gateway { host, port } = gateway;
            let line = self.instead("extract.entry", tags, || known! { ip => host, port });
            line.unwrap_or_else(|| format!("{host}:{port}"))
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
        let end = self.instead::<String>("extract.text-end", tags, || known! { separator });
        text + &end.filter(|_| count > 0).unwrap_or_default()
    }

    fn json(&self, request: &Request, extracted: &Extraction, tags: &Tags) -> Reply {
        let count = extracted.gateways.len();
        let gateways = extracted.gateways.iter().enumerate();
        let data: Vec<Value> =
            gateways.map(|(at, gateway)| self.endpoint(gateway, at, count, tags)).collect();
        let claimed = self.instead("extract.request-ip", tags, || known! { claimed => claimed(request) });
        let request_ip = claimed.unwrap_or_else(|| PEER.to_string());
        let body =
            json!({ "code": 0, "success": true, "msg": "success", "data": data, "request_ip": request_ip });
        let body = self.told("extraction", body, tags, &Value::Null);
        http::json(200, &body)
    }

    fn endpoint(&self, gateway: &Gateway, at: usize, count: usize, tags: &Tags) -> Value {
        let more = [(at > 0, "later"), (at + 1 == count && at > 0, "last"), (at >= 10, "beyond-ten")];
        let tags = &with_tags(tags, more);
        let Gateway { host, port } = gateway;
        let other = self.instead("endpoint", tags, || known! { ip => host, port });
        other
            .unwrap_or_else(|| self.told("endpoint", json!({ "ip": host, "port": port }), tags, &Value::Null))
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
        let body = json!({ "code": code, "message": reject.message });
        if is_shortage {
            status = self.instead("shortage.status", tags, || known! {}).unwrap_or(409);
        }
        let mut body = self.told("extract-error", body, tags, &Value::Null);
        if kind == "post" {
            body = self.told("post-error", body, tags, &Value::Null);
        }
        let reply = self.rejected("extract-error", status, &body, tags);
        if !is_shortage {
            return reply;
        }
        self.told_reply("shortage", http::with(reply, "retry-after", "1"), tags, &Value::Null)
    }
}
