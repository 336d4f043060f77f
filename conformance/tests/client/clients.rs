//! The clients under test: ours in two forms, and one with habits.

mod sending;

use std::io::Read as _;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use reqwest::Url;
use sallyport_client::blocking;
use serde_json::{Value, json};

use crate::adapter;

/// Answers as the client of that name.
pub fn main(name: &str) -> ExitCode {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("standard input");
    let input: Value = serde_json::from_str(&text).expect("one JSON object");
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let output = match name {
        "ours" | "blocking" => {
            let output = adapter::connect(&input).and_then(|client| match name {
                "ours" => runtime().block_on(adapter::answer(&client, &input)),
                _ => blocking::Client::new(client.clone())?.wait(adapter::answer(&client, &input)),
            });
            output.unwrap_or_else(|error| adapter::failure(&error))
        }
        _ => {
            let mut output = runtime().block_on(answer(name, &input));
            if output.is_err() && name == "reads errors as nothing" {
                output = runtime().block_on(answer("always empty", &input));
            }
            output.unwrap_or_else(|message| json!({"error": {"class": "error", "message": message}}))
        }
    };
    println!("{output}");
    ExitCode::SUCCESS
}

/// Conforming clients of different habits.
pub const GOOD: [&str; 6] = [
    "usual",
    "gives up at once",
    "request id in a header",
    "token as bearer",
    "follows redirects within the service",
    "a timeout for each request",
];

/// One call of a client that has one habit and conforms otherwise. Each habit is named where it acts.
struct Call {
    habit: String,
    http: reqwest::Client,
    base: String,
    token: String,
    request_id: String,
    deadline: Instant,
    attempts: u32,
}

/// A request without what the habits of a client add.
#[derive(Clone, Copy)]
struct Request<'a> {
    path: &'a str,
    query: &'a [(&'a str, String)],
    body: Option<&'a Value>,
    is_text: bool,
}

impl Request<'_> {
    fn is_extraction(self) -> bool {
        self.path == EXTRACT
    }
}

const EXTRACT: &str = "/openapi/v1/proxy/extract";

/// The habit of a client that does not retry a page.
const GIVES_UP_WITH_PAGES: &str = "gives up at once, and returns the pages so far";

/// A body, as text and as JSON.
struct Answer {
    text: String,
    json: Value,
}

async fn answer(habit: &str, input: &Value) -> Result<Value, String> {
    let (operation, arguments) = (input["operation"].as_str().unwrap_or_default(), &input["arguments"]);
    match habit {
        "always an error" => return Err("no".to_owned()),
        // Those of other operations are ignored.
        "always empty" => {
            return Ok(json!({"gateways": [], "entries": [], "groups": [], "instances": [], "total": 0}));
        }
        _ => {}
    }
    let mut base = std::env::var("SALLYPORT_BASE_URL").expect("a base URL");
    if habit == "completes URLs" && !base.contains("://") {
        base = format!("http://{base}");
    } else if habit != "speaks plain http" && !is_private(&base, habit) {
        return Err("no https".to_owned());
    }
    let limit = Duration::from_millis(input["time_limit_ms"].as_u64().unwrap_or_default());
    let deadline = Instant::now() + if habit == "has no timeout" { Duration::from_secs(3600) } else { limit };
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
        request_id: if habit == "one request id for all" { "one".to_owned() } else { number },
        deadline,
        attempts: 0,
        habit: habit.to_owned(),
    };
    match operation {
        "extract" | "extract_text" => call.extract(operation == "extract_text", arguments).await,
        "groups" => {
            let path = "/openapi/v1/static/groups";
            let answer = call.send(Request { path, query: &[], body: None, is_text: false }).await?;
            Ok(json!({"groups": call.ids(&answer.json, "groupId")}))
        }
        _ => call.search(arguments).await,
    }
}

/// Whether nobody on the network can read what is sent to a base URL, as this client sees it.
fn is_private(base: &str, habit: &str) -> bool {
    match habit {
        "finds the loopback interface in a URL" => base.contains("127.") || base.contains("localhost"),
        "finds the loopback interface at the start of a URL" => {
            base.starts_with("http://127.") || base.starts_with("http://localhost")
        }
        "knows schemes in lower case" if !base.starts_with("http://") => true,
        _ => Url::parse(base).is_ok_and(|url| url.scheme() == "https" || url.host_str() == Some("127.0.0.1")),
    }
}

impl Call {
    fn ids(&self, body: &Value, name: &str) -> Vec<i64> {
        let bits = if self.is("has ids of 32 bits") { i64::from(u32::MAX) } else { -1 };
        let items = body["data"]["items"].as_array().into_iter().flatten();
        items.filter_map(|item| Some(item[name].as_i64()? & bits)).collect()
    }

    async fn extract(&mut self, is_text: bool, arguments: &Value) -> Result<Value, String> {
        let text =
            |name: &str| arguments[name].as_str().map_or_else(|| arguments[name].to_string(), str::to_owned);
        let names = ["num", "lb", "sb"].into_iter().filter(|name| arguments.get(*name).is_some());
        let mut query: Vec<(&str, String)> = names.map(|name| (name, text(name))).collect();
        if self.is("drops the separator") {
            query.retain(|(name, _)| *name == "num");
        }
        let more = [
            (is_text, "return_type", "txt"),
            (self.is("names a region"), "regions", "USA"),
            (self.is("asks for a protocol"), "protocol", "socks5"),
        ];
        let more = more.into_iter().filter(|(is_sent, ..)| *is_sent);
        query.extend(more.map(|(_, name, value)| (name, value.to_owned())));
        if self.is("extracts twice") {
            self.send(Request { path: EXTRACT, query: &query, body: None, is_text }).await?;
        }
        for (name, value) in &mut query {
            match *name {
                "num" if self.is("takes more") => {
                    *value = (arguments["num"].as_i64().unwrap_or_default() + 1).to_string();
                }
                "num" if self.is("takes one") => "1".clone_into(value),
                "lb" if self.is("asks for lines") => "4".clone_into(value),
                _ => {}
            }
        }
        let answer = self.send(Request { path: EXTRACT, query: &query, body: None, is_text }).await?;
        if is_text {
            let separator = match (self.habit.as_str(), text("lb").as_str()) {
                ("splits by commas", _) => ",".to_owned(),
                ("asks for lines", _) => "\n".to_owned(),
                (_, "1") => "\r\n".to_owned(),
                (_, "2") => "/br".to_owned(),
                (_, "3") => "\r".to_owned(),
                (_, "4") => "\n".to_owned(),
                (_, "5") => "\t".to_owned(),
                _ => text("sb"),
            };
            let entries: Vec<&str> =
                answer.text.split(&separator).filter(|entry| !entry.is_empty()).collect();
            if self.is("knows one server") && entries.iter().any(|entry| !is_plain(entry)) {
                return Err("an entry of another form".to_owned());
            }
            return Ok(json!({"entries": entries}));
        }
        let entries = answer.json["data"].as_array().into_iter().flatten();
        let gateway =
            |entry: &Value| format!("{}:{}", entry["ip"].as_str().unwrap_or_default(), entry["port"]);
        Ok(json!({"gateways": entries.map(gateway).collect::<Vec<_>>()}))
    }

    async fn search(&mut self, arguments: &Value) -> Result<Value, String> {
        let (mut instances, mut page, mut total, mut last) = (Vec::new(), 1, None, None);
        loop {
            let mut body = arguments.clone();
            let asked = if self.is("reads the first page twice") && page == 2 { 1 } else { page };
            body["page"] = json!(asked);
            if self.is("has a page size of its own") || page > 1 && self.is("drops the page size") {
                body["pageSize"] = json!(100);
            }
            if self.is("writes the page size as text") {
                body["pageSize"] = json!(body["pageSize"].to_string());
            }
            if self.is("filters by status") {
                body["status"] = json!("active");
            }
            let path = "/openapi/v1/static/instances/search";
            let request = Request { path, query: &[], body: Some(&body), is_text: false };
            let answer = match self.send(request).await {
                Err(_) if self.is("starts pages again") && page > 1 && self.attempts < 10 => {
                    page = 1;
                    continue;
                }
                Err(_) if page > 1 && (self.is("stops at a failed page") || self.is(GIVES_UP_WITH_PAGES)) => {
                    break;
                }
                Err(_) if self.is("returns parts") && Instant::now() >= self.deadline => break,
                sent => sent?,
            };
            let found = self.ids(&answer.json, "instanceId");
            total = answer.json["data"]["total"].as_i64().or(total);
            if self.is("counts pages") {
                last = i64::try_from(found.len()).ok();
            }
            let so_far = i64::try_from(instances.len() + found.len()).unwrap_or(i64::MAX);
            let has_all = total.is_none_or(|total| so_far >= total);
            let is_last = match self.habit.as_str() {
                "reads one page" => true,
                "reads ten pages" if page == 10 => true,
                "reads to an empty page" => found.is_empty(),
                "reads up to the total" => has_all || self.attempts > 60,
                _ => found.is_empty() || has_all,
            };
            instances.extend(found);
            if is_last {
                break;
            }
            page += 1;
        }
        if self.is("takes nothing for an error") && instances.is_empty() {
            return Err("nothing found".to_owned());
        }
        Ok(json!({"instances": instances, "total": last.or(total)}))
    }
}

fn is_plain(entry: &str) -> bool {
    let parts = entry.split_once(':');
    parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}
