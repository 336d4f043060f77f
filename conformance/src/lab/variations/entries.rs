//! Variations in the entries of an extraction, in JSON and in text.

use serde_json::json;

use crate::lab::exchange::Reply;
use crate::lab::faults::separator;
use crate::lab::{Call, Variation};

pub(crate) fn variations() -> Vec<Variation> {
    [layout(), fields(), callers()].into_iter().flatten().collect()
}

fn layout() -> Vec<Variation> {
    let entries = |id, decides, form: fn(&str) -> String| {
        Variation::new(id, decides).success(move |call, reply| {
            let separator = separator(call);
            rewrite(call, reply, |text| {
                text.split(&separator).map(form).collect::<Vec<_>>().join(&separator)
            });
        })
    };
    variations_of![
        "extract.",
        entries("text-entries-with-tab", "An entry of a text response is host, tab, port.", |entry| entry
            .replace(':', "\t")),
        entries("text-entries-with-space", "An entry of a text response is host, space, port.", |entry| {
            entry.replace(':', " ")
        }),
        entries(
            "text-entries-with-bar",
            "An entry of a text response is host, port and region, divided by `|`.",
            |entry| format!("{}|USA", entry.replace(':', "|"))
        ),
        entries(
            "text-entries-as-json",
            "An entry of a text response is a JSON object with `ip` and `port`.",
            |entry| {
                let (ip, port) = entry.split_once(':').unwrap_or((entry, ""));
                json!({"ip": ip, "port": port}).to_string()
            }
        ),
        variation(
            "text-with-line-break-at-its-end",
            "A text response ends with a line break, whatever its separator is."
        )
        .success(|call, reply| {
            rewrite(call, reply, |text| format!("{text}\n"));
        }),
        variation(
            "text-with-separator-and-line-break-at-its-end",
            "A text response ends with its separator and a line break."
        )
        .success(|call, reply| {
            let separator = separator(call);
            rewrite(call, reply, |text| format!("{text}{separator}\r\n"));
        }),
    ]
}

fn fields() -> Vec<Variation> {
    variations_of![
        "",
        variation("extract.entries-with-time-to-live", "Entries of an extraction have a further field `ttl`, whose value changes with each response.").success(|call, reply| {
                let left = 900 - call.memory.calls() % 800;
                add(reply, "ttl", &json!(left));
            }),
        variation("extract.entries-with-names-that-sound-secret", "Entries of an extraction have further fields whose names speak of passwords and tokens, without a secret in them.").success(|_, reply| {
                add(reply, "passwordRequired", &json!(false));
                add(reply, "password", &json!(""));
                add(reply, "tokenExpiresAt", &json!("2030-01-01T00:00:00Z"));
                add(reply, "upstreamRegion", &json!("EU"));
                add(reply, "_links", &json!({}));
            }),
        variation("static.items-that-speak-of-passwords", "Groups and instances have further fields that say when a password was set, without the password.").success(|_, reply| {
                reply.edit(|body| {
                    for item in body["data"]["items"].as_array_mut().into_iter().flatten() {
                        item["passwordUpdatedAt"] = json!("2030-01-01T00:00:00Z");
                        item["passwordSet"] = json!(true);
                    }
                });
            }),
    ]
}

fn callers() -> Vec<Variation> {
    variations_of![
        "extract.",
        variation("link-credential-by-header-alone", "A link credential is accepted in a header only, and rejected in the query.").request(|call| {
                let link = call.facts.link_credential.as_ref().map(|link| link.expose().to_owned());
                if call.param(&call.contract.extract.api_key.name) == link {
                    call.reject();
                }
            }),
        variation("proxy-on-this-machine-trusted", "The caller's address is taken from `X-Forwarded-For`, because a proxy on the same machine is trusted.").success(|call, reply| {
                let claimed = call.headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
                if let Some(claimed) = claimed {
                    reply.edit(|body| body["request_ip"] = json!(claimed));
                }
            }),
    ]
}

fn rewrite(call: &Call<'_>, reply: &mut Reply, how: impl FnOnce(&str) -> String) {
    if call.wants_text() {
        reply.body = how(&String::from_utf8_lossy(&reply.body)).into();
    }
}

fn add(reply: &mut Reply, name: &str, value: &serde_json::Value) {
    reply.edit(|body| {
        for entry in body["data"].as_array_mut().into_iter().flatten() {
            entry[name] = value.clone();
        }
    });
}
