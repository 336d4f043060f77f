//! Faults in what the responses of an extraction look like.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use super::condition::{at_maximum, by_bearer, of_scarce_region, with_other_protocol};
use super::edit::{change, put, remove, rename, set};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    responses().into_iter().chain(posted()).collect()
}

/// Responses to POST, whose errors are in order but for these.
fn posted() -> Vec<Fault> {
    let fault = |id, breaks, edit: fn(&mut Value)| {
        Fault::reply(id, breaks, move |_, seen: &ProxiedRequest, reply: &mut Reply| {
            if seen.method == hyper::Method::POST {
                reply.edit(edit);
            }
        })
    };
    faults_of![
        "extract.post-error-envelope/",
        fault("no-code", "An error of POST has no code.", move |body| {
            let _ = body.as_object_mut().and_then(|body| body.shift_remove("code"));
        }),
        reply(
            "no-code-in-text",
            "An error of POST that asks for text has no code.",
            |context, seen, reply| {
                if seen.method == hyper::Method::POST && context.wants_text(seen) {
                    reply.edit(|body| {
                        let _ = body.as_object_mut().and_then(|body| body.shift_remove("code"));
                    });
                }
            }
        ),
        fault("no-message", "An error of POST has no message.", move |body| {
            let _ = body.as_object_mut().and_then(|body| body.shift_remove("message"));
        }),
        fault("null-code", "The code of an error of POST is null.", |body| {
            body["code"] = Value::Null;
        }),
    ]
}

fn responses() -> Vec<Fault> {
    [envelope(), endpoint(), request_ip(), error()].into_iter().flatten().collect()
}

fn envelope() -> Vec<Fault> {
    let status = |id, breaks, status: StatusCode| {
        Fault::reply(id, breaks, move |context, seen, reply| {
            if context.accepted(seen, reply) {
                reply.status = status;
            }
        })
    };
    faults_of![
        "extract.envelope/",
        success("code-of-static", "The code is 200.", set("/code", 200)),
        success("code-text", "The code is a string.", set("/code", "0")),
        success("code-missing", "There is no code.", remove("/code")),
        success("code-null", "The code is null.", set("/code", Value::Null)),
        success("success-missing", "There is no success.", remove("/success")),
        success("success-false", "success is false.", set("/success", false)),
        success("success-text", "success is a string.", set("/success", "true")),
        success("success-number", "success is 1.", set("/success", 1)),
        success("msg-missing", "There is no msg.", remove("/msg")),
        success("msg-null", "The msg is null.", set("/msg", Value::Null)),
        success("msg-number", "The msg is a number.", set("/msg", 0)),
        success("msg-of-static", "The msg is called message.", rename("/msg", "message")),
        success("data-missing", "There is no data.", remove("/data")),
        success("request-ip-missing", "There is no request_ip.", remove("/request_ip")),
        success("request-ip-camel", "request_ip is called requestIp.", rename("/request_ip", "requestIp")),
        success("other-protocol", "For the other protocol there is no msg.", remove("/msg"))
            .when(with_other_protocol),
        success("when-partial", "A partial result has success false.", set("/success", false))
            .when(of_scarce_region),
        success("at-maximum", "The largest extraction has no request_ip.", remove("/request_ip"))
            .when(at_maximum),
        status("created", "An extraction gets HTTP 201.", StatusCode::CREATED),
        status("partial-content", "A partial result gets HTTP 206.", StatusCode::PARTIAL_CONTENT)
            .when(of_scarce_region),
    ]
}

fn endpoint() -> Vec<Fault> {
    faults_of![
        "extract.endpoint/",
        success("port-text", "A port is a string.", |_, _, body| ports_as_text(body, "/data/*/port")),
        success("last-port-text", "The last port of a large extraction is a string.", |_, _, body| {
            ports_as_text(body, "/data/-/port");
        })
        .when(at_maximum),
        success("port-text-other-protocol", "A port of the other protocol is a string.", |_, _, body| {
            ports_as_text(body, "/data/*/port");
        })
        .when(with_other_protocol),
        success("port-null", "A port is null.", set("/data/-/port", Value::Null)),
        success("port-fraction", "A port is no whole number.", set("/data/0/port", 20_000.5)),
        success("port-missing", "A port is missing.", remove("/data/*/port")),
        success("port-within-ip", "The port is part of ip.", |_, _, body| {
            for entry in body["data"].as_array_mut().into_iter().flatten() {
                let joined = format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"]);
                *entry = json!({"ip": joined});
            }
        }),
        success("ip-missing", "An ip is missing.", remove("/data/-/ip")),
        success("ip-null", "An ip is null.", set("/data/0/ip", Value::Null)),
        success("ip-number", "An ip is a number.", set("/data/-/ip", 3_405_803_783_u32)),
        success("ip-renamed", "The ip is called host.", rename("/data/*/ip", "host")),
        success("text", "An entry is a string.", |_, _, body| {
            for entry in body["data"].as_array_mut().into_iter().flatten() {
                *entry = json!(format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"]));
            }
        }),
        success("internal-id", "An entry shows an internal id.", set("/data/*/internalId", 7)),
        success("upstream", "An entry shows its internal host.", set("/data/*/internalHost", "10.0.0.7")),
        success(
            "underscore",
            "The last entry shows a field of the storage.",
            set("/data/-/_internal_id", "65a")
        ),
        success(
            "supplier-when-partial",
            "An entry of a partial result shows its supplier.",
            set("/data/0/supplierInternal", "acme")
        )
        .when(of_scarce_region),
        success("cost", "An entry shows what it costs.", set("/data/*/internal_cost", 0.1)),
    ]
}

fn request_ip() -> Vec<Fault> {
    let says = |id, breaks, text: &'static str| Fault::success(id, breaks, set("/request_ip", json!(text)));
    let from_header = |id, breaks, name: &'static str| {
        Fault::success(id, breaks, move |_, seen, body| {
            let claimed = seen.headers.get(name).and_then(|value| value.to_str().ok());
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
        success("number", "request_ip is a number.", set("/request_ip", 2_130_706_433)),
        success("list", "request_ip is a list.", change("/request_ip", |ip| *ip = json!([ip.clone()]))),
        from_header("forwarded-for", "request_ip is what X-Forwarded-For says.", "x-forwarded-for"),
        from_header("real-ip", "request_ip is what X-Real-IP says.", "x-real-ip"),
        from_header("forwarded", "request_ip is what Forwarded says.", "forwarded"),
        from_header("client-ip", "request_ip is what X-Client-IP says.", "x-client-ip"),
        from_header("true-client-ip", "request_ip is what True-Client-IP says.", "true-client-ip"),
    ]
}

fn error() -> Vec<Fault> {
    let body =
        |id, breaks, how: fn(&mut Value)| Fault::rejection(id, breaks, move |_, _, reply| reply.edit(how));
    let plain = |id, breaks, media: &'static str, text: &'static str| {
        Fault::rejection(id, breaks, move |_, _, reply| {
            reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
            reply.body = Bytes::from_static(text.as_bytes());
        })
    };
    let drop = |name: &'static str| {
        move |_: &Context, _: &ProxiedRequest, reply: &mut Reply| {
            reply.edit(|body| {
                body.as_object_mut().map(|body| body.shift_remove(name));
            });
        }
    };
    let status = |wanted: u16| {
        move |context: &Context, seen: &ProxiedRequest, reply: &mut Reply| {
            if reply.status.as_u16() == wanted {
                drop("message")(context, seen, reply);
            }
        }
    };
    faults_of![
        "extract.error-envelope/",
        body("code-of-success", "A rejection has code 0.", |body| body["code"] = json!(0)),
        rejection("code-missing", "A rejection has no code.", drop("code")),
        rejection("message-missing", "A rejection has no message.", drop("message")),
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
        rejection("missing-token", "A rejected token has no message.", status(401)),
        rejection("forbidden", "A rejected account has no message.", status(403)),
        rejection("bad-request", "A rejected parameter has no message.", status(400)),
    ]
}

fn ports_as_text(body: &mut Value, path: &str) {
    super::edit::visit(body, path, &mut |port| *port = json!(port.to_string()));
}
