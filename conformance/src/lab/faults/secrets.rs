//! Faults that show a secret.

use crate::contract::OperationId;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::edit::{put, visit};
use crate::lab::{Context, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    let leak = |id, breaks, operation: OperationId, path: &'static str| {
        Fault::success(id, breaks, move |context, seen, body| {
            if context.operation(seen) == Some(operation) {
                put(body, path, &json!(canary(context)));
            }
        })
        .only(operation)
    };
    use OperationId::{Extract, Groups, Search};
    faults_of![
        "all.no-secrets/",
        leak(
            "instance-password",
            "An instance has its proxy password.",
            Search,
            "/data/items/*/proxyPassword"
        ),
        leak(
            "last-instance-password",
            "The last instance of a page has its proxy password.",
            Search,
            "/data/items/-/password"
        ),
        leak(
            "instance-capabilities",
            "Capabilities hold a password.",
            Search,
            "/data/items/0/capabilities/note"
        ),
        leak("search-message", "The message of a search holds a password.", Search, "/message"),
        leak("group-password", "A group has a password.", Groups, "/data/items/*/secret"),
        leak("group-name", "The last group's name holds a password.", Groups, "/data/items/-/name"),
        leak("listing-beside", "A password stands beside the list of groups.", Groups, "/data/password"),
        leak("endpoint-password", "A gateway has its password.", Extract, "/data/*/password"),
        leak("endpoint-last", "The last gateway has its password.", Extract, "/data/-/pass"),
        leak("extraction-msg", "The msg of an extraction holds a password.", Extract, "/msg"),
        success("endpoint-userinfo", "A gateway's ip holds user and password.", |context, _, body| {
            let canary = canary(context);
            visit(body, "/data/*/ip", &mut |ip| {
                *ip = json!(format!("user:{canary}@{}", ip.as_str().unwrap_or_default()));
            });
        }),
        reply(
            "text-entry",
            "An entry of a plain-text response ends with user and password.",
            |context, seen, reply| {
                if context.wants_text(seen) && context.accepted(seen, reply) {
                    let text = format!("{}:user:{}", String::from_utf8_lossy(&reply.body), canary(context));
                    reply.body = text.into();
                }
            }
        ),
        reply(
            "text-entry-unknown",
            "Entries of a plain-text response end with user and password, which nobody supplied.",
            |context, seen, reply| {
                if context.wants_text(seen) && context.accepted(seen, reply) {
                    reply.body = format!("{}:user7:pAss-77", String::from_utf8_lossy(&reply.body)).into();
                }
            }
        ),
        reply("header", "A header holds a password.", |context, _, reply| {
            reply.set_header("x-proxy-password", canary(context));
        }),
        reply("basic-header", "A header holds user and password in base64.", |context, _, reply| {
            let value = format!("Basic {}", BASE64_STANDARD.encode(format!("user-1:{}", canary(context))));
            reply.set_header("x-proxy-authorization", &value);
        }),
        reply("escaped", "A password is written with JSON escapes.", |context, seen, reply| {
            if context.accepted(seen, reply) && !reply.json().is_null() {
                let escaped: String =
                    canary(context).encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                let text = String::from_utf8_lossy(&reply.body).replacen(
                    '{',
                    &format!("{{\"note\":\"{escaped}\","),
                    1,
                );
                reply.body = text.into();
            }
        }),
        rejection(
            "extract-error",
            "The message of a rejected extraction holds a password.",
            |context, seen, reply| {
                if context.operation(seen) == Some(Extract) {
                    reply.edit(|body| body["message"] = json!(format!("upstream said: {}", canary(context))));
                }
            }
        ),
        rejection("static-error", "A rejected search shows a password.", |context, seen, reply| {
            if context.operation(seen) == Some(Search) {
                reply.edit(|body| body["debug"] = json!({"row": [1, canary(context)]}));
            }
        }),
        success("empty-result", "An empty result shows a password.", |context, _, body| {
            if body["data"]["items"] == json!([]) {
                body["debug"] = json!(canary(context));
            }
        }),
        success(
            "unnamed",
            "An instance has a member proxy_password with a text that nobody named.",
            |_, _, body| {
                put(body, "/data/items/0/proxy_password", &json!("correct horse"));
            }
        ),
        success("nested", "Credentials of a gateway are shown.", |_, _, body| {
            put(body, "/data/0/auth", &json!({"user": "u1", "passwd": "hunter2"}));
        }),
    ]
}

fn canary(context: &Context) -> &str {
    context.facts.canaries.first().map_or("no canary", |canary| canary.expose())
}
