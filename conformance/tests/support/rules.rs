//! Servers that rules describe: `tool/scripts/README.md` has their words.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::program::TOKEN;
use super::server;

/// The headers of the contract, for responses that name none.
const HEADERS: &str = "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Request-Id: r\r\n";

/// A server that rules describe. Its threads end with the test.
pub(crate) struct RuledServer {
    address: SocketAddr,
    state: Arc<State>,
}

/// What a server has seen, and what it does.
struct State {
    connections: AtomicUsize,
    requests: AtomicUsize,
    rules: Mutex<Arc<Rules>>,
    /// What it got since a test looked.
    sent: Mutex<String>,
    /// Requests that no rule fits.
    unmatched: Mutex<Vec<String>>,
    /// For how long nobody listens after the next connection.
    pause: Mutex<Option<Duration>>,
}

impl RuledServer {
    pub(crate) fn start(rules: &str) -> Self {
        let mut listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let state = Arc::new(State {
            connections: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            rules: Mutex::new(Arc::new(Rules::parse(rules))),
            sent: Mutex::default(),
            unmatched: Mutex::default(),
            pause: Mutex::default(),
        });
        let server = Self { address, state: Arc::clone(&state) };
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let pause = state.pause.lock().expect("whole").take();
                if let Some(time) = pause {
                    drop(listener);
                    drop(stream);
                    std::thread::sleep(time);
                    listener = TcpListener::bind(address).expect("its own port");
                    continue;
                }
                state.connections.fetch_add(1, Ordering::SeqCst);
                let state = Arc::clone(&state);
                // A client that has had enough hangs up, which is what many of these are for.
                std::thread::spawn(move || drop(state.serve(address, &mut stream)));
            }
        });
        server
    }

    /// Other rules from now on.
    pub(crate) fn change(&self, rules: &str) {
        *self.state.rules.lock().expect("whole") = Arc::new(Rules::parse(rules));
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// Number of gateways in responses.
    pub(crate) fn gateways(&self) -> usize {
        self.state.rules.lock().expect("whole").gateways.load(Ordering::SeqCst)
    }

    /// What it got since the last call.
    pub(crate) fn take_sent(&self) -> String {
        std::mem::take(&mut *self.state.sent.lock().expect("whole"))
    }

    /// Requests that no rule fits.
    pub(crate) fn unmatched(&self) -> Vec<String> {
        self.state.unmatched.lock().expect("whole").clone()
    }
}

impl State {
    fn serve(&self, address: SocketAddr, stream: &mut TcpStream) -> std::io::Result<()> {
        let (head, body) = server::read_request(stream)?;
        self.requests.fetch_add(1, Ordering::SeqCst);
        *self.sent.lock().expect("whole") += &format!("{head}\n{body}\n");
        let rules = Arc::clone(&*self.rules.lock().expect("whole"));
        match rules.find(&head, &body) {
            (_, None) => self.unmatched.lock().expect("whole").push(head.clone()),
            (asked, Some(reply)) => match reply.strip_prefix("restart ") {
                None => return rules.reply(stream, &asked, reply),
                Some(time) => {
                    *self.pause.lock().expect("whole") = Some(milliseconds(time));
                    // The listener waits for a connection; it is dropped before the end of this one can be read.
                    let _ = TcpStream::connect(address)?.read(&mut [0; 1]);
                }
            },
        }
        Ok(())
    }
}

/// Rules, of which the first one that fits a request responds.
struct Rules {
    rules: Vec<Rule>,
    /// When the latest second began, and how many requests have come in it.
    second: Mutex<(Instant, i64)>,
    /// How often each request line came.
    lines: Mutex<BTreeMap<String, usize>>,
    /// Number of gateways in responses.
    gateways: AtomicUsize,
}

struct Rule {
    conditions: Vec<String>,
    reply: String,
    /// How many requests were responded to.
    taken: AtomicUsize,
}

/// What rules look at.
struct Asked<'a> {
    /// The request line and the headers.
    head: &'a str,
    body: &'a str,
    target: &'a str,
    /// Pairs of the query, as they were sent.
    query: Vec<(&'a str, &'a str)>,
    /// How often this request line came, this time included.
    time: usize,
    /// The number of the request in its second.
    in_second: i64,
}

impl Rules {
    /// `CONDITION … -> REPLY | …`
    fn parse(text: &str) -> Self {
        let rules = text.split(" | ").map(|rule| {
            let (conditions, reply) = rule.split_once("->").expect("CONDITIONS -> REPLY");
            let conditions: Vec<_> = conditions.split_whitespace().map(str::to_owned).collect();
            for condition in &conditions {
                assert!(is_known(condition.trim_start_matches('!')), "unknown condition `{condition}`");
            }
            Rule { conditions, reply: repeated(reply.trim()), taken: AtomicUsize::new(0) }
        });
        Self {
            rules: rules.collect(),
            second: Mutex::new((Instant::now(), 0)),
            lines: Mutex::default(),
            gateways: AtomicUsize::new(0),
        }
    }

    /// What the rules see of a request, and the reply of the first one that fits.
    fn find<'a>(&self, head: &'a str, body: &'a str) -> (Asked<'a>, Option<&str>) {
        let in_second = {
            let mut second = self.second.lock().expect("whole");
            if second.0.elapsed() >= Duration::from_secs(1) {
                *second = (Instant::now(), 0);
            }
            second.1 += 1;
            second.1
        };
        let line = head.lines().next().unwrap_or_default();
        let target = line.split(' ').nth(1).unwrap_or_default();
        let query = target
            .split_once('?')
            .map_or("", |(_, query)| query)
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .collect();
        let mut lines = self.lines.lock().expect("whole");
        let time = lines.entry(line.to_owned()).or_default();
        *time += 1;
        let asked = Asked { head, body, target, query, time: *time, in_second };
        // In one step, since requests come side by side.
        let rule = self.rules.iter().find(|rule| rule.takes(&asked));
        drop(lines);
        (asked, rule.map(|rule| rule.reply.as_str()))
    }

    fn reply(&self, stream: &mut TcpStream, asked: &Asked<'_>, reply: &str) -> std::io::Result<()> {
        let (word, rest) = reply.split_once(' ').unwrap_or((reply, ""));
        match word {
            "after" => {
                let (time, reply) = rest.split_once(' ').expect("a time and a reply");
                std::thread::sleep(milliseconds(time));
                self.reply(stream, asked, reply)
            }
            "hang" => server::hang(stream),
            "close" => Ok(()),
            "drip" => server::drip(stream),
            "endless" => server::endless(stream, &format!("10000\r\n{}\r\n", " ".repeat(0x10000))),
            "endless-chunk-size" => server::endless(stream, &"0".repeat(0x10000)),
            "bytes" => stream.write_all(&unescaped(rest)),
            "kept" => {
                self.respond_with(stream, asked, rest, "")?;
                server::read_request(stream).map(drop)
            }
            _ => self.respond_with(stream, asked, reply, "Connection: close\r\n"),
        }
    }

    /// A whole response: `BODY`, or `BODY + HEADER + …`, of which the first may be `-` for no header of the contract.
    fn respond_with(
        &self,
        stream: &mut TcpStream,
        asked: &Asked<'_>,
        reply: &str,
        connection: &str,
    ) -> std::io::Result<()> {
        let (reply, more) = reply.split_once(" + ").unwrap_or((reply, ""));
        let (mut headers, mut more) = (HEADERS.to_owned(), more.split(" + ").peekable());
        if more.next_if_eq(&"-").is_some() {
            headers.clear();
        }
        headers.extend(more.filter(|header| !header.is_empty()).map(|header| format!("{header}\r\n")));
        let (status, body) = self.body(asked, reply);
        let head =
            format!("HTTP/1.1 {status} X\r\n{connection}Content-Length: {}\r\n{headers}\r\n", body.len());
        stream.write_all(&unescaped(&head))?;
        stream.write_all(&body)
    }

    fn body(&self, asked: &Asked<'_>, reply: &str) -> (u16, Vec<u8>) {
        let words: Vec<&str> = reply.split(' ').collect();
        let body = match words.as_slice() {
            ["groups", ids @ ..] => {
                let at = "2026-01-01T00:00:00Z";
                let group =
                    |id: &&str| json!({"groupId": number(id), "name": "g", "createdAt": at, "updatedAt": at});
                envelope(&json!({"items": ids.iter().map(group).collect::<Vec<_>>()}))
            }
            ["gateways", count] => return (200, self.extraction(asked, 0, count)),
            [status, "gateways", count] => {
                return (status.parse().expect("a status"), self.extraction(asked, 7, count));
            }
            ["search", count] => search(asked, number(count), number(count)),
            ["search", count, "total=items"] => search(asked, number(count), 0),
            ["file", file] => return (200, std::fs::read(file).expect("a file")),
            [status, code, message @ ..] if code.parse::<u32>().is_ok() => {
                let body = json!({"code": number(code), "message": message.join(" ")});
                return (status.parse().expect("a status"), body.to_string().into());
            }
            [status, ..] => {
                let body = reply[status.len()..].trim_start();
                return (status.parse().expect("a reply"), unescaped(body));
            }
            [] => unreachable!("a split has a part"),
        };
        (200, body.to_string().into())
    }

    /// So many gateways, as many as were asked for (`num`), or no more of them than so many (`num<=7`). As text where that is asked for.
    /// Without a number in the request, it is 100, the largest one.
    fn extraction(&self, asked: &Asked<'_>, code: u32, count: &str) -> Vec<u8> {
        let num = || asked.param("num").and_then(|num| num.parse().ok()).unwrap_or(100);
        let (of_request, most) = count.split_once("<=").unwrap_or((count, "1000000"));
        let count = if of_request == "num" { num().clamp(1, number(most)) } else { number(count) };
        self.gateways.fetch_add(usize::try_from(count).expect("a number"), Ordering::SeqCst);
        let ports = 1..=count;
        if asked.param("return_type") == Some("txt") {
            return ports.map(|port| format!("gw.invalid:{port}")).collect::<Vec<_>>().join("\r\n").into();
        }
        let data: Vec<_> = ports.map(|port| json!({"ip": "gw.invalid", "port": port})).collect();
        json!({"code": code, "success": true, "msg": "", "request_ip": "127.0.0.1", "data": data})
            .to_string()
            .into()
    }
}

impl Rule {
    fn takes(&self, asked: &Asked<'_>) -> bool {
        let most = self.conditions.iter().find_map(|word| word.strip_prefix('x')?.parse::<usize>().ok());
        self.conditions.iter().all(|condition| asked.has(condition))
            && self.taken.fetch_add(1, Ordering::SeqCst) < most.unwrap_or(usize::MAX)
    }
}

impl Asked<'_> {
    fn has(&self, condition: &str) -> bool {
        if let Some(condition) = condition.strip_prefix('!') {
            return !self.has(condition);
        }
        if let Some(text) = condition.strip_prefix('~') {
            return self.head.contains(text) || self.body.contains(text);
        }
        match condition.split_once('=') {
            None if condition == "token" => self.has_token(),
            None if condition.starts_with('/') => {
                self.target.split('?').next().is_some_and(|path| path.contains(condition))
            }
            None => condition.starts_with('x'),
            Some(("beyond", value)) => self.in_second > number(value),
            Some(("time", value)) => value == self.time.to_string(),
            Some((name, value)) => match (value.split_once(".."), self.value(name)) {
                (_, given) if value == "*" => given.is_some(),
                (Some((from, to)), Some(given)) => {
                    given.parse().is_ok_and(|given| (number(from)..=number(to)).contains(&given))
                }
                (_, given) => given.as_deref() == Some(value),
            },
        }
    }

    /// A query parameter, or with `body.` a member of the body as JSON.
    fn value(&self, name: &str) -> Option<String> {
        match name.strip_prefix("body.") {
            None => self.param(name).map(str::to_owned),
            Some(member) => {
                let body: Value = serde_json::from_str(self.body).unwrap_or_default();
                body.get(member).map(Value::to_string)
            }
        }
    }

    /// The value of a query parameter as it was sent, the first one of its name.
    fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Whether the query has one token, the right one.
    fn has_token(&self) -> bool {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let mut tokens = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "api_key");
        tokens.next().is_some_and(|(_, token)| token == TOKEN) && tokens.next().is_none()
    }
}

/// Whether `Asked::has` knows the condition, or `Rule::takes` does.
fn is_known(condition: &str) -> bool {
    condition == "token"
        || condition.starts_with(['/', '~'])
        || condition.contains('=')
        || condition.strip_prefix('x').is_some_and(|most| most.parse::<usize>().is_ok())
}

fn envelope(data: &Value) -> Value {
    json!({"code": 200, "message": "ok", "requestId": "r", "data": data})
}

/// A page of an account with so many instances. Without a total, that is how many the page has.
fn search(asked: &Asked<'_>, count: i64, total: i64) -> Value {
    let body: Value = serde_json::from_str(asked.body).unwrap_or_default();
    let (page, size) = (body["page"].as_i64().unwrap_or(1), body["pageSize"].as_i64().unwrap_or(20));
    let instance = |id: i64| {
        json!({"instanceId": id, "offerId": 1, "status": "active", "ip": "203.0.113.7", "port": 8000 + id,
               "protocols": ["http"], "countryCode": "USA", "cityCode": "NYC", "ispType": 1, "expiresAt": null,
               "activatedAt": null, "capabilities": {}, "groupId": null})
    };
    let items: Vec<Value> =
        (1..=count).filter(|id| (id - 1) / size.max(1) + 1 == page).map(instance).collect();
    let total = total.max(items.len().try_into().unwrap_or_default());
    envelope(&json!({"items": items, "page": page, "pageSize": size, "total": total}))
}

fn milliseconds(text: &str) -> Duration {
    Duration::from_millis(text.trim_end_matches("ms").parse().expect("a time in ms"))
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("expected a number, found `{text}`"))
}

/// `«TEXT*3»` stands for the text three times.
fn repeated(text: &str) -> String {
    let mut parts = text.split(['«', '»']);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    while let (Some(part), after) = (parts.next(), parts.next().unwrap_or_default()) {
        let (text, times) = part.rsplit_once('*').expect("TEXT*TIMES");
        whole.push_str(&text.repeat(times.parse().expect("a number")));
        whole.push_str(after);
    }
    whole
}

/// Bytes of a text with `\r`, `\n` and `\xff`.
pub(crate) fn unescaped(text: &str) -> Vec<u8> {
    if !text.contains('\\') {
        return text.into();
    }
    let text = text.replace("\\r", "\r").replace("\\n", "\n");
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        bytes.extend(&part.as_bytes()[2..]);
    }
    bytes
}
