//! Faults in what the responses of an extraction look like.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use super::condition::{at_maximum, by_bearer, of_scarce_region, with_other_protocol};
use super::edit::{change, put, remove, rename, set};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
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
    vec![
        fault("extract.post-error-envelope/no-code", "An error of POST has no code.", move |body| {
            let _ = body.as_object_mut().and_then(|body| body.shift_remove("code"));
        }),
        Fault::reply(
            "extract.post-error-envelope/no-code-in-text",
            "An error of POST that asks for text has no code.",
            |context, seen, reply| {
                if seen.method == hyper::Method::POST && context.wants_text(seen) {
                    reply.edit(|body| {
                        let _ = body.as_object_mut().and_then(|body| body.shift_remove("code"));
                    });
                }
            },
        ),
        fault("extract.post-error-envelope/no-message", "An error of POST has no message.", move |body| {
            let _ = body.as_object_mut().and_then(|body| body.shift_remove("message"));
        }),
        fault("extract.post-error-envelope/null-code", "The code of an error of POST is null.", |body| {
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
    vec![
        Fault::success("extract.envelope/code-of-static", "The code is 200.", set("/code", json!(200))),
        Fault::success("extract.envelope/code-text", "The code is a string.", set("/code", json!("0"))),
        Fault::success("extract.envelope/code-missing", "There is no code.", remove("/code")),
        Fault::success("extract.envelope/code-null", "The code is null.", set("/code", Value::Null)),
        Fault::success("extract.envelope/success-missing", "There is no success.", remove("/success")),
        Fault::success("extract.envelope/success-false", "success is false.", set("/success", json!(false))),
        Fault::success(
            "extract.envelope/success-text",
            "success is a string.",
            set("/success", json!("true")),
        ),
        Fault::success("extract.envelope/success-number", "success is 1.", set("/success", json!(1))),
        Fault::success("extract.envelope/msg-missing", "There is no msg.", remove("/msg")),
        Fault::success("extract.envelope/msg-null", "The msg is null.", set("/msg", Value::Null)),
        Fault::success("extract.envelope/msg-number", "The msg is a number.", set("/msg", json!(0))),
        Fault::success(
            "extract.envelope/msg-of-static",
            "The msg is called message.",
            rename("/msg", "message"),
        ),
        Fault::success("extract.envelope/data-missing", "There is no data.", remove("/data")),
        Fault::success(
            "extract.envelope/request-ip-missing",
            "There is no request_ip.",
            remove("/request_ip"),
        ),
        Fault::success(
            "extract.envelope/request-ip-camel",
            "request_ip is called requestIp.",
            rename("/request_ip", "requestIp"),
        ),
        Fault::success(
            "extract.envelope/other-protocol",
            "For the other protocol there is no msg.",
            remove("/msg"),
        )
        .when(with_other_protocol),
        Fault::success(
            "extract.envelope/when-partial",
            "A partial result has success false.",
            set("/success", json!(false)),
        )
        .when(of_scarce_region),
        Fault::success(
            "extract.envelope/at-maximum",
            "The largest extraction has no request_ip.",
            remove("/request_ip"),
        )
        .when(at_maximum),
        status("extract.envelope/created", "An extraction gets HTTP 201.", StatusCode::CREATED),
        status(
            "extract.envelope/partial-content",
            "A partial result gets HTTP 206.",
            StatusCode::PARTIAL_CONTENT,
        )
        .when(of_scarce_region),
    ]
}

fn endpoint() -> Vec<Fault> {
    vec![
        Fault::success("extract.endpoint/port-text", "A port is a string.", |_, _, body| {
            ports_as_text(body, "/data/*/port")
        }),
        Fault::success(
            "extract.endpoint/last-port-text",
            "The last port of a large extraction is a string.",
            |_, _, body| {
                ports_as_text(body, "/data/-/port");
            },
        )
        .when(at_maximum),
        Fault::success(
            "extract.endpoint/port-text-other-protocol",
            "A port of the other protocol is a string.",
            |_, _, body| {
                ports_as_text(body, "/data/*/port");
            },
        )
        .when(with_other_protocol),
        Fault::success("extract.endpoint/port-null", "A port is null.", set("/data/-/port", Value::Null)),
        Fault::success(
            "extract.endpoint/port-fraction",
            "A port is no whole number.",
            set("/data/0/port", json!(20_000.5)),
        ),
        Fault::success("extract.endpoint/port-missing", "A port is missing.", remove("/data/*/port")),
        Fault::success("extract.endpoint/port-within-ip", "The port is part of ip.", |_, _, body| {
            for entry in body["data"].as_array_mut().into_iter().flatten() {
                let joined = format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"]);
                *entry = json!({"ip": joined});
            }
        }),
        Fault::success("extract.endpoint/ip-missing", "An ip is missing.", remove("/data/-/ip")),
        Fault::success("extract.endpoint/ip-null", "An ip is null.", set("/data/0/ip", Value::Null)),
        Fault::success(
            "extract.endpoint/ip-number",
            "An ip is a number.",
            set("/data/-/ip", json!(3_405_803_783_u32)),
        ),
        Fault::success("extract.endpoint/ip-renamed", "The ip is called host.", rename("/data/*/ip", "host")),
        Fault::success("extract.endpoint/text", "An entry is a string.", |_, _, body| {
            for entry in body["data"].as_array_mut().into_iter().flatten() {
                *entry = json!(format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"]));
            }
        }),
        Fault::success(
            "extract.endpoint/internal-id",
            "An entry shows an internal id.",
            set("/data/*/internalId", json!(7)),
        ),
        Fault::success(
            "extract.endpoint/upstream",
            "An entry shows its internal host.",
            set("/data/*/internalHost", json!("10.0.0.7")),
        ),
        Fault::success(
            "extract.endpoint/underscore",
            "The last entry shows a field of the storage.",
            set("/data/-/_internal_id", json!("65a")),
        ),
        Fault::success(
            "extract.endpoint/supplier-when-partial",
            "An entry of a partial result shows its supplier.",
            set("/data/0/supplierInternal", json!("acme")),
        )
        .when(of_scarce_region),
        Fault::success(
            "extract.endpoint/cost",
            "An entry shows what it costs.",
            set("/data/*/internal_cost", json!(0.1)),
        ),
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
    vec![
        says("extract.request-ip/empty", "request_ip is empty.", ""),
        says("extract.request-ip/word", "request_ip is a word.", "unknown"),
        says("extract.request-ip/ipv6", "request_ip is the IPv6 loopback.", "::1"),
        says(
            "extract.request-ip/mapped",
            "request_ip is an IPv4 address mapped into IPv6.",
            "::ffff:127.0.0.1",
        ),
        says("extract.request-ip/with-port", "request_ip has a port.", "127.0.0.1:40000"),
        says("extract.request-ip/own", "request_ip is the address of the server.", "10.0.0.1"),
        says("extract.request-ip/neighbour", "request_ip is one off.", "127.0.0.2"),
        says("extract.request-ip/padded", "request_ip has leading zeros.", "127.000.000.001"),
        says("extract.request-ip/masked", "request_ip is masked.", "127.0.0.*"),
        says(
            "extract.request-ip/own-by-bearer",
            "With a bearer token request_ip is the address of the server.",
            "10.0.0.1",
        )
        .when(by_bearer),
        says(
            "extract.request-ip/own-when-partial",
            "In a partial result request_ip is the address of the server.",
            "10.0.0.1",
        )
        .when(of_scarce_region),
        says(
            "extract.request-ip/own-other-protocol",
            "For the other protocol request_ip is the address of the server.",
            "10.0.0.1",
        )
        .when(with_other_protocol),
        Fault::success(
            "extract.request-ip/number",
            "request_ip is a number.",
            set("/request_ip", json!(2_130_706_433)),
        ),
        Fault::success(
            "extract.request-ip/list",
            "request_ip is a list.",
            change("/request_ip", |ip| *ip = json!([ip.clone()])),
        ),
        from_header(
            "extract.request-ip/forwarded-for",
            "request_ip is what X-Forwarded-For says.",
            "x-forwarded-for",
        ),
        from_header("extract.request-ip/real-ip", "request_ip is what X-Real-IP says.", "x-real-ip"),
        from_header("extract.request-ip/forwarded", "request_ip is what Forwarded says.", "forwarded"),
        from_header("extract.request-ip/client-ip", "request_ip is what X-Client-IP says.", "x-client-ip"),
        from_header(
            "extract.request-ip/true-client-ip",
            "request_ip is what True-Client-IP says.",
            "true-client-ip",
        ),
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
    vec![
        body("extract.error-envelope/code-of-success", "A rejection has code 0.", |body| {
            body["code"] = json!(0)
        }),
        Fault::rejection("extract.error-envelope/code-missing", "A rejection has no code.", drop("code")),
        Fault::rejection(
            "extract.error-envelope/message-missing",
            "A rejection has no message.",
            drop("message"),
        ),
        body("extract.error-envelope/message-null", "The message is null.", |body| {
            body["message"] = Value::Null
        }),
        body("extract.error-envelope/message-number", "The message is a number.", |body| {
            body["message"] = json!(4)
        }),
        body("extract.error-envelope/message-list", "The message is a list.", |body| {
            body["message"] = json!(["no"])
        }),
        body("extract.error-envelope/message-renamed", "The message is called msg.", |body| {
            *body = json!({"code": body["code"], "msg": body["message"]});
        }),
        body("extract.error-envelope/code-null", "The code is null.", |body| body["code"] = Value::Null),
        body("extract.error-envelope/code-boolean", "The code is false.", |body| body["code"] = json!(false)),
        body("extract.error-envelope/nested", "Code and message stand in an error object.", |body| {
            *body = json!({"error": body.clone()});
        }),
        body("extract.error-envelope/list", "A rejection is a list of errors.", |body| {
            *body = json!([body.clone()])
        }),
        plain("extract.error-envelope/empty", "A rejection has no body.", "application/json", ""),
        plain(
            "extract.error-envelope/html",
            "A rejection is a page.",
            "text/html",
            "<h1>400 Bad Request</h1>",
        ),
        plain("extract.error-envelope/text", "A rejection is text.", "text/plain", "ERROR: not allowed"),
        Fault::rejection(
            "extract.error-envelope/missing-token",
            "A rejected token has no message.",
            status(401),
        ),
        Fault::rejection(
            "extract.error-envelope/forbidden",
            "A rejected account has no message.",
            status(403),
        ),
        Fault::rejection(
            "extract.error-envelope/bad-request",
            "A rejected parameter has no message.",
            status(400),
        ),
    ]
}

fn ports_as_text(body: &mut Value, path: &str) {
    super::edit::visit(body, path, &mut |port| *port = json!(port.to_string()));
}
