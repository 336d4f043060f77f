use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use serde_json::Value;

use super::{Redactor, debug_as, password};

/// A response as received. It is not redacted: texts made from it must be redacted before they are kept.
#[derive(Clone)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    headers: Arc<[(String, Vec<u8>)]>,
    body: Bytes,
    /// Length of the received body in bytes.
    pub(super) length: usize,
    /// The body as JSON, where it is.
    pub json: Option<Arc<Value>>,
}

impl Response {
    /// Maximum size of a body in reports, in bytes: a full page of instances fits. All are at most what a run may receive.
    pub(super) const BODY_LIMIT: usize = 512 * 1024;
    /// Bytes of a body that are kept, to redact that part.
    const KEPT: usize = Redactor::WINDOW * Self::BODY_LIMIT;

    /// A response as it was received.
    pub fn new(status: u16, headers: Vec<(String, Vec<u8>)>, body: Bytes) -> Self {
        let json = serde_json::from_slice(&body).ok().map(|mut value| {
            write_whole_numbers_as_integers(&mut value);
            Arc::new(value)
        });
        Self { status, headers: headers.into(), length: body.len(), body, json }
    }

    /// The response as kept once judged: without the parsed body, many times the text, and with what a report may show of that.
    pub fn brief(&self) -> Self {
        let body = if self.body.len() > Self::KEPT {
            // A password behind the part that is kept may be elsewhere in it.
            let masked = password::masked(&self.body);
            let whole = masked.as_deref().unwrap_or(&self.body);
            Bytes::copy_from_slice(&whole[..whole.len().min(Self::KEPT)])
        } else {
            self.body.clone()
        };
        Self { body, json: None, headers: Arc::clone(&self.headers), ..*self }
    }

    /// Adds passwords in headers and body, and other credentials in a JSON body, to the secrets of `redactor`.
    pub fn reveal_passwords(&self, redactor: &Redactor) {
        for (name, value) in self.headers.iter() {
            let value = String::from_utf8_lossy(value);
            if password::is_password(name, &value) {
                redactor.learn(&value, password::PASSWORD);
            }
        }
        password::reveal(&self.text(), |found, name| redactor.learn(found, name));
    }

    /// Every value of a header, in the order of the response. Invalid UTF-8 is replaced.
    pub fn header_values(&self, name: &str) -> Vec<String> {
        let values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        values.map(|(_, value)| String::from_utf8_lossy(value).trim().to_owned()).collect()
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<String> {
        self.header_values(name).into_iter().next()
    }

    /// The time that its `Retry-After` asks to wait; none without a valid one.
    pub fn retry_after(&self) -> Option<Duration> {
        let (value, date) = (self.header("Retry-After")?, self.header("Date"));
        retry_after(&value, date.as_deref(), SystemTime::now())
    }

    /// Names and values of all headers.
    pub fn headers(&self) -> &[(String, Vec<u8>)] {
        &self.headers
    }

    /// The body as bytes.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body as text: in UTF-8 if it is valid, or else in the charset of `Content-Type`, with invalid bytes replaced.
    pub fn text(&self) -> String {
        let text = self.utf_8().map_or_else(|| self.decoded(), str::to_owned);
        // As a decoder does.
        text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
    }

    /// The body as text if it is UTF-8. UTF-16 may look like it, with zeros.
    fn utf_8(&self) -> Option<&str> {
        std::str::from_utf8(&self.body).ok().filter(|text| !text.contains('\0'))
    }

    fn decoded(&self) -> String {
        let encoding =
            self.charset().and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(UTF_8);
        // UTF-16 without a mark is big-endian by RFC 2781, little-endian in browsers. In ASCII the zero bytes tell which.
        let encoding = if encoding == UTF_16LE && zeros_come_first(&self.body) { UTF_16BE } else { encoding };
        let (text, ..) = encoding.decode(&self.body);
        text.into_owned()
    }

    /// The body as reports have it: a text in another charset is decoded, so that it can be read, and searched for secrets.
    pub(super) fn recorded_body(&self) -> Cow<'_, [u8]> {
        match self.utf_8().is_none() && self.json.is_none() && self.charset().is_some() {
            true => Cow::Owned(self.decoded().into_bytes()),
            false => Cow::Borrowed(&self.body),
        }
    }

    fn charset(&self) -> Option<String> {
        let content_type = self.header("Content-Type")?;
        let parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
        let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        charsets.next().map(|(_, label)| label.trim().trim_matches('"').to_owned())
    }

    /// The body as JSON, if it is valid.
    pub fn json(&self) -> Option<&Value> {
        self.json.as_deref()
    }

    /// The id by which the service names the request in its logs.
    pub(super) fn request_id(&self) -> Option<String> {
        // Of a response that was judged, only the text is left.
        let parsed = || serde_json::from_slice::<Value>(&self.body).ok();
        let of_body = |body: &Value| Some(body.get("requestId")?.as_str()?.to_owned());
        let id = self.json.as_deref().map_or_else(|| of_body(&parsed()?), of_body);
        id.or_else(|| self.header("X-Request-Id")).filter(|id| !id.is_empty())
    }

    /// The member of the JSON body at a pointer.
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.json.as_ref()?.pointer(pointer)
    }
}

// It may echo the token.
debug_as!(Response, |Self { status, .. }| "Response({status})");

/// The time that the value of a `Retry-After` header asks to wait (RFC 9110, section 10.2.3); zero for a date in the past. None if it is
/// neither a number of seconds nor an HTTP date. A date is compared with the `Date` of the same response, so that the clock of this
/// machine does not matter, and with `now` if the response has no valid one.
#[warn(clippy::arithmetic_side_effects)]
pub fn retry_after(value: &str, date: Option<&str>, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is longer than any wait.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let sent = date.and_then(|date| httpdate::parse_http_date(date.trim()).ok());
    Some(until.duration_since(sent.unwrap_or(now)).unwrap_or_default())
}

fn zeros_come_first(body: &[u8]) -> bool {
    let zeros = |first: usize| body.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    zeros(0) > zeros(1)
}

/// JSON has one type of number: `2.0` and `2` are the same.
fn write_whole_numbers_as_integers(value: &mut Value) {
    /// Above 2^53, a float can't distinguish neighbouring integers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or(f64::NAN);
            if float.fract() == 0.0 && float.abs() < EXACT {
                *value = Value::from(float as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_whole_numbers_as_integers),
        Value::Object(object) => object.values_mut().for_each(write_whole_numbers_as_integers),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_in_its_charset() {
        let read = |content_type: &str, body: &[u8]| {
            let headers = vec![("Content-Type".to_owned(), content_type.as_bytes().to_vec())];
            Response::new(200, headers, Bytes::copy_from_slice(body)).text()
        };
        let utf_16 = |bytes: fn(u16) -> [u8; 2]| "a:1".encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        for (content_type, body) in [
            ("text/plain", b"a:1".to_vec()),
            ("text/plain; charset=utf-8", b"\xef\xbb\xbfa:1".to_vec()),
            ("text/plain; charset=utf-16", utf_16(u16::to_le_bytes)),
            ("text/plain; charset=\"UTF-16\"", utf_16(u16::to_be_bytes)),
            ("text/plain; charset=utf-16", [b"\xfe\xff".to_vec(), utf_16(u16::to_be_bytes)].concat()),
        ] {
            assert_eq!(read(content_type, &body), "a:1", "{content_type} {body:?}");
        }
        assert_eq!(read("text/plain; charset=iso-8859-1", b"\xe9"), "é");
        assert_eq!(read("text/plain; charset=no-such-charset", b"\xe9"), "\u{fffd}");
    }

    #[test]
    fn whole_numbers_are_integers_however_they_are_written() {
        let body = r#"{"a": 2.0, "b": [1e3, 2.5, -0.0, 9007199254740993.0], "c": "2.0"}"#;
        let response = Response::new(200, Vec::new(), Bytes::from_static(body.as_bytes()));
        let read = |pointer: &str| response.at(pointer).cloned();
        assert_eq!(read("/a"), Some(Value::from(2)));
        assert_eq!(read("/b/0"), Some(Value::from(1000)));
        assert_eq!(read("/b/1"), Some(Value::from(2.5)));
        assert_eq!(read("/b/2"), Some(Value::from(0)));
        assert!(read("/b/3").is_some_and(|large| large.is_f64()));
        assert_eq!(read("/c"), Some(Value::from("2.0")));
    }

    #[test]
    fn seconds_and_dates_are_valid_and_the_clock_of_the_service_counts() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let (until, longest) = ("Sun, 06 Nov 1994 08:49:37 GMT", "9".repeat(30));
        for (value, date, clock, seconds) in [
            ("2", None, 0, Some(2)),
            (&longest, None, 0, Some(u64::MAX)),
            (until, None, 0, Some(7)),
            (until, None, 60, Some(0)),
            (until, Some(" Sun, 06 Nov 1994 08:49:34 GMT "), 1 << 31, Some(3)),
            (until, Some("Sun, 06 Nov 1994 08:50:00 GMT"), 0, Some(0)),
            // An invalid `Date` is ignored.
            (until, Some("today"), 0, Some(7)),
            ("2", Some(until), 0, Some(2)),
            ("", None, 0, None),
            ("soon", None, 0, None),
            ("-1", None, 0, None),
            ("1.5", None, 0, None),
            ("2026-01-01T00:00:00Z", None, 0, None),
        ] {
            let wait = retry_after(value, date, now + Duration::from_secs(clock));
            assert_eq!(wait.map(|wait| wait.as_secs()), seconds, "{value}, {date:?}, {clock}");
        }
    }
}
