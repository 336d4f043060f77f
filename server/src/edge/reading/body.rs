//! The body of a request: bounded in size and time, and JSON all through.

use std::{sync::Arc, time::Duration};

use dropshot::Body;
use http::{
    HeaderMap, HeaderName,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use http_body_util::BodyExt;
use hyper::body::Body as _;

use super::{
    catalogue::Reason,
    fault::{At, Came, Fault, Spot},
    gate::{Gate, overloaded},
    headers,
    json::Json,
    refused::Refused,
};
use crate::connections::{Connection, Reservation};

/// Most bytes of a body. The largest batch of addresses in their longest spelling takes about half of it.
pub const MAX_BYTES: usize = 1 << 20;

/// By how many bytes the memory for a body grows.
const STEP: usize = 16 << 10;

/// Most bytes and the longest time for which the rest of a refused body is read, so that the caller, who may still be
/// sending, reads the answer and not a reset connection.
const LINGER_BYTES: usize = 16 << 20;
const LINGER: Duration = Duration::from_secs(2);

/// Reads a body that is declared as JSON. Its memory is reserved until the reservation is dropped.
///
/// # Errors
/// It is not declared as JSON, too large, too slow or breaks off, or the bodies that are being received take too much
/// memory.
pub(crate) async fn read(
    body: Body,
    headers: &HeaderMap,
    gate: &Gate,
    connection: &Arc<Connection>,
    spot: Spot<'_>,
) -> Result<(Vec<u8>, Reservation), Refused> {
    if let Err(fault) = declared_as_json(headers, spot) {
        discard(body);
        return Err(fault.into());
    }
    let mut reservation = connection.receive_body();
    let bytes = collect(body, gate.body_timeout, &mut reservation, spot).await?;
    Ok((bytes, reservation))
}

/// What a body says.
///
/// # Errors
/// It is not exactly one JSON value.
pub fn parse<'a>(bytes: &'a [u8], spot: Spot<'_>) -> Result<Json<'a>, Fault> {
    Json::parse(bytes).map_err(|error| {
        // serde_json's words can repeat what came, so only the place is told.
        let came = Came::words(match (error.is_eof(), error.line(), error.column()) {
            (true, ..) => "one that breaks off".to_owned(),
            (false, line, column) => format!("one with a fault at line {line}, column {column}"),
        });
        spot.fault(
            Reason::MalformedBody,
            "type",
            "be exactly one JSON value in UTF-8, at most 127 levels deep",
            Some(came),
        )
    })
}

/// Lets go of a body that nobody reads. What has not arrived yet is read for a while and thrown away.
pub fn discard(mut body: Body) {
    if body.is_end_stream() {
        return;
    }
    tokio::spawn(async move {
        let mut left = LINGER_BYTES;
        let rest = async {
            while let Some(Ok(frame)) = body.frame().await {
                left = left.saturating_sub(frame.data_ref().map_or(0, bytes::Bytes::len));
                if left == 0 {
                    break;
                }
            }
        };
        // Whether the rest came or not, nobody waits for it.
        let _ = tokio::time::timeout(LINGER, rest).await;
    });
}

async fn collect(
    mut body: Body,
    timeout: Duration,
    reservation: &mut Reservation,
    spot: Spot<'_>,
) -> Result<Vec<u8>, Refused> {
    let too_large = || {
        let expected = format!("have at most {MAX_BYTES} bytes");
        Refused::from(spot.fault(Reason::BodyTooLarge, "maxLength", expected, None))
    };
    if body.size_hint().lower() > MAX_BYTES as u64 {
        discard(body);
        return Err(too_large());
    }
    let deadline = tokio::time::Instant::now() + timeout;
    let mut bytes = Vec::new();
    loop {
        let frame = match tokio::time::timeout_at(deadline, body.frame()).await {
            Err(_) => {
                let expected = format!("arrive within {} ms", timeout.as_millis());
                return Err(spot.fault(Reason::BodyTimeout, "type", expected, None).into());
            }
            Ok(None) => return Ok(bytes),
            Ok(Some(Err(_))) => {
                return Err(spot.fault(Reason::MalformedBody, "type", "arrive in full", None).into());
            }
            Ok(Some(Ok(frame))) => frame,
        };
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > MAX_BYTES {
                discard(body);
                return Err(too_large());
            }
            let missing = (bytes.len() + data.len()).saturating_sub(bytes.capacity());
            // In whole steps, since a vector that grows by itself doubles.
            let step = missing.next_multiple_of(STEP);
            if reservation.grow(step).is_err() {
                discard(body);
                return Err(overloaded());
            }
            bytes.reserve_exact(bytes.capacity() - bytes.len() + step);
            bytes.extend_from_slice(&data);
        }
    }
}

/// `application/json`, with no charset but UTF-8 and no encoding (`open.static.content-type`).
fn declared_as_json(headers: &HeaderMap, spot: Spot<'_>) -> Result<(), Fault> {
    let single =
        |name: &HeaderName| headers::single(headers, name, Spot::new(At::Header(name.as_str()), &[]));
    let content_type = single(&CONTENT_TYPE)?.unwrap_or_default();
    let mut parts = content_type.split(';').map(str::trim);
    let json = parts.next().is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    let utf8 = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    let plain = single(&CONTENT_ENCODING)?.is_none_or(|encoding| encoding.eq_ignore_ascii_case("identity"));
    if json && utf8 && plain {
        return Ok(());
    }
    let expected = "be sent as Content-Type: application/json, in UTF-8 and without Content-Encoding";
    let came = if content_type.is_empty() { None } else { Some(Came::text(content_type)) };
    Err(spot.fault(Reason::NotJson, "type", expected, came))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn declared(pairs: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        declared_as_json(&headers, Spot::new(At::Body, &[])).is_ok()
    }

    #[test]
    fn only_plain_json_is_json() {
        for good in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            assert!(declared(&[("content-type", good)]), "{good}");
        }
        for bad in [
            "",
            "text/plain",
            "application/jsonx",
            "application/json; charset=utf-16",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!declared(&[("content-type", bad)]), "{bad}");
        }
        assert!(!declared(&[]));
        assert!(!declared(&[("content-type", "application/json"), ("content-encoding", "gzip")]));
        assert!(!declared(&[("content-type", "application/json"), ("content-type", "application/json")]));
    }
}
