//! Faults that show a secret.

use super::condition::in_text;
use crate::contract::OperationId::{Extract, Groups, Search};
use crate::lab::exchange::Reply;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::edit::{body, put, set, visit};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    let leak = |id, breaks, operation, path: &'static str| {
        Fault::new(id, breaks)
            .only(operation)
            .success(move |call, body| put(body, path, &json!(canary(call))))
    };
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
        fault("text-entry", "An entry of a plain-text response ends with user and password.")
            .when(in_text)
            .reply(|call, reply| add_to_text(call, reply, &format!(":user:{}", canary(call)))),
        fault(
            "text-entry-unknown",
            "Entries of a plain-text response end with user and password, which nobody supplied."
        )
        .when(in_text)
        .reply(|call, reply| add_to_text(call, reply, ":user7:pAss-77")),
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
                let text = reply.text().replacen('{', &format!("{{\"note\":\"{escaped}\","), 1);
                reply.body = text.into();
            }
        }),
        fault("extract-error", "The message of a rejected extraction holds a password.")
            .when(|call| call.operation() == Some(Extract))
            .rejection(
                body(|call, body| body["message"] = json!(format!("upstream said: {}", canary(call))))
            ),
        fault("static-error", "A rejected search shows a password.")
            .when(|call| call.operation() == Some(Search))
            .rejection(body(|call, body| body["debug"] = json!({"row": [1, canary(call)]}))),
        fault("empty-result", "An empty result shows a password.")
            .empty(|call, body| body["debug"] = json!(canary(call))),
        fault("unnamed", "An instance has a member proxy_password with a text that nobody named.")
            .success(set("/data/items/0/proxy_password", "correct horse")),
        fault("nested", "Credentials of a gateway are shown.")
            .success(set("/data/0/auth", json!({"user": "u1", "passwd": "hunter2"}))),
    ]
}

fn canary<'a>(call: &Call<'a>) -> &'a str {
    call.facts.canaries.first().map_or("no canary", |canary| canary.expose())
}

/// Adds to the end of a success.
fn add_to_text(call: &Call<'_>, reply: &mut Reply, text: &str) {
    if call.accepted(reply) {
        reply.body = format!("{}{text}", reply.text()).into();
    }
}
