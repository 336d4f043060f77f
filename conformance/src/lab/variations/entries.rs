//! Variations in the entries of an extraction, in JSON and in text.

use sallyport_conformance::contract::OperationId;
use sallyport_conformance::{Facts, Secret, Target};
use serde_json::json;

use crate::fault::Scene;
use crate::faults::separator;
use crate::proxy::{ProxiedRequest, Reply};
use crate::variation::Variation;

/// All of them.
pub fn variations() -> Vec<Variation> {
    [layout(), fields(), callers()].into_iter().flatten().collect()
}

fn layout() -> Vec<Variation> {
    let entries = |id, form: fn(&str) -> String| {
        Variation::success(id, move |scene, seen, reply| {
            let separator = separator(scene, seen);
            rewrite(scene, seen, reply, |text| {
                text.split(&separator).map(form).collect::<Vec<_>>().join(&separator)
            });
        })
    };
    vec![
        entries("extract.text-entries-with-tab", |entry| entry.replace(':', "\t")),
        entries("extract.text-entries-with-space", |entry| entry.replace(':', " ")),
        entries("extract.text-entries-with-bar", |entry| format!("{}|USA", entry.replace(':', "|"))),
        entries("extract.text-entries-as-json", |entry| {
            let (ip, port) = entry.split_once(':').unwrap_or((entry, ""));
            json!({"ip": ip, "port": port}).to_string()
        }),
        Variation::success("extract.text-with-line-break-at-its-end", |scene, seen, reply| {
            rewrite(scene, seen, reply, |text| format!("{text}\n"));
        }),
        Variation::success("extract.text-with-separator-and-line-break-at-its-end", |scene, seen, reply| {
            let separator = separator(scene, seen);
            rewrite(scene, seen, reply, |text| format!("{text}{separator}\r\n"));
        }),
    ]
}

fn fields() -> Vec<Variation> {
    vec![
        Variation::success("extract.entries-with-time-to-live", |scene, seen, reply| {
            let left = 900 - scene.memory.calls() % 800;
            add(scene, seen, reply, "ttl", &json!(left));
        }),
        Variation::success("extract.entries-with-names-that-sound-secret", |scene, seen, reply| {
            add(scene, seen, reply, "passwordRequired", &json!(false));
            add(scene, seen, reply, "password", &json!(""));
            add(scene, seen, reply, "tokenExpiresAt", &json!("2030-01-01T00:00:00Z"));
            add(scene, seen, reply, "upstreamRegion", &json!("EU"));
            add(scene, seen, reply, "_links", &json!({}));
        }),
        Variation::success("static.items-that-speak-of-passwords", |scene, seen, reply| {
            if !is_extract(scene, seen) {
                reply.edit(|body| {
                    for item in body["data"]["items"].as_array_mut().into_iter().flatten() {
                        item["passwordUpdatedAt"] = json!("2030-01-01T00:00:00Z");
                        item["passwordSet"] = json!(true);
                    }
                });
            }
        }),
    ]
}

fn callers() -> Vec<Variation> {
    vec![
        Variation::request("extract.link-credential-by-header-alone", |scene, seen| {
            let link = scene.facts.link_credential.as_ref().map(|link| link.expose().to_owned());
            if is_extract(scene, seen) && seen.param(&scene.contract.extract.api_key.name) == link {
                scene.reject(seen);
            }
        }),
        Variation::success("extract.proxy-on-this-machine-trusted", |scene, seen, reply| {
            let claimed = seen.headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
            if let Some(claimed) = claimed.filter(|_| is_extract(scene, seen)) {
                reply.edit(|body| body["request_ip"] = json!(claimed));
            }
        })
        .with_target(|world, base| {
            let facts = Facts { egress_ip: None, ..world.facts.clone() };
            let token = Secret::new("API_KEY", world.token.as_str());
            Target::new(base, token, facts, false).expect("a proxy has a usable address")
        }),
    ]
}

fn is_extract(scene: &Scene, seen: &ProxiedRequest) -> bool {
    scene.operation(seen) == Some(OperationId::Extract)
}

fn rewrite(scene: &Scene, seen: &ProxiedRequest, reply: &mut Reply, how: impl FnOnce(&str) -> String) {
    if is_extract(scene, seen) && scene.wants_text(seen) {
        reply.body = how(&String::from_utf8_lossy(&reply.body)).into();
    }
}

fn add(scene: &Scene, seen: &ProxiedRequest, reply: &mut Reply, name: &str, value: &serde_json::Value) {
    if is_extract(scene, seen) {
        reply.edit(|body| {
            for entry in body["data"].as_array_mut().into_iter().flatten() {
                entry[name] = value.clone();
            }
        });
    }
}
