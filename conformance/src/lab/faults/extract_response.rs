//! Faults in what the responses of an extraction look like.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use super::condition::{at_maximum, by_bearer, in_text, of_scarce_region, with_other_protocol};
use super::edit::{body, change, put, remove, rename, set, with_status};
use crate::lab::Fault;

pub(crate) fn faults() -> Vec<Fault> {
    [envelope(), endpoint(), request_ip(), error(), posted()].into_iter().flatten().collect()
}

/// Responses to POST, whose errors are in order but for these.
fn posted() -> Vec<Fault> {
    let posted = |id, breaks| Fault::new(id, breaks).when(|call| call.method == hyper::Method::POST);
    faults_of![
        "extract.post-error-envelope/",
        posted("no-code", "An error of POST has no code.").reply(body(remove("/code"))),
        posted("no-code-in-text", "An error of POST that asks for text has no code.")
            .when(in_text)
            .reply(body(remove("/code"))),
        posted("no-message", "An error of POST has no message.").reply(body(remove("/message"))),
        posted("null-code", "The code of an error of POST is null.").reply(body(set("/code", Value::Null))),
    ]
}

fn envelope() -> Vec<Fault> {
    faults_of![
        "extract.envelope/",
        fault("code-of-static", "The code is 200.").success(set("/code", 200)),
        fault("code-text", "The code is a string.").success(set("/code", "0")),
        fault("code-missing", "There is no code.").success(remove("/code")),
        fault("code-null", "The code is null.").success(set("/code", Value::Null)),
        fault("success-missing", "There is no success.").success(remove("/success")),
        fault("success-false", "success is false.").success(set("/success", false)),
        fault("success-text", "success is a string.").success(set("/success", "true")),
        fault("success-number", "success is 1.").success(set("/success", 1)),
        fault("msg-missing", "There is no msg.").success(remove("/msg")),
        fault("msg-null", "The msg is null.").success(set("/msg", Value::Null)),
        fault("msg-number", "The msg is a number.").success(set("/msg", 0)),
        fault("msg-of-static", "The msg is called message.").success(rename("/msg", "message")),
        fault("data-missing", "There is no data.").success(remove("/data")),
        fault("request-ip-missing", "There is no request_ip.").success(remove("/request_ip")),
        fault("request-ip-camel", "request_ip is called requestIp.")
            .success(rename("/request_ip", "requestIp")),
        fault("other-protocol", "For the other protocol there is no msg.")
            .when(with_other_protocol)
            .success(remove("/msg")),
        fault("when-partial", "A partial result has success false.")
            .when(of_scarce_region)
            .success(set("/success", false)),
        fault("at-maximum", "The largest extraction has no request_ip.")
            .when(at_maximum)
            .success(remove("/request_ip")),
        fault("created", "An extraction gets HTTP 201.").reply(with_status(StatusCode::CREATED)),
        fault("partial-content", "A partial result gets HTTP 206.")
            .when(of_scarce_region)
            .reply(with_status(StatusCode::PARTIAL_CONTENT)),
    ]
}

fn endpoint() -> Vec<Fault> {
    faults_of![
        "extract.endpoint/",
        fault("port-text", "A port is a string.").success(change("/data/*/port", as_text)),
        fault("last-port-text", "The last port of a large extraction is a string.")
            .when(at_maximum)
            .success(change("/data/-/port", as_text)),
        fault("port-text-other-protocol", "A port of the other protocol is a string.")
            .when(with_other_protocol)
            .success(change("/data/*/port", as_text)),
        fault("port-null", "A port is null.").success(set("/data/-/port", Value::Null)),
        fault("port-fraction", "A port is no whole number.").success(set("/data/0/port", 20_000.5)),
        fault("port-missing", "A port is missing.").success(remove("/data/*/port")),
        fault("port-within-ip", "The port is part of ip.")
            .success(change("/data/*", |entry| *entry = json!({"ip": joined(entry)}))),
        fault("ip-missing", "An ip is missing.").success(remove("/data/-/ip")),
        fault("ip-null", "An ip is null.").success(set("/data/0/ip", Value::Null)),
        fault("ip-number", "An ip is a number.").success(set("/data/-/ip", 3_405_803_783_u32)),
        fault("ip-renamed", "The ip is called host.").success(rename("/data/*/ip", "host")),
        fault("text", "An entry is a string.")
            .success(change("/data/*", |entry| *entry = json!(joined(entry)))),
        fault("internal-id", "An entry shows an internal id.").success(set("/data/*/internalId", 7)),
        fault("upstream", "An entry shows its internal host.")
            .success(set("/data/*/internalHost", "10.0.0.7")),
        fault("underscore", "The last entry shows a field of the storage.")
            .success(set("/data/-/_internal_id", "65a")),
        fault("supplier-when-partial", "An entry of a partial result shows its supplier.")
            .when(of_scarce_region)
            .success(set("/data/0/supplierInternal", "acme")),
        fault("cost", "An entry shows what it costs.").success(set("/data/*/internal_cost", 0.1)),
    ]
}

fn request_ip() -> Vec<Fault> {
    let says =
        |id, breaks, text: &'static str| Fault::new(id, breaks).success(set("/request_ip", json!(text)));
    let from_header = |id, breaks, name: &'static str| {
        Fault::new(id, breaks).success(move |call, body| {
            if let Some(claimed) = call.header(name).and_then(|value| value.split([',', ';']).next()) {
                let claimed = claimed.trim().trim_start_matches("for=").trim_matches('"');
                put(body, "/request_ip", &json!(claimed));
            }
        })
    };
    faults_of![
        "extract.request-ip/",
        says("empty", "request_ip is empty.", ""),
        says("word", "request_ip is a word.", "unknown"),
        says("ipv6", "request_ip is the IPv6 loopback.", "::1"),
        says("mapped", "request_ip is an IPv4 address mapped into IPv6.", "::ffff:127.0.0.1"),
        says("with-port", "request_ip has a port.", "127.0.0.1:40000"),
        says("own", "request_ip is the address of the server.", "10.0.0.1"),
        says("unspecified", "request_ip is 0.0.0.0.", "0.0.0.0"),
        says("neighbour", "request_ip is one off.", "127.0.0.2"),
        says("padded", "request_ip has leading zeros.", "127.000.000.001"),
        says("masked", "request_ip is masked.", "127.0.0.*"),
        says("own-by-bearer", "With a bearer token request_ip is the address of the server.", "10.0.0.1")
            .when(by_bearer),
        says("own-when-partial", "In a partial result request_ip is the address of the server.", "10.0.0.1")
            .when(of_scarce_region),
        says(
            "own-other-protocol",
            "For the other protocol request_ip is the address of the server.",
            "10.0.0.1"
        )
        .when(with_other_protocol),
        fault("number", "request_ip is a number.").success(set("/request_ip", 2_130_706_433)),
        fault("list", "request_ip is a list.").success(change("/request_ip", |ip| *ip = json!([ip.clone()]))),
        from_header("forwarded-for", "request_ip is what X-Forwarded-For says.", "x-forwarded-for"),
        from_header("real-ip", "request_ip is what X-Real-IP says.", "x-real-ip"),
        from_header("forwarded", "request_ip is what Forwarded says.", "forwarded"),
        from_header("client-ip", "request_ip is what X-Client-IP says.", "x-client-ip"),
        from_header("true-client-ip", "request_ip is what True-Client-IP says.", "true-client-ip"),
    ]
}

fn error() -> Vec<Fault> {
    let without_message = |id, breaks, status: u16| {
        Fault::new(id, breaks).rejection(move |_, reply| {
            if reply.status.as_u16() == status {
                reply.edit(|body| drop(body.as_object_mut().map(|body| body.shift_remove("message"))));
            }
        })
    };
    let plain = |id, breaks, media: &'static str, text: &'static str| {
        Fault::new(id, breaks).rejection(move |_, reply| {
            reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
            reply.body = Bytes::from_static(text.as_bytes());
        })
    };
    faults_of![
        "extract.error-envelope/",
        fault("code-of-success", "A rejection has code 0.").rejection(body(set("/code", 0))),
        fault("code-missing", "A rejection has no code.").rejection(body(remove("/code"))),
        fault("message-missing", "A rejection has no message.").rejection(body(remove("/message"))),
        fault("message-null", "The message is null.").rejection(body(set("/message", Value::Null))),
        fault("message-number", "The message is a number.").rejection(body(set("/message", 4))),
        fault("message-list", "The message is a list.").rejection(body(set("/message", json!(["no"])))),
        fault("message-renamed", "The message is called msg.").rejection(body(|_, body| {
            *body = json!({"code": body["code"], "msg": body["message"]});
        })),
        fault("code-null", "The code is null.").rejection(body(set("/code", Value::Null))),
        fault("code-boolean", "The code is false.").rejection(body(set("/code", false))),
        fault("nested", "Code and message stand in an error object.")
            .rejection(body(|_, body| *body = json!({"error": body.clone()}))),
        fault("list", "A rejection is a list of errors.")
            .rejection(body(|_, body| *body = json!([body.clone()]))),
        plain("empty", "A rejection has no body.", "application/json", ""),
        plain("html", "A rejection is an HTML page.", "text/html", "<h1>400 Bad Request</h1>"),
        plain("text", "A rejection is text.", "text/plain", "ERROR: not allowed"),
        without_message("missing-token", "A rejected token has no message.", 401),
        without_message("forbidden", "A rejected account has no message.", 403),
        without_message("bad-request", "A rejected parameter has no message.", 400),
    ]
}

fn as_text(port: &mut Value) {
    *port = json!(port.to_string());
}

/// Host and port of an entry.
fn joined(entry: &Value) -> String {
    format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"])
}
