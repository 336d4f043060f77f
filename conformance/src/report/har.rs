//! HTTP Archive 1.2 (HAR), which browsers and proxies read and write.

use std::collections::BTreeMap;
use std::io;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::format::write_pretty;
use super::quantity;
use crate::run::{LoggedExchange, Report};
use crate::wire::RecordedExchange;

/// Writes the exchanges that the run has kept, as an archive, one by one. Secrets were taken out of them before.
pub(super) fn har(report: &Report, writer: &mut dyn io::Write) -> io::Result<()> {
    let left_out = match report.log.left_out {
        0 => String::new(),
        more => format!("; {} not kept", quantity(more, "further exchange")),
    };
    let log = Log {
        version: "1.2",
        creator: json!({ "name": "sallyport-conformance", "version": env!("CARGO_PKG_VERSION") }),
        comment: format!("contract {}, profile {}{left_out}", report.contract, report.profile),
        entries: report,
    };
    write_pretty(&BTreeMap::from([("log", log)]), writer)
}

#[derive(Serialize)]
struct Log<'a> {
    version: &'static str,
    creator: Value,
    comment: String,
    #[serde(serialize_with = "entries")]
    entries: &'a Report,
}

/// The exchanges of a report, of which one at a time becomes an entry.
fn entries<S: Serializer>(Report { target, log, .. }: &Report, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(log.exchanges.iter().map(|logged| entry(target, logged)))
}

/// An exchange as an entry of an archive.
pub(crate) fn entry(target: &str, logged: &LoggedExchange) -> Value {
    let LoggedExchange { check, case, exchange, response_length, is_response_cut } = logged;
    let RecordedExchange { status, failure, elapsed_ms, begun, .. } = exchange;
    let subject = if case.is_empty() { (*check).to_owned() } else { format!("{check}/{case}") };
    let mut entry = json!({
        "startedDateTime": begun,
        "time": elapsed_ms,
        "request": request(target, exchange),
        "response": {
            // As browsers have it: 0 when there was no response.
            "status": status.unwrap_or(0),
            "statusText": "",
            "httpVersion": "unknown",
            "cookies": [],
            "headers": headers(&exchange.response_headers),
            "content": {
                "size": response_length,
                "mimeType": header(&exchange.response_headers, "content-type").unwrap_or("x-unknown"),
            },
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
        },
        "cache": {},
        "timings": { "send": 0, "wait": elapsed_ms, "receive": 0 },
        "comment": subject,
    });
    if let Some(body) = &exchange.response_body {
        entry["response"]["content"]["text"] = body.as_str().into();
    }
    if *is_response_cut {
        entry["response"]["content"]["comment"] = CUT.into();
    }
    if let Some(failure) = failure {
        entry["response"]["_error"] = failure.detail.as_str().into();
    }
    entry
}

/// Says of a body that the archive has its beginning only.
pub const CUT: &str = "cut by the suite";

fn request(target: &str, exchange: &RecordedExchange) -> Value {
    let mut request = json!({
        "method": exchange.method,
        "url": format!("{}{}", target.trim_end_matches('/'), exchange.target),
        "httpVersion": "unknown",
        "cookies": [],
        "headers": headers(&exchange.request_headers),
        "queryString": headers(&query(&exchange.target)),
        "headersSize": -1,
        "bodySize": exchange.request_body.as_ref().map_or(0, String::len),
    });
    if let Some(body) = &exchange.request_body {
        let kind = header(&exchange.request_headers, "content-type").unwrap_or("x-unknown");
        request["postData"] = json!({ "mimeType": kind, "params": [], "text": body });
        if exchange.request_body_cut {
            request["postData"]["comment"] = CUT.into();
        }
    }
    request
}

fn headers(pairs: &[(String, String)]) -> Vec<Value> {
    pairs.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

fn header<'a>(headers: &'a [(String, String)], wanted: &str) -> Option<&'a str> {
    headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.as_str())
}

/// The pairs of a query, decoded. The redactor has seen them as they were sent, in every spelling.
pub(super) fn query(target: &str) -> Vec<(String, String)> {
    let (_, query) = target.split_once('?').unwrap_or_default();
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}
