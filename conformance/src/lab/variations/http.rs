//! Variations in how responses travel.

use std::io::Write as _;
use std::time::{Duration, Instant, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use futures::future::BoxFuture;
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use serde_json::json;

use crate::contract::OperationId;
use crate::lab::faults::words::*;
use crate::lab::{Call, Framing, ProxiedRequest, Reply, Variation};

pub(crate) fn variations() -> Vec<Variation> {
    variations! {
        "http." {
            "in-pieces": "Bodies are sent in pieces of 61 bytes, without a length." => reply(|_, reply| reply.framing = Framing::Pieces(61));
            "dripping": "Bodies are sent in a few pieces with short pauses between them."
                => reply(|_, reply| reply.framing = Framing::Drip(reply.body.len() / 3 + 1));
            "closes-each-connection": "Each connection is closed after one response." => with_header(CONNECTION.as_str(), "close");
            "gzip": "Bodies are compressed with gzip, which is spelt `gzip`, `x-gzip` or `GZIP`." => reply(|call, reply| {
                reply.body = gzip(&reply.body).into();
                let coding = ["gzip", "x-gzip", "GZIP"][(call.memory.calls() % 3) as usize];
                reply.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
            });
            "slow": "Each response comes 20 ms later." => serve(|call| Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                call.send().await
            }));
            "pretty-json": "JSON is indented, with line breaks before and after it." => reply(|_, reply| {
                let body = reply.json();
                if body.is_object() {
                    reply.body = format!("\r\n{body:#}\r\n").into();
                }
            });
            "escaped-json": "JSON escapes slashes and all characters outside of ASCII." => reply(|_, reply| if reply.json().is_object() {
                let escape = |unit: u16| match u8::try_from(unit) {
                    Ok(ascii) if ascii.is_ascii() => char::from(ascii).to_string(),
                    _ => format!("\\u{unit:04x}"),
                };
                let text: String = reply.text().encode_utf16().map(escape).collect();
                reply.body = text.replace('/', "\\/").into();
            });
            "capital-headers": "Names of headers are spelt with capitals.", with_capitals => reply(|_, _| {});
            "further-headers": "Responses have further headers, such as a cookie, `Via` and `Vary`." => reply(|_, reply| {
                for (name, value) in [
                    ("server", "edge"), ("via", "1.1 edge"), ("set-cookie", "session=1; Path=/"), ("x-powered-by", "patience"),
                    ("x-ratelimit-remaining", "12"), ("strict-transport-security", "max-age=1"), ("vary", "*"), ("age", "0"),
                ] {
                    reply.headers.append(name, HeaderValue::from_static(value));
                }
            });
            "cache-control-with-more": "`Cache-Control` has further directives beside `no-store`, which is spelt `No-Store`."
                => replaced(CACHE_CONTROL.as_str(), "private, No-Store, max-age=0");
            "json-with-charset": "JSON is declared with a charset." => reply(|_, reply| if reply.json().is_object() {
                reply.set_header("content-type", "application/json;charset=UTF-8");
            });
            "no-content-type": "Responses have no `Content-Type`." => without_header(CONTENT_TYPE.as_str());
            "other-request-ids": "The request ids of header and body differ, and are no UUIDs." => reply(|call, reply| {
                replaced("x-request-id", "edge-1;trace=00-4bf9-01")(call, reply);
                reply.edit(|body| body.get_mut("requestId").into_iter().for_each(|id| *id = json!("7")));
            });
            "throttles-for-seconds": "One of 40 requests is throttled with HTTP 429 and `Retry-After: 1`." => serve(one_of(40, || throttled("1")));
            "throttles-for-no-time": "One of 3 requests is throttled with HTTP 429 and `Retry-After: 0`." => serve(one_of(3, || throttled("0")));
            "throttles-until-a-date": "One of 40 requests is throttled with HTTP 429 and a date one second later in `Retry-After`."
                => serve(one_of(40, || throttled(&httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(1)))));
            "throttles-until-a-past-date": "One of 2 requests is throttled with HTTP 429 and a past date in `Retry-After`."
                => serve(one_of(2, || throttled("Sun, 06 Nov 1994 08:49:37 GMT")));
            "unavailable-at-times": "One of 60 requests gets HTTP 503 without `Retry-After`." => serve(one_of(60, || failure(503, 50300)));
            "error-at-times": "One of 150 requests gets HTTP 500." => serve(one_of(150, || failure(500, 50000)));
            "bad-gateway-at-times": "One of 100 requests gets HTTP 502 from a gateway, with a page in HTML."
                => serve(one_of(100, || page(Reply::json_with(502, &json!(null)))));
            "unavailable-for-no-time": "One of 5 requests gets HTTP 503 with `Retry-After: 0`." => serve(one_of(5, || unavailable("0")));
            "throttled-at-first": "Each extraction is throttled with HTTP 429 for its first three requests."
                => serve(at_first(|_| true, || throttled("0")));
            "unavailable-at-first": "Each extraction gets HTTP 503 for its first three requests." => serve(at_first(|_| true, || unavailable("0")));
            "unavailable-at-first-without-region": "Each extraction without a region gets HTTP 503 for its first three requests."
                => serve(at_first(|call| call.param(&call.contract.extract.regions.name).is_none(), || unavailable("0")));
            "unavailable-in-windows": "For about a third of the time, each request gets HTTP 503 with `Retry-After: 1`."
                => serve(unavailable_in_windows());
            "throttled-page": "One of 7 requests is throttled with HTTP 429, `Retry-After: 0` and a page in HTML."
                => serve(one_of(7, || page(throttled("0"))));
        }
    }
}

/// Gives a header that is there another value.
fn replaced(name: &'static str, value: &'static str) -> impl OnReply {
    move |_, reply| {
        if reply.headers.contains_key(name) {
            reply.set_header(name, value);
        }
    }
}

/// Sends another response to one of so many requests; the first listing, which only asks whether a server is there, and
/// the request after a rejected one pass.
fn one_of(
    every: u64,
    instead: fn() -> Reply,
) -> impl for<'a> Fn(Call<'a>) -> BoxFuture<'a, Reply> + Send + Sync {
    move |call| {
        Box::pin(async move {
            let number = call.memory.calls();
            if number % every == every - 1 { instead() } else { call.send().await }
        })
    }
}

/// Sends another response to each extraction the first few times that it comes, whatever its request id. Elsewhere such an
/// response may be a shortage; here it is not.
fn at_first(
    when: fn(&Call<'_>) -> bool,
    instead: fn() -> Reply,
) -> impl for<'a> Fn(Call<'a>) -> BoxFuture<'a, Reply> + Send + Sync {
    move |call| {
        Box::pin(async move {
            let mut key = call.clone();
            key.drop_param(&call.contract.extract.request_id.name);
            // It numbers the requests of a run.
            key.headers.remove(USER_AGENT);
            let ProxiedRequest { method, path, query, headers, body } = &*key;
            let chosen = key.operation() == Some(OperationId::Extract) && when(&key);
            let key = format!("{method} {path} {query:?} {headers:?} {body:?}");
            if chosen && call.memory.calls_of(&key) < 3 { instead() } else { call.send().await }
        })
    }
}

/// Sends nothing but 503 for a part of the time, and who comes again when told finds it served.
fn unavailable_in_windows() -> impl for<'a> Fn(Call<'a>) -> BoxFuture<'a, Reply> + Send + Sync {
    let begun = Instant::now();
    move |call| {
        let serves = begun.elapsed().as_millis() % 730 < 460;
        Box::pin(async move { if serves { call.send().await } else { unavailable("1") } })
    }
}

fn failure(status: u16, code: i64) -> Reply {
    Reply::json_with(status, &json!({"code": code, "message": "try again"}))
}

fn unavailable(retry_after: &str) -> Reply {
    let mut reply = failure(503, 50300);
    reply.set_header(RETRY_AFTER.as_str(), retry_after);
    reply
}

fn throttled(retry_after: &str) -> Reply {
    let mut reply = Reply::json_with(429, &json!({"code": 42900, "message": "slow down"}));
    reply.set_header("retry-after", retry_after);
    reply
}

/// The response with a page as gateways make it.
fn page(mut reply: Reply) -> Reply {
    reply.body = format!("<html><body><h1>{}</h1></body></html>", reply.status).into();
    reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
    reply
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // A vector takes everything.
    encoder.write_all(body).and_then(|()| encoder.finish()).unwrap_or_default()
}
