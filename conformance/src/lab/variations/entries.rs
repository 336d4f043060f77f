//! Variations in the entries of an extraction, in JSON and in text.

use serde_json::{Value, json};

use crate::lab::exchange::Reply;
use crate::lab::faults::condition::{API_KEY, sent};
use crate::lab::faults::edit::{body, set};
use crate::lab::faults::retext;
use crate::lab::{Call, Variation};

pub(crate) fn variations() -> Vec<Variation> {
    [layout(), fields(), callers()].into_iter().flatten().collect()
}

/// Changes the text of an extraction, which `how` gets with its separator.
pub(super) fn rewritten(
    how: impl Fn(&str, &str) -> String + Send + Sync,
) -> impl Fn(&Call<'_>, &mut Reply) + Send + Sync {
    let change = retext(how);
    move |call, reply| {
        if call.wants_text() {
            change(call, reply);
        }
    }
}

/// Changes each entry of a text.
pub(super) fn entries(form: fn(&str) -> String) -> impl Fn(&Call<'_>, &mut Reply) + Send + Sync {
    rewritten(move |text, separator| text.split(separator).map(form).collect::<Vec<_>>().join(separator))
}

fn layout() -> Vec<Variation> {
    variations_of![
        "extract.",
        variation("text-entries-with-tab", "An entry of a text response is host, tab, port.")
            .success(entries(|entry| entry.replace(':', "\t"))),
        variation("text-entries-with-space", "An entry of a text response is host, space, port.")
            .success(entries(|entry| entry.replace(':', " "))),
        variation(
            "text-entries-with-bar",
            "An entry of a text response is host, port and region, divided by `|`."
        )
        .success(entries(|entry| format!("{}|USA", entry.replace(':', "|")))),
        variation(
            "text-entries-as-json",
            "An entry of a text response is a JSON object with `ip` and `port`."
        )
        .success(entries(|entry| {
            let (ip, port) = entry.split_once(':').unwrap_or((entry, ""));
            json!({"ip": ip, "port": port}).to_string()
        })),
        variation(
            "text-with-line-break-at-its-end",
            "A text response ends with a line break, whatever its separator is."
        )
        .success(rewritten(|text, _| format!("{text}\n"))),
        variation(
            "text-with-separator-and-line-break-at-its-end",
            "A text response ends with its separator and a line break."
        )
        .success(rewritten(|text, separator| format!("{text}{separator}\r\n"))),
    ]
}

fn fields() -> Vec<Variation> {
    variations_of![
        "",
        variation(
            "extract.entries-with-time-to-live",
            "Entries of an extraction have a further field `ttl`, whose value changes with each response."
        )
        .success(|call, reply| add(reply, "/data", json!({"ttl": 900 - call.memory.calls() % 800}))),
        variation(
            "extract.entries-with-names-that-sound-secret",
            "Entries of an extraction have further fields whose names speak of passwords and tokens, without a secret in them."
        )
        .success(|_, reply| {
            let fields = json!({
                "passwordRequired": false, "password": "", "tokenExpiresAt": "2030-01-01T00:00:00Z",
                "upstreamRegion": "EU", "_links": {},
            });
            add(reply, "/data", fields);
        }),
        variation(
            "static.items-that-speak-of-passwords",
            "Groups and instances have further fields that say when a password was set, without the password."
        )
        .success(|_, reply| {
            let fields = json!({"passwordUpdatedAt": "2030-01-01T00:00:00Z", "passwordSet": true});
            add(reply, "/data/items", fields);
        }),
    ]
}

fn callers() -> Vec<Variation> {
    variations_of![
        "extract.",
        variation(
            "link-credential-by-header-alone",
            "A link credential is accepted in a header only, and rejected in the query."
        )
        .request(|call| {
            let link = call.facts.link_credential.as_ref().map(|link| link.expose().to_owned());
            if sent(call, API_KEY) == link {
                call.reject();
            }
        }),
        variation(
            "proxy-on-this-machine-trusted",
            "The caller's address is taken from `X-Forwarded-For`, because a proxy on the same machine is trusted."
        )
        .success(|call, reply| {
            if let Some(claimed) = call.header("x-forwarded-for") {
                body(set("/request_ip", claimed))(call, reply);
            }
        }),
    ]
}

/// Adds members to each item of a list.
pub(super) fn add(reply: &mut Reply, list: &str, members: Value) {
    reply.edit(|body| {
        let items = body.pointer_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for item in items.filter_map(Value::as_object_mut) {
            item.extend(members.as_object().cloned().unwrap_or_default());
        }
    });
}
