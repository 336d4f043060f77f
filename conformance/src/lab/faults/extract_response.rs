//! Faults in what the responses of an extraction look like.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use super::words::*;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "extract.envelope/" {
            "code-of-static": "The code is 200." => set("/code", 200);
            "code-text": "The code is a string." => set("/code", "0");
            "code-missing": "There is no code." => remove("/code");
            "code-null": "The code is null." => set("/code", Value::Null);
            "success-missing": "There is no success." => remove("/success");
            "success-false": "success is false." => set("/success", false);
            "success-text": "success is a string." => set("/success", "true");
            "success-number": "success is 1." => set("/success", 1);
            "msg-missing": "There is no msg." => remove("/msg");
            "msg-null": "The msg is null." => set("/msg", Value::Null);
            "msg-number": "The msg is a number." => set("/msg", 0);
            "msg-of-static": "The msg is called message." => rename("/msg", "message");
            "data-missing": "There is no data." => remove("/data");
            "request-ip-missing": "There is no request_ip." => remove("/request_ip");
            "request-ip-camel": "request_ip is called requestIp." => rename("/request_ip", "requestIp");
            "other-protocol": "For the other protocol there is no msg." if with_other_protocol => remove("/msg");
            "when-partial": "A partial result has success false." if scarce_region() => set("/success", false);
            "at-maximum": "The largest extraction has no request_ip." if at_maximum => remove("/request_ip");
            "created": "An extraction gets HTTP 201." => with_status(StatusCode::CREATED);
            "partial-content": "A partial result gets HTTP 206." if scarce_region() => with_status(StatusCode::PARTIAL_CONTENT);
        }
        "extract.endpoint/" {
            "port-text": "A port is a string." => change("/data/*/port", as_text);
            "last-port-text": "The last port of a large extraction is a string." if at_maximum => change("/data/-/port", as_text);
            "port-text-other-protocol": "A port of the other protocol is a string." if with_other_protocol => change("/data/*/port", as_text);
            "port-null": "A port is null." => set("/data/-/port", Value::Null);
            "port-fraction": "A port is no whole number." => set("/data/0/port", 20_000.5);
            "port-missing": "A port is missing." => remove("/data/*/port");
            "port-within-ip": "The port is part of ip." => change("/data/*", |entry| *entry = json!({"ip": joined(entry)}));
            "ip-missing": "An ip is missing." => remove("/data/-/ip");
            "ip-null": "An ip is null." => set("/data/0/ip", Value::Null);
            "ip-number": "An ip is a number." => set("/data/-/ip", 3_405_803_783_u32);
            "ip-renamed": "The ip is called host." => rename("/data/*/ip", "host");
            "text": "An entry is a string." => change("/data/*", |entry| *entry = json!(joined(entry)));
            "internal-id": "An entry shows an internal id." => set("/data/*/internalId", 7);
            "upstream": "An entry shows its internal host." => set("/data/*/internalHost", "10.0.0.7");
            "underscore": "The last entry shows a field of the storage." => set("/data/-/_internal_id", "65a");
            "supplier-when-partial": "An entry of a partial result shows its supplier." if scarce_region() => set("/data/0/supplierInternal", "acme");
            "cost": "An entry shows what it costs." => set("/data/*/internal_cost", 0.1);
        }
        "extract.request-ip/" {
            "empty": "request_ip is empty." => set("/request_ip", "");
            "word": "request_ip is a word." => set("/request_ip", "unknown");
            "ipv6": "request_ip is the IPv6 loopback." => set("/request_ip", "::1");
            "mapped": "request_ip is an IPv4 address mapped into IPv6." => set("/request_ip", "::ffff:127.0.0.1");
            "with-port": "request_ip has a port." => set("/request_ip", "127.0.0.1:40000");
            "own": "request_ip is the address of the server." => set("/request_ip", "10.0.0.1");
            "unspecified": "request_ip is 0.0.0.0." => set("/request_ip", "0.0.0.0");
            "neighbour": "request_ip is one off." => set("/request_ip", "127.0.0.2");
            "padded": "request_ip has leading zeros." => set("/request_ip", "127.000.000.001");
            "masked": "request_ip is masked." => set("/request_ip", "127.0.0.*");
            "own-by-bearer": "With a bearer token request_ip is the address of the server." if by_bearer => set("/request_ip", "10.0.0.1");
            "own-when-partial": "In a partial result request_ip is the address of the server." if scarce_region() => set("/request_ip", "10.0.0.1");
            "own-other-protocol": "For the other protocol request_ip is the address of the server."
                if with_other_protocol => set("/request_ip", "10.0.0.1");
            "number": "request_ip is a number." => set("/request_ip", 2_130_706_433);
            "list": "request_ip is a list." => change("/request_ip", |ip| *ip = json!([ip.clone()]));
            "forwarded-for": "request_ip is what X-Forwarded-For says." => take_first_of("x-forwarded-for");
            "real-ip": "request_ip is what X-Real-IP says." => take_first_of("x-real-ip");
            "forwarded": "request_ip is what Forwarded says." => take_first_of("forwarded");
            "client-ip": "request_ip is what X-Client-IP says." => take_first_of("x-client-ip");
            "true-client-ip": "request_ip is what True-Client-IP says." => take_first_of("true-client-ip");
        }
        "extract.error-envelope/" {
            "code-of-success": "A rejection has code 0." => error(set("/code", 0));
            "code-missing": "A rejection has no code." => error(remove("/code"));
            "message-missing": "A rejection has no message." => error(remove("/message"));
            "message-null": "The message is null." => error(set("/message", Value::Null));
            "message-number": "The message is a number." => error(set("/message", 4));
            "message-list": "The message is a list." => error(set("/message", json!(["no"])));
            "message-renamed": "The message is called msg." => error(|_, body| *body = json!({"code": body["code"], "msg": body["message"]}));
            "code-null": "The code is null." => error(set("/code", Value::Null));
            "code-boolean": "The code is false." => error(set("/code", false));
            "nested": "Code and message stand in an error object." => error(|_, body| *body = json!({"error": body.clone()}));
            "list": "A rejection is a list of errors." => error(|_, body| *body = json!([body.clone()]));
            "empty": "A rejection has no body." => plain("application/json", "");
            "html": "A rejection is an HTML page." => plain("text/html", "<h1>400 Bad Request</h1>");
            "text": "A rejection is text." => plain("text/plain", "ERROR: not allowed");
            "missing-token": "A rejected token has no message." => without_message(StatusCode::UNAUTHORIZED);
            "forbidden": "A rejected account has no message." => without_message(StatusCode::FORBIDDEN);
            "bad-request": "A rejected parameter has no message." => without_message(StatusCode::BAD_REQUEST);
        }
        // Errors of POST are in order but for these.
        "extract.post-error-envelope/" {
            "no-code": "An error of POST has no code." if by_post => body(remove("/code"));
            "no-code-in-text": "An error of POST that asks for text has no code." if by_post, in_text => body(remove("/code"));
            "no-message": "An error of POST has no message." if by_post => body(remove("/message"));
            "null-code": "The code of an error of POST is null." if by_post => body(set("/code", Value::Null));
            "no-code-for-a-form": "An error of POST with a form has no code." if by_post, with_form => body(remove("/code"));
            "no-code-for-no-json": "An error of POST whose body is not JSON has no code."
                if by_post, that(|call| !call.body.is_empty() && serde_json::from_slice::<Value>(&call.body).is_err())
                => body(remove("/code"));
        }
    }
}

/// The body is a form by its media type.
fn with_form(call: &Call<'_>) -> bool {
    call.header("Content-Type").is_some_and(|media| media.contains("form"))
}

fn by_post(call: &Call<'_>) -> bool {
    call.method == Method::POST
}

fn as_text(port: &mut Value) {
    *port = json!(port.to_string());
}

/// Host and port of an entry.
fn joined(entry: &Value) -> String {
    format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"])
}

/// Gives `request_ip` the first address that a header names.
fn take_first_of(header: &'static str) -> impl OnBody {
    move |call, body| {
        if let Some(claimed) = call.header(header).and_then(|value| value.split([',', ';']).next()) {
            let claimed = claimed.trim().trim_start_matches("for=").trim_matches('"');
            put_at(body, "/request_ip", &json!(claimed));
        }
    }
}

fn plain(media: &'static str, text: &'static str) -> Act {
    rejection(move |_, reply| {
        reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        reply.body = Bytes::from_static(text.as_bytes());
    })
}

fn without_message(status: StatusCode) -> Act {
    let change = body(remove("/message"));
    reply(move |call, reply| {
        if reply.status == status {
            change(call, reply);
        }
    })
}
