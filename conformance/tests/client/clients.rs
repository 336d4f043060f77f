//! The clients under test: ours in two forms, and one with habits.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Url;
use serde_json::{Value, json};

use crate::adapter;
use crate::habits::{Always, Careless, Habits, Pages, Redirects, RequestId, Retries, Wait};

/// Answers as the client of that name.
pub fn main(name: &str) -> ExitCode {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("standard input");
    let input: Value = serde_json::from_str(&text).expect("one JSON object");
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let output = match name {
        "ours" => adapter::connect(&input)
            .and_then(|client| runtime().block_on(adapter::answer(&client, &input)))
            .unwrap_or_else(|error| adapter::failure(&error)),
        "blocking" => adapter::connect(&input)
            .and_then(|client| {
                let blocking = sallyport_client::blocking::Client::new(client.clone())?;
                blocking.wait(adapter::answer(&client, &input))
            })
            .unwrap_or_else(|error| adapter::failure(&error)),
        _ => {
            let habits = Habits::named(name).expect("known habits");
            let hides_errors = habits.careless == Some(Careless::ReadsErrorsAsNothing);
            let output = runtime().block_on(answer(habits.clone(), &input));
            let output = match output {
                Err(_) if hides_errors => {
                    let nothing = Habits { always: Some(Always::Empty), ..habits };
                    runtime().block_on(answer(nothing, &input))
                }
                output => output,
            };
            output.unwrap_or_else(|message| json!({"error": {"class": "error", "message": message}}))
        }
    };
    println!("{output}");
    ExitCode::SUCCESS
}

/// One call of a client with habits.
struct Call {
    habits: Habits,
    http: reqwest::Client,
    base: String,
    token: String,
    request_id: String,
    deadline: Instant,
    attempts: u32,
}

/// A body, as text and as JSON.
struct Answer {
    text: String,
    json: Value,
}

async fn answer(habits: Habits, input: &Value) -> Result<Value, String> {
    let (operation, arguments) = (input["operation"].as_str().unwrap_or_default(), &input["arguments"]);
    if let Some(always) = habits.always {
        return match (always, operation) {
            (Always::Error, _) => Err("no".to_owned()),
            (Always::Empty, "extract") => Ok(json!({"gateways": []})),
            (Always::Empty, "extract_text") => Ok(json!({"entries": []})),
            (Always::Empty, "groups") => Ok(json!({"groups": []})),
            (Always::Empty, _) => Ok(json!({"instances": [], "total": 0})),
        };
    }
    let mut base = std::env::var("SALLYPORT_BASE_URL").expect("a base URL");
    if habits.careless == Some(Careless::CompletesUrls) && !base.contains("://") {
        base = format!("http://{base}");
    } else if !habits.speaks_plain_http && !is_private(&base, habits.careless) {
        return Err("no https".to_owned());
    }
    let limit = Duration::from_millis(input["time_limit_ms"].as_u64().unwrap_or_default());
    let deadline = Instant::now() + if habits.has_no_timeout { Duration::from_secs(3600) } else { limit };
    let http = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .tls_certs_only([])
        .build();
    let number = format!("{:?}-{}", SystemTime::now(), std::process::id());
    let mut call = Call {
        http: http.expect("a client"),
        base,
        token: std::env::var("SALLYPORT_API_KEY").expect("a token"),
        request_id: if habits.request_id == RequestId::Constant { "one".to_owned() } else { number },
        deadline,
        attempts: 0,
        habits,
    };
    match operation {
        "extract" | "extract_text" => call.extract(operation == "extract_text", arguments).await,
        "groups" => {
            let answer = call.send("/openapi/v1/static/groups", &[], None, 200, false).await?;
            let mut ids = ids(&answer.json, "groupId");
            if call.habits.has_short_ids {
                ids.iter_mut().for_each(|id| *id &= i64::from(u32::MAX));
            }
            Ok(json!({"groups": ids}))
        }
        _ => call.search(arguments).await,
    }
}

/// Whether nobody on the network can read what is sent to a base URL, as this client sees it.
fn is_private(base: &str, careless: Option<Careless>) -> bool {
    match careless {
        Some(Careless::FindsLoopbackInUrl) => base.contains("127.") || base.contains("localhost"),
        Some(Careless::FindsLoopbackAtStart) => {
            base.starts_with("http://127.") || base.starts_with("http://localhost")
        }
        Some(Careless::KnowsSchemesInLowerCase) if !base.starts_with("http://") => true,
        _ => Url::parse(base).is_ok_and(|url| url.scheme() == "https" || url.host_str() == Some("127.0.0.1")),
    }
}

fn ids(body: &Value, name: &str) -> Vec<i64> {
    body["data"]["items"].as_array().into_iter().flatten().filter_map(|item| item[name].as_i64()).collect()
}

impl Call {
    async fn extract(&mut self, is_text: bool, arguments: &Value) -> Result<Value, String> {
        let text =
            |name: &str| arguments[name].as_str().map_or_else(|| arguments[name].to_string(), str::to_owned);
        let names = ["num", "lb", "sb"].into_iter().filter(|name| arguments.get(*name).is_some());
        let mut query: Vec<(&str, String)> = names.map(|name| (name, text(name))).collect();
        if self.habits.drops_separator {
            query.retain(|(name, _)| *name == "num");
        }
        if is_text {
            query.push(("return_type", "txt".to_owned()));
        }
        if self.habits.names_a_region {
            query.push(("regions", "USA".to_owned()));
        }
        if self.habits.extracts_twice {
            self.send("/openapi/v1/proxy/extract", &query, None, 0, is_text).await?;
        }
        for (name, value) in &mut query {
            match *name {
                "num" if self.habits.takes_more => {
                    *value = (arguments["num"].as_i64().unwrap_or_default() + 1).to_string();
                }
                "num" if self.habits.takes_one => "1".clone_into(value),
                "lb" if self.habits.asks_for_lines => "4".clone_into(value),
                _ => {}
            }
        }
        let answer = self.send("/openapi/v1/proxy/extract", &query, None, 0, is_text).await?;
        if is_text {
            let separator = match (self.habits.separator, text("lb").as_str()) {
                (Some(separator), _) => separator.to_owned(),
                (None, _) if self.habits.asks_for_lines => "\n".to_owned(),
                (None, "1") => "\r\n".to_owned(),
                (None, "2") => "/br".to_owned(),
                (None, "3") => "\r".to_owned(),
                (None, "4") => "\n".to_owned(),
                (None, "5") => "\t".to_owned(),
                (None, _) => text("sb"),
            };
            let entries: Vec<&str> =
                answer.text.split(&separator).filter(|entry| !entry.is_empty()).collect();
            if self.habits.is_strict && entries.iter().any(|entry| !is_plain(entry)) {
                return Err("an entry of another form".to_owned());
            }
            return Ok(json!({"entries": entries}));
        }
        let entries = answer.json["data"].as_array().cloned().unwrap_or_default();
        let gateways: Vec<String> = entries
            .iter()
            .map(|entry| format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"]))
            .collect();
        let known = |entry: &Value| entry.as_object().is_some_and(|entry| entry.len() == 2);
        if self.habits.is_strict && !entries.iter().all(known) {
            return Err("an unknown field of a gateway".to_owned());
        }
        Ok(json!({"gateways": gateways}))
    }

    async fn search(&mut self, arguments: &Value) -> Result<Value, String> {
        let (mut instances, mut page, mut total, mut last) = (Vec::new(), 1, None, None);
        loop {
            let mut body = arguments.clone();
            let asked = if self.habits.pages == Pages::Repeated && page == 2 { 1 } else { page };
            body["page"] = json!(asked);
            if self.habits.has_own_page_size || page > 1 && self.is(Careless::DropsThePageSize) {
                body["pageSize"] = json!(100);
            }
            let sent = self.send("/openapi/v1/static/instances/search", &[], Some(body), 200, false).await;
            let answer = match sent {
                Err(_) if self.habits.pages == Pages::Restarted && page > 1 && self.attempts < 10 => {
                    page = 1;
                    continue;
                }
                Err(_) if self.habits.pages == Pages::UntilError && page > 1 => break,
                Err(_) if self.is(Careless::ReturnsParts) && Instant::now() >= self.deadline => break,
                sent => sent?,
            };
            let mut found = ids(&answer.json, "instanceId");
            if self.habits.has_short_ids {
                found.iter_mut().for_each(|id| *id &= i64::from(u32::MAX));
            }
            total = answer.json["data"]["total"].as_i64().or(total);
            if self.is(Careless::CountsPages) {
                last = i64::try_from(found.len()).ok();
            }
            let is_last = match self.habits.pages {
                Pages::First => true,
                _ if self.is(Careless::ReadsTenPages) && page == 10 => true,
                Pages::UntilEmpty => found.is_empty(),
                Pages::UntilTotal => {
                    let so_far = i64::try_from(instances.len() + found.len()).unwrap_or(i64::MAX);
                    total.is_none_or(|total| so_far >= total) || self.attempts > 60
                }
                _ => {
                    let so_far = instances.len() + found.len();
                    found.is_empty()
                        || total.is_none_or(|total| i64::try_from(so_far).is_ok_and(|count| count >= total))
                }
            };
            instances.extend(found);
            if is_last {
                break;
            }
            page += 1;
        }
        if self.habits.takes_nothing_for_an_error && instances.is_empty() {
            return Err("nothing found".to_owned());
        }
        Ok(json!({"instances": instances, "total": last.or(total)}))
    }

    /// The body of a success, after retries.
    async fn send(
        &mut self,
        path: &str,
        query: &[(&str, String)],
        body: Option<Value>,
        success: i64,
        is_text: bool,
    ) -> Result<Answer, String> {
        let mut retries = 0;
        loop {
            let (error, wait) = match self.once(path, query, body.as_ref(), success, is_text).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let most = match self.habits.retries {
                Retries::None => 0,
                Retries::Three => 3,
                Retries::Endless => u32::MAX,
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
    async fn once(
        &mut self,
        path: &str,
        query: &[(&str, String)],
        body: Option<&Value>,
        success: i64,
        is_text: bool,
    ) -> Result<Answer, (String, Option<Duration>)> {
        self.attempts += 1;
        let backoff = match self.habits.wait {
            Wait::Never => Duration::ZERO,
            _ => Duration::from_millis(100),
        };
        let begun = Instant::now();
        let left = self.deadline.saturating_duration_since(begun);
        let left = if self.habits.limits_requests { left.min(Duration::from_secs(3)) } else { left };
        let mut sent = match self.own_http() && body.is_none() {
            true => Ok(self.sent_by_hand(path, query, success == 0)),
            false => self.request(path, query, body, success == 0).timeout(left).send().await,
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
        let follows = self.habits.follows_redirects || self.habits.follows_redirects_as_they_are;
        if follows && response.status().is_redirection() {
            let mut request = self.http.get(response.headers()["location"].to_str().unwrap_or_default());
            if self.habits.follows_redirects {
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
            && !(is_text && self.habits.reads_cut_texts)
        {
            return Err((self.interrupted(error), Some(backoff)));
        }
        let text = match self.habits.careless {
            Some(Careless::DecodesLatin1) => bytes.iter().map(|byte| char::from(*byte)).collect(),
            Some(Careless::DecodesAscii) if !bytes.is_ascii() => return Err(("not ASCII".to_owned(), None)),
            _ => String::from_utf8_lossy(&bytes).into_owned(),
        };
        let media = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_known_as_text = match self.habits.careless {
            Some(Careless::KnowsJsonByMediaType) => is_text && !media.contains("json"),
            Some(Careless::KnowsJsonByFirstCharacter) => is_text && !text.starts_with('{'),
            _ => false,
        };
        let json: Value = match serde_json::from_str(&text) {
            Ok(json) if !is_known_as_text => json,
            Err(error) if !is_text && self.is(Careless::DiesOfPages) => panic!("{error}"),
            _ => Value::Null,
        };
        if self.is(Careless::ReadsNothingAsEmptyList) && !is_text && text.is_empty() {
            return Ok(Answer { text, json: json!({"data": {"items": []}}) });
        }
        let is_code = self.is_success(json.get("code"), success, is_text);
        let is_good =
            (status == 200 || self.habits.ignores_status || self.habits.takes_any_2xx && status / 100 == 2)
                && (is_code || self.habits.ignores_code);
        let is_fit = !self.habits.ignores_code || is_text || json.is_object();
        if is_good && is_fit {
            if self.habits.is_strict {
                strict(&headers, &text, &json, is_text).map_err(|reason| (reason.to_owned(), None))?;
            }
            return Ok(Answer { text, json });
        }
        if self.habits.logs_most_of_the_token {
            eprintln!("failed with {}…", &self.token[..self.token.len() * 3 / 4]);
        }
        if self.is(Careless::EncodesLog) {
            eprintln!("{}", BASE64_STANDARD.encode(format!("api_key={}&", self.token)));
        }
        if self.is(Careless::LogsBodies) {
            eprintln!("rejected: {text}");
        }
        if self.habits.logs_messages {
            eprintln!("rejected: {}", json["message"]);
        }
        if self.habits.logs_urls {
            eprintln!("GET {}{path}?api_key={} failed with HTTP {status}", self.base, self.token);
        }
        let told = headers.get("retry-after").and_then(|value| value.to_str().ok());
        let told = told.filter(|_| self.habits.wait != Wait::Throttled || status == 429);
        let wait = told.and_then(|told| self.wait(told)).map(|wait| match self.habits.careless {
            Some(Careless::WaitsOnce) if self.attempts > 1 => Duration::ZERO,
            Some(Careless::WaitsFromRequestOn) => wait.saturating_sub(begun.elapsed()),
            Some(Careless::WaitsTenSecondsAtMost) => wait.min(Duration::from_secs(10)),
            Some(Careless::HasTimersOf31Bits) if i32::try_from(wait.as_millis()).is_err() => Duration::ZERO,
            _ => wait,
        });
        let may_pass = matches!(status, 429 | 500 | 502 | 503 | 504) || headers.contains_key("retry-after");
        let is_endless = self.habits.retries == Retries::Endless && !self.habits.has_no_timeout;
        let wait = (may_pass || is_endless).then(|| wait.unwrap_or(backoff));
        Err((format!("HTTP {status}"), wait))
    }

    /// How long a Retry-After asks to wait, as this client understands it.
    fn wait(&self, told: &str) -> Option<Duration> {
        if self.habits.wait == Wait::Never {
            return None;
        }
        if let Ok(seconds) = told.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let mut date = httpdate::parse_http_date(told).ok().filter(|_| self.habits.wait != Wait::Seconds)?;
        if self.is(Careless::ReadsDatesAsLocalTime) {
            date -= east_of_greenwich();
        }
        // A little more than told, as the clocks of timers differ.
        Some(date.duration_since(SystemTime::now()).unwrap_or_default() + Duration::from_millis(5))
    }

    /// Parameters of a request, with the request id and the token where they belong there.
    fn parameters(&self, query: &[(&str, String)], is_extraction: bool) -> Vec<(String, String)> {
        let given = query.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let id = match self.habits.request_id {
            _ if self.is(Careless::IdOnRepeatsOnly) && self.attempts == 1 => None,
            RequestId::InQuery | RequestId::Constant => Some(self.request_id.clone()),
            RequestId::Fresh => Some(format!("{}-{}", self.request_id, self.attempts)),
            RequestId::InHeader | RequestId::Missing => None,
        };
        let id = id.filter(|_| is_extraction).map(|id| ("request_id".to_owned(), id));
        let is_in_query = !(is_extraction && self.habits.has_bearer);
        let token = is_in_query.then(|| ("api_key".to_owned(), self.token.clone()));
        given.chain(id).chain(token).collect()
    }

    fn encoded(&self, parameters: &[(String, String)]) -> String {
        let latin1 = |c: char| match u8::try_from(c) {
            Ok(byte) if !byte.is_ascii_alphanumeric() => format!("%{byte:02X}"),
            Ok(byte) => char::from(byte).to_string(),
            Err(_) => "?".to_owned(),
        };
        let pairs = parameters.iter();
        match self.habits.careless {
            Some(Careless::EncodesNothing | Careless::SendsCharactersAsTheyAre) => {
                pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
            }
            Some(Careless::EncodesLatin1) => {
                let pairs = pairs.map(|(name, value)| (name, value.chars().map(latin1).collect::<String>()));
                pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
            }
            _ => url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish(),
        }
    }

    fn request(
        &self,
        path: &str,
        query: &[(&str, String)],
        body: Option<&Value>,
        is_extraction: bool,
    ) -> reqwest::RequestBuilder {
        let mut url = Url::parse(&format!("{}{path}", self.base)).expect("a URL");
        url.set_query(Some(&self.encoded(&self.parameters(query, is_extraction))));
        if self.is(Careless::EncodesNoToken) {
            url.set_query(Some(&format!("api_key={}", self.token)));
        }
        let mut request = match body {
            Some(body) => self.http.post(url).json(body),
            None if self.is(Careless::SendsBodies) => self.http.get(url).json(&json!({})),
            None => self.http.get(url),
        };
        if is_extraction && self.habits.request_id == RequestId::InHeader {
            request = request.header("x-request-id", &self.request_id);
        }
        if is_extraction && self.habits.has_bearer {
            request = request.bearer_auth(&self.token);
        }
        request
    }

    /// Whether this client speaks HTTP without a library.
    fn own_http(&self) -> bool {
        let own = [
            Careless::SendsCharactersAsTheyAre,
            Careless::KnowsHeadersInLowerCase,
            Careless::KnowsHeadersInCapitals,
        ];
        own.into_iter().any(|careless| self.is(careless))
    }

    /// The response to a request on a socket of its own, with those of its headers that this client knows.
    fn sent_by_hand(&self, path: &str, query: &[(&str, String)], is_extraction: bool) -> reqwest::Response {
        let host = self.base.trim_start_matches("http://");
        let query = self.encoded(&self.parameters(query, is_extraction));
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
            is_lower != self.is(Careless::KnowsHeadersInCapitals)
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
        let is_followed = match self.habits.redirects? {
            Redirects::ToService => is_service,
            Redirects::ToHost => target.host() == base.host(),
            Redirects::ByBeginning => location.starts_with(&self.base),
            Redirects::FirstChecked => is_service || hop > 0,
        };
        is_followed.then_some(target)
    }

    /// Whether a code is that of a success, as this client compares.
    fn is_success(&self, code: Option<&Value>, success: i64, is_text: bool) -> bool {
        match (code, self.habits.careless) {
            (None | Some(Value::Null), Some(Careless::ReadsNoCodeAsZero)) => success == 0,
            (None, _) => is_text,
            (Some(code), Some(Careless::ComparesLoosely)) => match code {
                Value::Bool(yes) => *yes == (success != 0),
                Value::String(text) => text.parse::<i64>().unwrap_or_default() == success,
                Value::Array(_) => success == 0,
                code => code.as_f64() == Some(success as f64),
            },
            (Some(code), _) => code.as_f64() == Some(success as f64),
        }
    }

    fn is(&self, careless: Careless) -> bool {
        self.habits.careless == Some(careless)
    }

    /// What an interruption comes to.
    fn interrupted(&mut self, error: reqwest::Error) -> String {
        assert!(!self.is(Careless::DiesOfInterruptions), "interrupted");
        if error.is_timeout() && self.is(Careless::NewIdAfterTimeout) {
            self.request_id = format!("{}-{}", self.request_id, self.attempts);
        }
        self.logged(error)
    }

    /// The message of an error of the library, which shows the URL with its query.
    fn logged(&self, error: reqwest::Error) -> String {
        if self.habits.logs_most_of_the_token {
            eprintln!("failed with {}…", &self.token[..self.token.len() * 3 / 4]);
        }
        if self.habits.logs_urls {
            eprintln!("{error}");
        }
        error.without_url().to_string()
    }
}

/// The distance of local time from that of Greenwich.
fn east_of_greenwich() -> Duration {
    let offset = std::process::Command::new("date").arg("+%z").output().expect("a time zone").stdout;
    let offset = String::from_utf8_lossy(&offset);
    let part = |range: std::ops::Range<usize>| {
        offset.get(range).and_then(|part| part.parse::<u64>().ok()).unwrap_or_default()
    };
    Duration::from_secs(part(1..3) * 3600 + part(3..5) * 60)
}

fn is_plain(entry: &str) -> bool {
    let parts = entry.split_once(':');
    parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

/// Rejects whatever the reference server would not send.
fn strict(
    headers: &reqwest::header::HeaderMap,
    text: &str,
    json: &Value,
    is_text: bool,
) -> Result<(), &'static str> {
    const KNOWN: [&str; 9] = [
        "content-type",
        "content-length",
        "date",
        "cache-control",
        "x-request-id",
        "x-proxy-requested-count",
        "x-proxy-returned-count",
        "x-proxy-partial",
        "vary",
    ];
    if headers.keys().any(|name| !KNOWN.contains(&name.as_str())) || !headers.contains_key("content-length") {
        return Err("an unknown header, or no length");
    }
    if headers.get("vary").is_some_and(|value| value == "*") {
        return Err("an unknown value of a header");
    }
    let media = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if is_text {
        let ends = text.ends_with(['\n', '\r', '\t']);
        return if media == "text/plain; charset=utf-8" && !ends { Ok(()) } else { Err("another text") };
    }
    if media != "application/json" || text.as_bytes() != json.to_string().as_bytes() || !json["code"].is_i64()
    {
        return Err("another spelling");
    }
    let members = json.as_object().map_or(0, serde_json::Map::len);
    if members != if json.get("success").is_some() { 5 } else { 4 } {
        return Err("an unknown field");
    }
    if json["msg"] == ""
        || json["message"] == ""
        || json["requestId"].as_str().is_some_and(|id| id.len() < 30)
    {
        return Err("an empty text");
    }
    for item in json["data"]["items"].as_array().into_iter().flatten() {
        let times = ["createdAt", "updatedAt", "expiresAt", "activatedAt"].map(|name| item[name].as_str());
        if times.into_iter().flatten().any(|time| !time.ends_with('Z') || time.len() > 24) {
            return Err("another spelling of a time");
        }
        let status = item["status"].as_str();
        let known = ["provisioning", "active", "expired", "cancelled", "failed"];
        if status.is_some_and(|status| !known.contains(&status)) {
            return Err("an unknown status");
        }
        if item.as_object().is_some_and(|item| item.len() != 4 && item.len() != 13) {
            return Err("an unknown field of an item");
        }
    }
    Ok(())
}
