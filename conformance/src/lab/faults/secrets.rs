//! Faults that show a secret.

use crate::contract::OperationId;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::edit::{put, visit};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    let leak = |id, breaks, operation: OperationId, path: &'static str| {
        Fault::new(id, breaks).only(operation).success(move |call, body| {
            if call.operation() == Some(operation) {
                put(body, path, &json!(canary(call)));
            }
        })
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
        fault("endpoint-userinfo", "A gateway's ip holds user and password.").success(|call, body| {
            let canary = canary(call);
            visit(body, "/data/*/ip", &mut |ip| {
                *ip = json!(format!("user:{canary}@{}", ip.as_str().unwrap_or_default()));
            });
        }),
        fault("text-entry", "An entry of a plain-text response ends with user and password.").reply(
            |call, reply| {
                if call.wants_text() && call.accepted(reply) {
                    let text = format!("{}:user:{}", String::from_utf8_lossy(&reply.body), canary(call));
                    reply.body = text.into();
                }
            }
        ),
        fault(
            "text-entry-unknown",
            "Entries of a plain-text response end with user and password, which nobody supplied."
        )
        .reply(|call, reply| {
            if call.wants_text() && call.accepted(reply) {
                reply.body = format!("{}:user7:pAss-77", String::from_utf8_lossy(&reply.body)).into();
            }
        }),
        fault("header", "A header holds a password.").reply(|call, reply| {
            reply.set_header("x-proxy-password", canary(call));
        }),
        fault("basic-header", "A header holds user and password in base64.").reply(|call, reply| {
            let value = format!("Basic {}", BASE64_STANDARD.encode(format!("user-1:{}", canary(call))));
            reply.set_header("x-proxy-authorization", &value);
        }),
        fault("escaped", "A password is written with JSON escapes.").reply(|call, reply| {
            if call.accepted(reply) && !reply.json().is_null() {
                let escaped: String =
                    canary(call).encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                let text = String::from_utf8_lossy(&reply.body).replacen(
                    '{',
                    &format!("{{\"note\":\"{escaped}\","),
                    1,
                );
                reply.body = text.into();
            }
        }),
        fault("extract-error", "The message of a rejected extraction holds a password.").rejection(
            |call, reply| {
                if call.operation() == Some(Extract) {
                    reply.edit(|body| body["message"] = json!(format!("upstream said: {}", canary(call))));
                }
            }
        ),
        fault("static-error", "A rejected search shows a password.").rejection(|call, reply| {
            if call.operation() == Some(Search) {
                reply.edit(|body| body["debug"] = json!({"row": [1, canary(call)]}));
            }
        }),
        fault("empty-result", "An empty result shows a password.").success(|call, body| {
            if body["data"]["items"] == json!([]) {
                body["debug"] = json!(canary(call));
            }
        }),
        fault("unnamed", "An instance has a member proxy_password with a text that nobody named.").success(
            |_, body| {
                put(body, "/data/items/0/proxy_password", &json!("correct horse"));
            }
        ),
        fault("nested", "Credentials of a gateway are shown.").success(|_, body| {
            put(body, "/data/0/auth", &json!({"user": "u1", "passwd": "hunter2"}));
        }),
    ]
}

fn canary<'a>(call: &Call<'a>) -> &'a str {
    call.facts.canaries.first().map_or("no canary", |canary| canary.expose())
}
