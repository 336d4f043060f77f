//! Variations in how a request is rejected.

use crate::contract::OperationId;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use serde_json::{Value, json};

use crate::lab::exchange::Reply;
use crate::lab::faults::edit::{body, set};
use crate::lab::{Call, Variation};

pub(crate) fn variations() -> Vec<Variation> {
    let with_status = |id, decides, status: StatusCode| {
        Variation::new(id, decides).rejection(move |_, reply| reply.status = status)
    };
    variations_of![
        "rejections.",
        with_status("within-200", "Rejections have HTTP status 200 and an error code.", StatusCode::OK),
        variation(
            "within-200-with-no-data",
            "Rejections have HTTP status 200, `success` false and `data` null, and the static ones lack the headers of a success."
        )
        .rejection(|call, reply| {
            reply.status = StatusCode::OK;
            reply.edit(|body| {
                body["success"] = json!(false);
                body["data"] = Value::Null;
                body["msg"] = json!("no");
            });
            if is_static(call) {
                reply.headers.remove("cache-control");
                reply.headers.remove("x-request-id");
            }
        }),
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
        variation("code-words", "The code of a rejection is a word.")
            .rejection(body(set("/code", "INVALID_ARGUMENT"))),
        variation("code-negative", "The code of a rejection is -1.").rejection(body(set("/code", -1))),
        variation("code-is-status", "The code of a rejection is its HTTP status.").rejection(|_, reply| {
            let status = reply.status.as_u16();
            reply.edit(|body| body["code"] = json!(status));
        }),
        variation(
            "code-of-the-other-kind",
            "The code of a rejection is the success code of the other operations: 200 for extraction, 0 for the static ones."
        )
        .rejection(|call, reply| {
            // 200 is a success in a static operation alone, and 0 in an extraction alone.
            let code = if is_static(call) { 0 } else { 200 };
            reply.edit(|body| body["code"] = json!(code));
        }),
        variation(
            "with-more",
            "Rejections have further fields, such as a list of errors, a time and a path."
        )
        .rejection(body(|_, body| {
            body["errors"] = json!([{"field": "num", "reason": "range"}]);
            body["timestamp"] = json!(1_767_519_000);
            body["path"] = json!("/");
        })),
        variation("message-empty", "The message of a rejection is empty.")
            .rejection(body(set("/message", ""))),
        variation("static-empty", "A rejection of a static operation has no body.")
            .rejection(of_static("", "text/plain")),
        variation("static-page", "A rejection of a static operation is a page in HTML.")
            .rejection(of_static("<!doctype html><title>400</title>", "text/html")),
        variation("static-text", "A rejection of a static operation is plain text.")
            .rejection(of_static("bad request", "text/plain")),
        variation(
            "static-problem",
            "A rejection of a static operation is `application/problem+json` (RFC 9457)."
        )
        .rejection(of_static(
            r#"{"type": "about:blank", "title": "Bad Request", "status": 400}"#,
            "application/problem+json"
        )),
        variation(
            "static-nested",
            "A rejection of a static operation has code and message within a field `error`."
        )
        .rejection(|call, reply| {
            if is_static(call) {
                reply.edit(|body| *body = json!({"error": body.clone()}));
            }
        }),
        variation("static-list", "A rejection of a static operation is a JSON list.")
            .rejection(of_static(r#"["bad request"]"#, "application/json")),
        variation(
            "static-redirect",
            "A rejection of a static operation redirects to a login page on another host."
        )
        .rejection(|call, reply| {
            if is_static(call) {
                reply.status = StatusCode::FOUND;
                reply.headers.insert(LOCATION, HeaderValue::from_static("https://login.invalid/"));
                reply.body = Bytes::new();
            }
        }),
        variation(
            "static-status-alone",
            "A rejection of a static operation is a status without body and headers."
        )
        .serve(|call| {
            Box::pin(async move {
                let mut reply = call.send().await;
                if is_static(&call) && !call.accepted(&reply) {
                    reply.body = Bytes::new();
                    reply.headers.clear();
                }
                reply
            })
        }),
    ]
}

fn is_static(call: &Call<'_>) -> bool {
    call.operation().is_some_and(|operation| operation != OperationId::Extract)
}

/// Gives the rejections of the static operations another body.
fn of_static(text: &'static str, media: &'static str) -> impl Fn(&Call<'_>, &mut Reply) + Send + Sync {
    move |call, reply| {
        if is_static(call) {
            reply.body = Bytes::from_static(text.as_bytes());
            reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        }
    }
}
