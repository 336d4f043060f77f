//! Faults in what the responses of an extraction look like.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use super::condition::{at_maximum, by_bearer, of_scarce_region, with_other_protocol};
use super::edit::{change, put, remove, rename, set};
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    responses().into_iter().chain(posted()).collect()
}

/// Responses to POST, whose errors are in order but for these.
fn posted() -> Vec<Fault> {
    let edited = |id, breaks, edit: fn(&mut Value)| {
        Fault::new(id, breaks).reply(move |call, reply| {
            if call.method == hyper::Method::POST {
                reply.edit(edit);
            }
        })
    };
    faults_of![
        "extract.post-error-envelope/",
        edited("no-code", "An error of POST has no code.", move |body| {
            let _ = body.as_object_mut().and_then(|body| body.shift_remove("code"));
        }),
        fault("no-code-in-text", "An error of POST that asks for text has no code.").reply(|call, reply| {
            if call.method == hyper::Method::POST && call.wants_text() {
                reply.edit(|body| {
                    let _ = body.as_object_mut().and_then(|body| body.shift_remove("code"));
                });
            }
        }),
        edited("no-message", "An error of POST has no message.", move |body| {
            let _ = body.as_object_mut().and_then(|body| body.shift_remove("message"));
        }),
        edited("null-code", "The code of an error of POST is null.", |body| {
            body["code"] = Value::Null;
        }),
    ]
}

fn responses() -> Vec<Fault> {
    [envelope(), endpoint(), request_ip(), error()].into_iter().flatten().collect()
}

fn envelope() -> Vec<Fault> {
    let status = |id, breaks, status: StatusCode| {
        Fault::new(id, breaks).reply(move |call, reply| {
            if call.accepted(reply) {
                reply.status = status;
            }
        })
    };
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
        status("created", "An extraction gets HTTP 201.", StatusCode::CREATED),
        status("partial-content", "A partial result gets HTTP 206.", StatusCode::PARTIAL_CONTENT)
            .when(of_scarce_region),
    ]
}

fn endpoint() -> Vec<Fault> {
    faults_of![
        "extract.endpoint/",
        fault("port-text", "A port is a string.").success(|_, body| ports_as_text(body, "/data/*/port")),
        fault("last-port-text", "The last port of a large extraction is a string.").when(at_maximum).success(
            |_, body| {
                ports_as_text(body, "/data/-/port");
            }
        ),
        fault("port-text-other-protocol", "A port of the other protocol is a string.")
            .when(with_other_protocol)
            .success(|_, body| {
                ports_as_text(body, "/data/*/port");
            }),
        fault("port-null", "A port is null.").success(set("/data/-/port", Value::Null)),
        fault("port-fraction", "A port is no whole number.").success(set("/data/0/port", 20_000.5)),
        fault("port-missing", "A port is missing.").success(remove("/data/*/port")),
        fault("port-within-ip", "The port is part of ip.").success(|_, body| {
            for entry in body["data"].as_array_mut().into_iter().flatten() {
                let joined = format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"]);
                *entry = json!({"ip": joined});
            }
        }),
        fault("ip-missing", "An ip is missing.").success(remove("/data/-/ip")),
        fault("ip-null", "An ip is null.").success(set("/data/0/ip", Value::Null)),
        fault("ip-number", "An ip is a number.").success(set("/data/-/ip", 3_405_803_783_u32)),
        fault("ip-renamed", "The ip is called host.").success(rename("/data/*/ip", "host")),
        fault("text", "An entry is a string.").success(|_, body| {
            for entry in body["data"].as_array_mut().into_iter().flatten() {
                *entry = json!(format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"]));
            }
        }),
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
            let claimed = call.headers.get(name).and_then(|value| value.to_str().ok());
            if let Some(claimed) = claimed.and_then(|value| value.split([',', ';']).next()) {
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
    let body =
        |id, breaks, how: fn(&mut Value)| Fault::new(id, breaks).rejection(move |_, reply| reply.edit(how));
    let plain = |id, breaks, media: &'static str, text: &'static str| {
        Fault::new(id, breaks).rejection(move |_, reply| {
            reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
            reply.body = Bytes::from_static(text.as_bytes());
        })
    };
    let drop = |name: &'static str| {
        move |_: &Call<'_>, reply: &mut Reply| {
            reply.edit(|body| {
                body.as_object_mut().map(|body| body.shift_remove(name));
            });
        }
    };
    let status = |wanted: u16| {
        move |call: &Call<'_>, reply: &mut Reply| {
            if reply.status.as_u16() == wanted {
                drop("message")(call, reply);
            }
        }
    };
    faults_of![
        "extract.error-envelope/",
        body("code-of-success", "A rejection has code 0.", |body| body["code"] = json!(0)),
        fault("code-missing", "A rejection has no code.").rejection(drop("code")),
        fault("message-missing", "A rejection has no message.").rejection(drop("message")),
        body("message-null", "The message is null.", |body| body["message"] = Value::Null),
        body("message-number", "The message is a number.", |body| body["message"] = json!(4)),
        body("message-list", "The message is a list.", |body| body["message"] = json!(["no"])),
        body("message-renamed", "The message is called msg.", |body| {
            *body = json!({"code": body["code"], "msg": body["message"]});
        }),
        body("code-null", "The code is null.", |body| body["code"] = Value::Null),
        body("code-boolean", "The code is false.", |body| body["code"] = json!(false)),
        body("nested", "Code and message stand in an error object.", |body| {
            *body = json!({"error": body.clone()});
        }),
        body("list", "A rejection is a list of errors.", |body| *body = json!([body.clone()])),
        plain("empty", "A rejection has no body.", "application/json", ""),
        plain("html", "A rejection is a page.", "text/html", "<h1>400 Bad Request</h1>"),
        plain("text", "A rejection is text.", "text/plain", "ERROR: not allowed"),
        fault("missing-token", "A rejected token has no message.").rejection(status(401)),
        fault("forbidden", "A rejected account has no message.").rejection(status(403)),
        fault("bad-request", "A rejected parameter has no message.").rejection(status(400)),
    ]
}

fn ports_as_text(body: &mut Value, path: &str) {
    super::edit::visit(body, path, &mut |port| *port = json!(port.to_string()));
}
