//! How a client under test sends, retries, reads and logs.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::{Answer, Call, GIVES_UP_WITH_PAGES, Request};

impl Call {
    /// The body of a success, after retries.
    pub(super) async fn send(&mut self, request: Request<'_>) -> Result<Answer, String> {
        let mut retries = 0;
        loop {
            let (error, wait) = match self.once(request).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let most = match self.habit.as_str() {
                "gives up at once" | "logs URLs" | "starts pages again" | GIVES_UP_WITH_PAGES => 0,
                "retries without end" | "has no timeout" => u32::MAX,
                _ => 3,
            };
            let Some(wait) = wait.filter(|_| retries < most) else { return Err(error) };
            if Instant::now() + wait > self.deadline || self.attempts > 300 {
                return Err(error);
            }
            retries += 1;
            tokio::time::sleep(wait).await;
        }
    }

    /// One request. An error says how long to wait before the next one, if that may help.
    async fn once(&mut self, sent: Request<'_>) -> Result<Answer, (String, Option<Duration>)> {
        let Request { path, body, is_text, .. } = sent;
        let success = if sent.is_extraction() { 0 } else { 200 };
        self.attempts += 1;
        let backoff = if self.never_waits() { Duration::ZERO } else { Duration::from_millis(100) };
        let begun = Instant::now();
        let left = self.deadline.saturating_duration_since(begun);
        let is_of_request = self.is("a timeout for each request");
        let is_short = is_of_request || self.is("another request id after its own timeout");
        let left = if is_short { left.min(Duration::from_secs(3)) } else { left };
        let mut sent = match self.own_http() && body.is_none() {
            true => Ok(self.sent_by_hand(sent)),
            false => self.request(sent).timeout(left).send().await,
        };
        for hop in 0..3 {
            let Ok(response) = &sent else { break };
            let Some(target) = self.redirect(response, hop) else { break };
            let request = self.http.get(target).header("x-api-key", &self.token);
            sent = request.timeout(left).send().await;
        }
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => return Err((self.interrupted(error), Some(backoff))),
        };
        let follows = self.is("follows redirects") || self.is("follows redirects as they are");
        if follows && response.status().is_redirection() {
            let mut request = self.http.get(response.headers()["location"].to_str().unwrap_or_default());
            if self.is("follows redirects") {
                // As many libraries do: headers of one's own go along, and so does the query that was given as parameters.
                request = request.header("x-api-key", &self.token).query(&[("api_key", &self.token)]);
            }
            let _ = request.send().await;
            return Err(("a redirect".to_owned(), None));
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut bytes = Vec::new();
        let error = loop {
            match response.chunk().await {
                Ok(Some(piece)) => bytes.extend_from_slice(&piece),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        if let Some(error) = error
            && !(is_text && self.is("reads cut texts"))
        {
            return Err((self.interrupted(error), Some(backoff)));
        }
        let text = match self.habit.as_str() {
            "decodes Latin-1" => bytes.iter().map(|byte| char::from(*byte)).collect(),
            "decodes ASCII" if !bytes.is_ascii() => return Err(("not ASCII".to_owned(), None)),
            _ => String::from_utf8_lossy(&bytes).into_owned(),
        };
        let media = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_known_as_text = match self.habit.as_str() {
            "knows JSON by its media type" => is_text && !media.contains("json"),
            "knows JSON by its first character" => is_text && !text.starts_with('{'),
            _ => false,
        };
        let json: Value = match serde_json::from_str(&text) {
            Ok(json) if !is_known_as_text => json,
            Err(error) if !is_text && self.is("dies of pages") => {
                eprintln!("{error}");
                std::process::exit(101)
            }
            _ => Value::Null,
        };
        if self.is("reads nothing as an empty list") && !is_text && text.is_empty() {
            return Ok(Answer { text, json: json!({"data": {"items": []}}) });
        }
        let is_code = self.is_success(json.get("code"), success, is_text);
        let is_good =
            (status == 200 || self.is("ignores the status") || self.is("takes any 2xx") && status / 100 == 2)
                && (is_code || self.is("ignores the code"));
        let is_fit = !self.is("ignores the code") || is_text || json.is_object();
        if is_good && is_fit {
            if self.is("knows one server") && !is_of_one_server(&headers, &text, &json, is_text) {
                return Err(("another header, spelling, field or value".to_owned(), None));
            }
            return Ok(Answer { text, json });
        }
        match self.habit.as_str() {
            "logs most of the token" => eprintln!("failed with {}…", &self.token[..self.token.len() * 3 / 4]),
            "encodes its log" => eprintln!("{}", BASE64_STANDARD.encode(format!("api_key={}&", self.token))),
            "logs bodies" => eprintln!("rejected: {text}"),
            "logs messages" => eprintln!("rejected: {}", json["message"]),
            "logs URLs" => {
                eprintln!("GET {}{path}?api_key={} failed with HTTP {status}", self.base, self.token)
            }
            _ => {}
        }
        let told = headers.get("retry-after").and_then(|value| value.to_str().ok());
        let told = told.filter(|_| !self.is("waits for 429 alone") || status == 429);
        let wait = told.and_then(|told| self.wait(told)).map(|wait| match self.habit.as_str() {
            "waits once" if self.attempts > 1 => Duration::ZERO,
            "waits from the request on" => wait.saturating_sub(begun.elapsed()),
            "waits ten seconds at most" => wait.min(Duration::from_secs(10)),
            "has timers of 31 bits" if i32::try_from(wait.as_millis()).is_err() => Duration::ZERO,
            _ => wait,
        });
        let may_pass = matches!(status, 429 | 500 | 502 | 503 | 504) || headers.contains_key("retry-after");
        let is_endless = self.is("retries without end");
        let wait = (may_pass || is_endless).then(|| wait.unwrap_or(backoff));
        Err((format!("HTTP {status}"), wait))
    }

    /// How long a Retry-After asks to wait, as this client understands it.
    fn wait(&self, told: &str) -> Option<Duration> {
        if self.never_waits() {
            return None;
        }
        if let Ok(seconds) = told.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let mut date = httpdate::parse_http_date(told).ok().filter(|_| !self.is("knows no dates"))?;
        if self.is("reads dates as local time") {
            date -= east_of_greenwich();
        }
        // A little more than told, as the clocks of timers differ.
        Some(date.duration_since(SystemTime::now()).unwrap_or_default() + Duration::from_millis(5))
    }

    /// Parameters of a request, with the request id and the token where they belong there.
    fn parameters(&self, sent: Request<'_>) -> Vec<(String, String)> {
        let is_extraction = sent.is_extraction();
        let given = sent.query.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let id = match self.habit.as_str() {
            "a request id in repeats only" if self.attempts == 1 => None,
            "another request id each time" | "extracts twice" => {
                Some(format!("{}-{}", self.request_id, self.attempts))
            }
            "request id in a header" | "no request id" => None,
            _ => Some(self.request_id.clone()),
        };
        let id = id.filter(|_| is_extraction).map(|id| ("request_id".to_owned(), id));
        let is_in_query = !(is_extraction && self.is("token as bearer"));
        let token = is_in_query.then(|| ("api_key".to_owned(), self.token.clone()));
        given.chain(id).chain(token).collect()
    }

    fn encoded(&self, parameters: &[(String, String)]) -> String {
        let latin1 = |c: char| match u8::try_from(c) {
            Ok(byte) if !byte.is_ascii_alphanumeric() => format!("%{byte:02X}"),
            Ok(byte) => char::from(byte).to_string(),
            Err(_) => "?".to_owned(),
        };
        let encoded = |value: &str| match self.habit.as_str() {
            "encodes nothing" | "sends characters as they are" => value.to_owned(),
            "encodes Latin-1" => value.chars().map(latin1).collect(),
            _ => url::form_urlencoded::byte_serialize(value.as_bytes()).collect(),
        };
        let pairs = parameters.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
        pairs.collect::<Vec<_>>().join("&")
    }

    fn request(&self, sent: Request<'_>) -> reqwest::RequestBuilder {
        let is_extraction = sent.is_extraction();
        let mut url = Url::parse(&format!("{}{}", self.base, sent.path)).expect("a URL");
        url.set_query(Some(&self.encoded(&self.parameters(sent))));
        if self.is("encodes no token") {
            url.set_query(Some(&format!("api_key={}", self.token)));
        }
        let mut request = match sent.body {
            Some(body) => self.http.post(url).json(body),
            None if self.is("sends bodies") => self.http.get(url).json(&json!({})),
            None => self.http.get(url),
        };
        if is_extraction && self.is("request id in a header") {
            request = request.header("x-request-id", &self.request_id);
        }
        if is_extraction && self.is("token as bearer") {
            request = request.bearer_auth(&self.token);
        }
        request
    }

    /// Whether this client speaks HTTP without a library.
    fn own_http(&self) -> bool {
        let is_of_headers = self.is("knows headers in lower case") || self.is("knows headers in capitals");
        is_of_headers || self.is("sends characters as they are")
    }

    /// The response to a request on a socket of its own, with those of its headers that this client knows.
    fn sent_by_hand(&self, sent: Request<'_>) -> reqwest::Response {
        let (path, host) = (sent.path, self.base.trim_start_matches("http://"));
        let query = self.encoded(&self.parameters(sent));
        let mut stream = std::net::TcpStream::connect(host).expect("a connection");
        let request = format!("GET {path}?{query} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        let (head, body) = response.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status");
        let is_known = |name: &str| {
            let is_lower = name.starts_with(|c: char| c.is_ascii_lowercase());
            is_lower != self.is("knows headers in capitals")
        };
        let headers = lines.filter_map(|line| line.split_once(": ")).filter(|(name, _)| is_known(name));
        let builder = hyper::Response::builder().status(status);
        let builder = headers.fold(builder, |builder, (name, value)| builder.header(name, value));
        builder.body(body.to_owned()).expect("a response").into()
    }

    /// Where this client follows a redirect to.
    fn redirect(&self, response: &reqwest::Response, hop: usize) -> Option<Url> {
        let location = response.headers().get("location")?.to_str().ok()?;
        let (target, base) = (Url::parse(location).ok()?, Url::parse(&self.base).ok()?);
        let is_service = target.origin() == base.origin();
        let is_followed = match self.habit.as_str() {
            "follows redirects within the service" => is_service,
            "follows redirects to the same host" => target.host() == base.host(),
            "follows redirects by their beginning" => location.starts_with(&self.base),
            "checks the first redirect" => is_service || hop > 0,
            _ => false,
        };
        is_followed.then_some(target)
    }

    /// Whether a code is that of a success, as this client compares.
    fn is_success(&self, code: Option<&Value>, success: i64, is_text: bool) -> bool {
        match (code, self.habit.as_str()) {
            (None | Some(Value::Null), "reads no code as zero") => success == 0,
            (None, _) => is_text,
            (Some(code), "compares codes loosely") => match code {
                Value::Bool(yes) => *yes == (success != 0),
                Value::String(text) => text.parse::<i64>().unwrap_or_default() == success,
                Value::Array(_) => success == 0,
                code => code.as_f64() == Some(success as f64),
            },
            (Some(code), _) => code.as_f64() == Some(success as f64),
        }
    }

    pub(super) fn is(&self, habit: &str) -> bool {
        self.habit == habit
    }

    fn never_waits(&self) -> bool {
        self.is("never waits") || self.is("retries without end")
    }

    /// What an interruption comes to.
    fn interrupted(&mut self, error: reqwest::Error) -> String {
        assert!(!self.is("dies of interruptions"), "interrupted");
        if error.is_timeout() && self.is("another request id after its own timeout") {
            self.request_id = format!("{}-{}", self.request_id, self.attempts);
        }
        self.logged(error)
    }

    /// The message of an error of the library, which shows the URL with its query.
    fn logged(&self, error: reqwest::Error) -> String {
        if self.is("logs most of the token") {
            eprintln!("failed with {}…", &self.token[..self.token.len() * 3 / 4]);
        }
        if self.is("logs URLs") {
            eprintln!("{error}");
        }
        error.without_url().to_string()
    }
}

/// The distance of local time from that of Greenwich.
fn east_of_greenwich() -> Duration {
    let offset = std::process::Command::new("date").arg("+%z").output().expect("a time zone").stdout;
    let offset = String::from_utf8_lossy(&offset);
    let offset: u64 = offset.trim().trim_start_matches('+').parse().unwrap_or_default();
    Duration::from_secs(offset / 100 * 3600 + offset % 100 * 60)
}

/// Whether the reference server would send this.
fn is_of_one_server(headers: &HeaderMap, text: &str, json: &Value, is_text: bool) -> bool {
    let value = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let headers: BTreeMap<_, _> = headers.iter().map(|(name, it)| (name.as_str(), value(it))).collect();
    let is_spelt_so = text.as_bytes() == json.to_string().as_bytes() && json["code"].is_i64();
    let response = json!({
        "headers": headers, "isText": is_text, "text": text, "json": json, "isSpeltSo": is_spelt_so,
    });
    let schema = serde_json::from_str(include_str!("one_server.json")).expect("a JSON Schema");
    jsonschema::validator_for(&schema).expect("a JSON Schema").is_valid(&response)
}
