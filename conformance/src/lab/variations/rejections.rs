//! Variations in how a request is rejected.

use crate::contract::OperationId;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use serde_json::{Value, json};

use crate::lab::Context;
use crate::lab::Variation;
use crate::lab::exchange::{ProxiedRequest, Reply};

/// All of them.
pub(crate) fn variations() -> Vec<Variation> {
    vec![
        Variation::rejection(
            "rejections.within-200",
            "Rejections have HTTP status 200 and an error code.",
            |_, _, reply| reply.status = StatusCode::OK,
        ),
        Variation::rejection(
            "rejections.within-200-with-no-data",
            "Rejections have HTTP status 200, `success` false and `data` null, and the static ones lack the headers of a success.",
            |context, seen, reply| {
                reply.status = StatusCode::OK;
                reply.edit(|body| {
                    body["success"] = json!(false);
                    body["data"] = Value::Null;
                    body["msg"] = json!("no");
                });
                if is_static(context, seen) {
                    reply.headers.remove("cache-control");
                    reply.headers.remove("x-request-id");
                }
            },
        ),
        Variation::rejection("rejections.all-422", "All rejections have HTTP status 422.", |_, _, reply| {
            reply.status = StatusCode::UNPROCESSABLE_ENTITY
        }),
        Variation::rejection("rejections.all-404", "All rejections have HTTP status 404.", |_, _, reply| {
            reply.status = StatusCode::NOT_FOUND
        }),
        // A warning, since clients may retry it, and no failure.
        Variation::rejection(
            "rejections.all-500-with-a-code",
            "All rejections have HTTP status 500 with their own code.",
            |_, _, reply| {
                reply.status = StatusCode::INTERNAL_SERVER_ERROR;
            },
        ),
        Variation::rejection("rejections.all-403", "All rejections have HTTP status 403.", |_, _, reply| {
            reply.status = StatusCode::FORBIDDEN
        }),
        Variation::rejection("rejections.created", "All rejections have HTTP status 202.", |_, _, reply| {
            reply.status = StatusCode::ACCEPTED
        }),
        Variation::rejection("rejections.code-words", "The code of a rejection is a word.", |_, _, reply| {
            reply.edit(|body| body["code"] = json!("INVALID_ARGUMENT"));
        }),
        Variation::rejection("rejections.code-negative", "The code of a rejection is -1.", |_, _, reply| {
            reply.edit(|body| body["code"] = json!(-1))
        }),
        Variation::rejection(
            "rejections.code-is-status",
            "The code of a rejection is its HTTP status.",
            |_, _, reply| {
                let status = reply.status.as_u16();
                reply.edit(|body| body["code"] = json!(status));
            },
        ),
        Variation::rejection(
            "rejections.code-of-the-other-kind",
            "The code of a rejection is the success code of the other operations: 200 for extraction, 0 for the static ones.",
            |context, seen, reply| {
                // 200 is a success in a static operation alone, and 0 in an extraction alone.
                let code = if is_static(context, seen) { 0 } else { 200 };
                reply.edit(|body| body["code"] = json!(code));
            },
        ),
        Variation::rejection(
            "rejections.with-more",
            "Rejections have further fields, such as a list of errors, a time and a path.",
            |_, _, reply| {
                reply.edit(|body| {
                    body["errors"] = json!([{"field": "num", "reason": "range"}]);
                    body["timestamp"] = json!(1_767_519_000);
                    body["path"] = json!("/");
                });
            },
        ),
        Variation::rejection(
            "rejections.message-empty",
            "The message of a rejection is empty.",
            |_, _, reply| reply.edit(|body| body["message"] = json!("")),
        ),
        Variation::rejection(
            "rejections.static-empty",
            "A rejection of a static operation has no body.",
            |context, seen, reply| of_static(context, seen, reply, "", "text/plain"),
        ),
        Variation::rejection(
            "rejections.static-page",
            "A rejection of a static operation is a page in HTML.",
            |context, seen, reply| {
                of_static(context, seen, reply, "<!doctype html><title>400</title>", "text/html");
            },
        ),
        Variation::rejection(
            "rejections.static-text",
            "A rejection of a static operation is plain text.",
            |context, seen, reply| {
                of_static(context, seen, reply, "bad request", "text/plain");
            },
        ),
        Variation::rejection(
            "rejections.static-problem",
            "A rejection of a static operation is `application/problem+json` (RFC 9457).",
            |context, seen, reply| {
                of_static(
                    context,
                    seen,
                    reply,
                    r#"{"type": "about:blank", "title": "Bad Request", "status": 400}"#,
                    "application/problem+json",
                );
            },
        ),
        Variation::rejection(
            "rejections.static-nested",
            "A rejection of a static operation has code and message within a field `error`.",
            |context, seen, reply| {
                if is_static(context, seen) {
                    reply.edit(|body| *body = json!({"error": body.clone()}));
                }
            },
        ),
        Variation::rejection(
            "rejections.static-list",
            "A rejection of a static operation is a JSON list.",
            |context, seen, reply| {
                of_static(context, seen, reply, r#"["bad request"]"#, "application/json");
            },
        ),
        Variation::rejection(
            "rejections.static-redirect",
            "A rejection of a static operation redirects to a login page on another host.",
            |context, seen, reply| {
                if is_static(context, seen) {
                    reply.status = StatusCode::FOUND;
                    reply.headers.insert(LOCATION, HeaderValue::from_static("https://login.invalid/"));
                    reply.body = Bytes::new();
                }
            },
        ),
        Variation::serve(
            "rejections.static-status-alone",
            "A rejection of a static operation is a status without body and headers.",
            |context, seen| {
                Box::pin(async move {
                    let mut reply = context.upstream.call(&seen).await;
                    if is_static(context, &seen) && !context.accepted(&seen, &reply) {
                        reply.body = Bytes::new();
                        reply.headers.clear();
                    }
                    reply
                })
            },
        ),
    ]
}

fn is_static(context: &Context, seen: &ProxiedRequest) -> bool {
    context.operation(seen).is_some_and(|operation| operation != OperationId::Extract)
}

fn of_static(
    context: &Context,
    seen: &ProxiedRequest,
    reply: &mut Reply,
    text: &'static str,
    media: &'static str,
) {
    if is_static(context, seen) {
        reply.body = Bytes::from_static(text.as_bytes());
        reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    }
}
