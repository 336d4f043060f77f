//! Variations in how a request is refused.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use sallyport_conformance::contract::OperationId;
use serde_json::{Value, json};

use crate::fault::Scene;
use crate::proxy::{Reply, Seen};
use crate::variation::Variation;

/// All of them.
pub fn variations() -> Vec<Variation> {
    vec![
        Variation::refusal("refusals.within-200", |_, _, reply| reply.status = StatusCode::OK),
        Variation::refusal("refusals.within-200-with-no-data", |scene, seen, reply| {
            reply.status = StatusCode::OK;
            reply.edit(|body| {
                body["success"] = json!(false);
                body["data"] = Value::Null;
                body["msg"] = json!("no");
            });
            if is_static(scene, seen) {
                reply.headers.remove("cache-control");
                reply.headers.remove("x-request-id");
            }
        }),
        Variation::refusal("refusals.all-422", |_, _, reply| reply.status = StatusCode::UNPROCESSABLE_ENTITY),
        Variation::refusal("refusals.all-404", |_, _, reply| reply.status = StatusCode::NOT_FOUND),
        // A warning, since clients may retry it, and no failure.
        Variation::refusal("refusals.all-500-with-a-code", |_, _, reply| {
            reply.status = StatusCode::INTERNAL_SERVER_ERROR;
        }),
        Variation::refusal("refusals.all-403", |_, _, reply| reply.status = StatusCode::FORBIDDEN),
        Variation::refusal("refusals.created", |_, _, reply| reply.status = StatusCode::ACCEPTED),
        Variation::refusal("refusals.code-words", |_, _, reply| {
            reply.edit(|body| body["code"] = json!("INVALID_ARGUMENT"));
        }),
        Variation::refusal("refusals.code-negative", |_, _, reply| {
            reply.edit(|body| body["code"] = json!(-1))
        }),
        Variation::refusal("refusals.code-is-status", |_, _, reply| {
            let status = reply.status.as_u16();
            reply.edit(|body| body["code"] = json!(status));
        }),
        Variation::refusal("refusals.code-of-the-other-kind", |scene, seen, reply| {
            // 200 is a success in a static operation alone, and 0 in an extraction alone.
            let code = if is_static(scene, seen) { 0 } else { 200 };
            reply.edit(|body| body["code"] = json!(code));
        }),
        Variation::refusal("refusals.with-more", |_, _, reply| {
            reply.edit(|body| {
                body["errors"] = json!([{"field": "num", "reason": "range"}]);
                body["timestamp"] = json!(1_767_519_000);
                body["path"] = json!("/");
            });
        }),
        Variation::refusal("refusals.message-empty", |_, _, reply| {
            reply.edit(|body| body["message"] = json!(""))
        }),
        Variation::refusal("refusals.static-empty", |scene, seen, reply| {
            of_static(scene, seen, reply, "", "text/plain")
        }),
        Variation::refusal("refusals.static-page", |scene, seen, reply| {
            of_static(scene, seen, reply, "<!doctype html><title>400</title>", "text/html");
        }),
        Variation::refusal("refusals.static-text", |scene, seen, reply| {
            of_static(scene, seen, reply, "bad request", "text/plain");
        }),
        Variation::refusal("refusals.static-problem", |scene, seen, reply| {
            of_static(
                scene,
                seen,
                reply,
                r#"{"type": "about:blank", "title": "Bad Request", "status": 400}"#,
                "application/problem+json",
            );
        }),
        Variation::refusal("refusals.static-nested", |scene, seen, reply| {
            if is_static(scene, seen) {
                reply.edit(|body| *body = json!({"error": body.clone()}));
            }
        }),
        Variation::refusal("refusals.static-list", |scene, seen, reply| {
            of_static(scene, seen, reply, r#"["bad request"]"#, "application/json");
        }),
        Variation::refusal("refusals.static-redirect", |scene, seen, reply| {
            if is_static(scene, seen) {
                reply.status = StatusCode::FOUND;
                reply.headers.insert(LOCATION, HeaderValue::from_static("https://login.invalid/"));
                reply.body = Bytes::new();
            }
        }),
        Variation::serve("refusals.static-status-alone", |scene, seen| {
            Box::pin(async move {
                let mut reply = scene.upstream.call(&seen).await;
                if is_static(scene, &seen) && !scene.accepted(&seen, &reply) {
                    reply.body = Bytes::new();
                    reply.headers.clear();
                }
                reply
            })
        }),
    ]
}

fn is_static(scene: &Scene, seen: &Seen) -> bool {
    scene.operation(seen).is_some_and(|operation| operation != OperationId::Extract)
}

fn of_static(scene: &Scene, seen: &Seen, reply: &mut Reply, text: &'static str, media: &'static str) {
    if is_static(scene, seen) {
        reply.body = Bytes::from_static(text.as_bytes());
        reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    }
}
