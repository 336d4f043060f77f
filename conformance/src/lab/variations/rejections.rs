//! Variations in how a request is rejected.

use crate::contract::OperationId;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use serde_json::{Value, json};

use crate::lab::Context;
use crate::lab::Variation;
use crate::lab::exchange::ProxiedRequest;

/// All of them.
pub(crate) fn variations() -> Vec<Variation> {
    let with_status = |id, decides, status: StatusCode| {
        Variation::rejection(id, decides, move |_, _, reply| reply.status = status)
    };
    variations_of![
        "rejections.",
        with_status("within-200", "Rejections have HTTP status 200 and an error code.", StatusCode::OK),
        rejection(
            "within-200-with-no-data",
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
            }
        ),
        with_status("all-422", "All rejections have HTTP status 422.", StatusCode::UNPROCESSABLE_ENTITY),
        with_status("all-404", "All rejections have HTTP status 404.", StatusCode::NOT_FOUND),
        // A warning, since clients may retry it, and no failure.
        with_status(
            "all-500-with-a-code",
            "All rejections have HTTP status 500 with their own code.",
            StatusCode::INTERNAL_SERVER_ERROR
        ),
        with_status("all-403", "All rejections have HTTP status 403.", StatusCode::FORBIDDEN),
        with_status("created", "All rejections have HTTP status 202.", StatusCode::ACCEPTED),
        rejection("code-words", "The code of a rejection is a word.", |_, _, reply| {
            reply.edit(|body| body["code"] = json!("INVALID_ARGUMENT"));
        }),
        rejection("code-negative", "The code of a rejection is -1.", |_, _, reply| {
            reply.edit(|body| body["code"] = json!(-1))
        }),
        rejection("code-is-status", "The code of a rejection is its HTTP status.", |_, _, reply| {
            let status = reply.status.as_u16();
            reply.edit(|body| body["code"] = json!(status));
        }),
        rejection(
            "code-of-the-other-kind",
            "The code of a rejection is the success code of the other operations: 200 for extraction, 0 for the static ones.",
            |context, seen, reply| {
                // 200 is a success in a static operation alone, and 0 in an extraction alone.
                let code = if is_static(context, seen) { 0 } else { 200 };
                reply.edit(|body| body["code"] = json!(code));
            }
        ),
        rejection(
            "with-more",
            "Rejections have further fields, such as a list of errors, a time and a path.",
            |_, _, reply| {
                reply.edit(|body| {
                    body["errors"] = json!([{"field": "num", "reason": "range"}]);
                    body["timestamp"] = json!(1_767_519_000);
                    body["path"] = json!("/");
                });
            }
        ),
        rejection("message-empty", "The message of a rejection is empty.", |_, _, reply| reply
            .edit(|body| body["message"] = json!(""))),
        of_static("static-empty", "A rejection of a static operation has no body.", "", "text/plain"),
        of_static(
            "static-page",
            "A rejection of a static operation is a page in HTML.",
            "<!doctype html><title>400</title>",
            "text/html"
        ),
        of_static(
            "static-text",
            "A rejection of a static operation is plain text.",
            "bad request",
            "text/plain"
        ),
        of_static(
            "static-problem",
            "A rejection of a static operation is `application/problem+json` (RFC 9457).",
            r#"{"type": "about:blank", "title": "Bad Request", "status": 400}"#,
            "application/problem+json"
        ),
        rejection(
            "static-nested",
            "A rejection of a static operation has code and message within a field `error`.",
            |context, seen, reply| {
                if is_static(context, seen) {
                    reply.edit(|body| *body = json!({"error": body.clone()}));
                }
            }
        ),
        of_static(
            "static-list",
            "A rejection of a static operation is a JSON list.",
            r#"["bad request"]"#,
            "application/json"
        ),
        rejection(
            "static-redirect",
            "A rejection of a static operation redirects to a login page on another host.",
            |context, seen, reply| {
                if is_static(context, seen) {
                    reply.status = StatusCode::FOUND;
                    reply.headers.insert(LOCATION, HeaderValue::from_static("https://login.invalid/"));
                    reply.body = Bytes::new();
                }
            }
        ),
        serve(
            "static-status-alone",
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
            }
        ),
    ]
}

fn is_static(context: &Context, seen: &ProxiedRequest) -> bool {
    context.operation(seen).is_some_and(|operation| operation != OperationId::Extract)
}

/// Gives the rejections of the static operations another body.
fn of_static(id: &'static str, decides: &'static str, text: &'static str, media: &'static str) -> Variation {
    Variation::rejection(id, decides, move |context, seen, reply| {
        if is_static(context, seen) {
            reply.body = Bytes::from_static(text.as_bytes());
            reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        }
    })
}
