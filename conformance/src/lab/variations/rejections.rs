//! Variations in how a request is rejected.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use serde_json::{Value, json};

use super::rejection;
use crate::contract::OperationId;
use crate::lab::faults::words::*;
use crate::lab::{Call, Reply, Variation};

pub(crate) fn variations() -> Vec<Variation> {
    variations! {
        "rejections." {
            "within-200": "Rejections have HTTP status 200 and an error code." => status(StatusCode::OK);
            "within-200-with-no-data":
                "Rejections have HTTP status 200, `success` false and `data` null, and the static ones lack the headers of a success."
                => rejection(|call, reply| {
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
                });
            "all-422": "All rejections have HTTP status 422." => status(StatusCode::UNPROCESSABLE_ENTITY);
            "all-404": "All rejections have HTTP status 404." => status(StatusCode::NOT_FOUND);
            // A warning, since clients may retry it, and no failure.
            "all-500-with-a-code": "All rejections have HTTP status 500 with their own code." => status(StatusCode::INTERNAL_SERVER_ERROR);
            "all-403": "All rejections have HTTP status 403." => status(StatusCode::FORBIDDEN);
            "created": "All rejections have HTTP status 202." => status(StatusCode::ACCEPTED);
            "code-words": "The code of a rejection is a word." => rejection(body(set("/code", "INVALID_ARGUMENT")));
            "code-negative": "The code of a rejection is -1." => rejection(body(set("/code", -1)));
            "code-is-status": "The code of a rejection is its HTTP status." => rejection(|_, reply| {
                let status = reply.status.as_u16();
                reply.edit(|body| body["code"] = json!(status));
            });
            // 200 is a success in a static operation alone, and 0 in an extraction alone.
            "code-of-the-other-kind":
                "The code of a rejection is the success code of the other operations: 200 for extraction, 0 for the static ones."
                => rejection(body(|call, body| body["code"] = json!(if is_static(call) { 0 } else { 200 })));
            "with-more": "Rejections have further fields, such as a list of errors, a time and a path." => rejection(body(|_, body| {
                body["errors"] = json!([{"field": "num", "reason": "range"}]);
                body["timestamp"] = json!(1_767_519_000);
                body["path"] = json!("/");
            }));
            "message-empty": "The message of a rejection is empty." => rejection(body(set("/message", "")));
            "static-empty": "A rejection of a static operation has no body." => of_static("", "text/plain");
            "static-page": "A rejection of a static operation is a page in HTML." => of_static("<!doctype html><title>400</title>", "text/html");
            "static-text": "A rejection of a static operation is plain text." => of_static("bad request", "text/plain");
            "static-problem": "A rejection of a static operation is `application/problem+json` (RFC 9457)."
                => of_static(r#"{"type": "about:blank", "title": "Bad Request", "status": 400}"#, "application/problem+json");
            "static-nested": "A rejection of a static operation has code and message within a field `error`."
                => rejection(|call, reply| if is_static(call) {
                    reply.edit(|body| *body = json!({"error": body.clone()}));
                });
            "static-list": "A rejection of a static operation is a JSON list." => of_static(r#"["bad request"]"#, "application/json");
            "static-redirect": "A rejection of a static operation redirects to a login page on another host."
                => rejection(|call, reply| if is_static(call) {
                    reply.status = StatusCode::FOUND;
                    reply.headers.insert(LOCATION, HeaderValue::from_static("https://login.invalid/"));
                    reply.body = Bytes::new();
                });
            "static-status-alone": "A rejection of a static operation is a status without body and headers."
                => reply(|call, reply| if is_static(call) && !call.accepted(reply) {
                    reply.body = Bytes::new();
                    reply.headers.clear();
                });
        }
    }
}

fn is_static(call: &Call<'_>) -> bool {
    call.operation().is_some_and(|operation| operation != OperationId::Extract)
}

/// Gives all rejections this status.
fn status(status: StatusCode) -> Act {
    rejection(move |_, reply| reply.status = status)
}

/// Gives the rejections of the static operations another body.
fn of_static(text: &'static str, media: &'static str) -> Act {
    rejection(move |call, reply: &mut Reply| {
        if is_static(call) {
            reply.body = Bytes::from_static(text.as_bytes());
            reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        }
    })
}
