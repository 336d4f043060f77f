//! Servers that rules describe: `tool/scripts/README.md` has their words.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::program::TOKEN;

/// The headers of the contract, for responses that name none.
const HEADERS: &str = "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Request-Id: r\r\n";

/// A server that rules describe. Its threads end with the test.
pub(crate) struct RuledServer {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

/// What a server has seen, and what it does.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) connections: usize,
    pub(crate) requests: usize,
    /// What it got since a test looked.
    pub(crate) sent: String,
    pub(crate) unmatched: Vec<String>,
    pub(crate) gateways: usize,
    /// Of which the first one that fits a request responds.
    rules: Vec<Rule>,
    /// When the latest second began.
    second: Option<Instant>,
    /// How many requests have come in it.
    in_second: i64,
    /// How often each request line came.
    lines: BTreeMap<String, usize>,
    /// For how long nobody listens after the next connection.
    pause: Option<Duration>,
}

impl RuledServer {
    pub(crate) fn start(rules: &str) -> Self {
        let mut listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let state = Arc::new(Mutex::new(State { rules: parse(rules), ..State::default() }));
        let server = Self { address, state: Arc::clone(&state) };
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let pause = state.lock().expect("whole").pause.take();
                if let Some(time) = pause {
                    drop(listener);
                    drop(stream);
                    std::thread::sleep(time);
                    listener = TcpListener::bind(address).expect("its own port");
                    continue;
                }
                state.lock().expect("whole").connections += 1;
                let state = Arc::clone(&state);
                // A client that has had enough hangs up, which is what many of these are for.
                std::thread::spawn(move || drop(serve(&state, address, &mut stream)));
            }
        });
        server
    }

    pub(crate) fn change(&self, rules: &str) {
        let mut state = self.state();
        state.rules = parse(rules);
        (state.second, state.gateways) = (None, 0);
        state.lines.clear();
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("whole")
    }
}

fn serve(state: &Mutex<State>, address: SocketAddr, stream: &mut TcpStream) -> std::io::Result<()> {
    let (head, body) = read_request(stream)?;
    let found = state.lock().expect("whole").find(&head, &body);
    let Some((asked, reply)) = found else { return Ok(()) };
    match reply.strip_prefix("restart ") {
        None => Reply { state, asked: &asked }.write(stream, &reply),
        Some(time) => {
            state.lock().expect("whole").pause = Some(milliseconds(time));
            // The listener waits for a connection; it is dropped before the end of this one can be read.
            TcpStream::connect(address)?.read(&mut [0; 1]).map(drop)
        }
    }
}

struct Rule {
    conditions: Vec<String>,
    reply: String,
    /// How many requests were responded to.
    taken: usize,
}

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

/// `CONDITION … -> REPLY | …`
fn parse(text: &str) -> Vec<Rule> {
    let rules = text.split(" | ").map(|rule| {
        let (conditions, reply) = rule.split_once("->").expect("CONDITIONS -> REPLY");
        let conditions: Vec<_> = conditions.split_whitespace().map(str::to_owned).collect();
        for condition in &conditions {
            assert!(is_known(condition.trim_start_matches('!')), "unknown condition `{condition}`");
        }
        Rule { conditions, reply: repeated(reply.trim()), taken: 0 }
    });
    rules.collect()
}

impl State {
    /// What the rules see of a request, and the reply of the first one that fits. In one step, since requests come side by side.
    fn find<'a>(&mut self, head: &'a str, body: &'a str) -> Option<(Asked<'a>, String)> {
        self.requests += 1;
        self.sent += &format!("{head}\n{body}\n");
        if self.second.is_none_or(|begun| begun.elapsed() >= Duration::from_secs(1)) {
            (self.second, self.in_second) = (Some(Instant::now()), 0);
        }
        self.in_second += 1;
        let line = head.lines().next().unwrap_or_default();
        let target = line.split(' ').nth(1).unwrap_or_default();
        let (_, query) = target.split_once('?').unwrap_or_default();
        let query = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let time = self.lines.entry(line.to_owned()).or_default();
        *time += 1;
        let asked = Asked { head, body, target, query, time: *time, in_second: self.in_second };
        let rule = self.rules.iter_mut().find_map(|rule| rule.takes(&asked).then(|| rule.reply.clone()));
        if rule.is_none() {
            self.unmatched.push(head.to_owned());
        }
        Some((asked, rule?))
    }
}

struct Reply<'a> {
    state: &'a Mutex<State>,
    asked: &'a Asked<'a>,
}

impl Reply<'_> {
    fn write(&self, stream: &mut TcpStream, reply: &str) -> std::io::Result<()> {
        let (word, rest) = reply.split_once(' ').unwrap_or((reply, ""));
        match word {
            "after" => {
                let (time, reply) = rest.split_once(' ').expect("a time and a reply");
                std::thread::sleep(milliseconds(time));
                self.write(stream, reply)
            }
            "hang" => hang(stream),
            "close" => Ok(()),
            "drip" => drip(stream),
            "endless" => endless(stream, &format!("10000\r\n{}\r\n", " ".repeat(0x10000))),
            "endless-chunk-size" => endless(stream, &"0".repeat(0x10000)),
            "bytes" => stream.write_all(&unescaped(rest)),
            "kept" => {
                self.respond_with(stream, rest, "")?;
                read_request(stream).map(drop)
            }
            _ => self.respond_with(stream, reply, "Connection: close\r\n"),
        }
    }

    /// A whole response: `BODY`, or `BODY + HEADER + …`, of which the first may be `-` for no header of the contract.
    fn respond_with(&self, stream: &mut TcpStream, reply: &str, connection: &str) -> std::io::Result<()> {
        let (reply, more) = reply.split_once(" + ").unwrap_or((reply, ""));
        let (mut headers, mut more) = (HEADERS.to_owned(), more.split(" + ").peekable());
        if more.next_if_eq(&"-").is_some() {
            headers.clear();
        }
        headers.extend(more.filter(|header| !header.is_empty()).map(|header| format!("{header}\r\n")));
        let (status, body) = self.body(reply);
        let head =
            format!("HTTP/1.1 {status} X\r\n{connection}Content-Length: {}\r\n{headers}\r\n", body.len());
        stream.write_all(&unescaped(&head))?;
        stream.write_all(&body)
    }

    fn body(&self, reply: &str) -> (u16, Vec<u8>) {
        let words: Vec<&str> = reply.split(' ').collect();
        let body = match words.as_slice() {
            ["groups", ids @ ..] => {
                let at = "2026-01-01T00:00:00Z";
                let group =
                    |id: &&str| json!({"groupId": number(id), "name": "g", "createdAt": at, "updatedAt": at});
                envelope(&json!({"items": ids.iter().map(group).collect::<Vec<_>>()}))
            }
            ["gateways", count] => return (200, self.extraction(0, count)),
            [status, "gateways", count] => {
                return (status.parse().expect("a status"), self.extraction(7, count));
            }
            ["search", count] => search(self.asked, number(count), number(count)),
            ["search", count, "total=items"] => search(self.asked, number(count), 0),
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
    fn extraction(&self, code: u32, count: &str) -> Vec<u8> {
        let asked = self.asked;
        let num = || asked.param("num").and_then(|num| num.parse().ok()).unwrap_or(100);
        let (of_request, most) = count.split_once("<=").unwrap_or((count, "1000000"));
        let count = if of_request == "num" { num().clamp(1, number(most)) } else { number(count) };
        self.state.lock().expect("whole").gateways += usize::try_from(count).expect("a number");
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
    fn takes(&mut self, asked: &Asked<'_>) -> bool {
        let most = self.conditions.iter().find_map(|word| word.strip_prefix('x')?.parse::<usize>().ok());
        let is_taken = self.conditions.iter().all(|condition| asked.has(condition))
            && self.taken < most.unwrap_or(usize::MAX);
        self.taken += usize::from(is_taken);
        is_taken
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

pub(crate) fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound")
}

fn hang(stream: &mut TcpStream) -> std::io::Result<()> {
    // Until the client hangs up; nothing more comes before that.
    stream.read(&mut [0; 1]).map(drop)
}

/// A chunked response whose body repeats this without end.
fn endless(stream: &mut TcpStream, body: &str) -> std::io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    )?;
    loop {
        stream.write_all(body.as_bytes())?;
    }
}

fn drip(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")?;
    loop {
        stream.write_all(b"x")?;
        stream.flush()?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn read_request(stream: &mut TcpStream) -> std::io::Result<(String, String)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = stream.read(&mut chunk)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&chunk[..read]);
        // A handshake of TLS, which has no head.
        if bytes[0] == 0x16 {
            return Ok(Default::default());
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if bytes.len() >= head.len() + 4 + length.unwrap_or(0) {
            return Ok((head.to_owned(), body.to_owned()));
        }
    }
}
