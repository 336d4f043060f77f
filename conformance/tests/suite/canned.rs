//! A server that responds as a test tells it to, on a real socket.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use sallyport_conformance::run::Glob;
use sallyport_conformance::wire::WireOptions;
use sallyport_conformance::{
    Budget, Contract, Facts, Options, Report, Secret, Selection, SilentObserver, Suite, Target,
};

use super::server::{self, Request, TestServer};

/// The token that tests send.
pub(crate) const TOKEN: &str = "tok/en+with \"odd\" characters=";

/// How the server responds to a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A status line, headers and a body.
    Response { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// A response after which the connection stays open, only to close when the next request has come.
    Kept(Box<Reply>),
    /// Bytes as they are, then the connection closes.
    Bytes(Vec<u8>),
    /// The head of a chunked response, and a size of its first chunk that has no end.
    EndlessChunkSize,
    /// Nothing, and the connection stays open.
    Hang,
    /// The connection closes at once.
    Close,
    /// The same, and for so long no other is accepted.
    Restart(Duration),
}

/// What a request asks for.
pub(crate) struct CannedRequest {
    /// How many requests came before.
    pub(crate) number: usize,
    /// Method and target, as in the request line.
    pub(crate) line: String,
    /// Request line and headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A running server.
pub(crate) struct CannedServer(TestServer);

impl Reply {
    /// A JSON response with the headers of the static operations.
    pub(crate) fn json(status: u16, body: &str) -> Self {
        let headers = vec![
            ("Content-Type", "application/json".to_owned()),
            ("Cache-Control", "no-store".to_owned()),
            ("X-Request-Id", "r-1".to_owned()),
        ];
        Self::Response { status, headers, body: body.to_owned() }
    }

    /// A rejection with this code.
    pub(crate) fn rejected(status: u16, code: u32, message: &str) -> Self {
        Self::json(status, &format!(r#"{{"code": {code}, "message": "{message}"}}"#))
    }

    /// An empty listing of groups.
    pub(crate) fn groups() -> Self {
        Self::json(200, r#"{"code": 200, "message": "ok", "requestId": "r-1", "data": {"items": []}}"#)
    }

    /// An extraction of so many gateways.
    pub(crate) fn gateways(count: usize) -> Self {
        let data = vec![r#"{"ip": "gw.invalid", "port": 1}"#; count].join(",");
        let envelope = r#""code": 0, "success": true, "msg": "", "request_ip": "127.0.0.1""#;
        Self::json(200, &format!(r#"{{{envelope}, "data": [{data}]}}"#))
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Response { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }
}

impl CannedRequest {
    pub(crate) fn is_extraction(&self) -> bool {
        self.line.contains("/proxy/extract")
    }

    /// The value of a query parameter as it was sent, the first one of its name.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        let pairs = self.line.split(['?', '&', ' ']).filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Whether the request carries one token, the right one, in the query.
    pub(crate) fn has_token(&self) -> bool {
        let target = self.line.split(' ').nth(1).unwrap_or_default();
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        let tokens: Vec<_> = pairs.filter(|(name, _)| name == "api_key").map(|(_, value)| value).collect();
        tokens == [TOKEN]
    }
}

impl CannedServer {
    pub(crate) async fn start(reply: impl Fn(&CannedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self(TestServer::start_reading(move |stream, request| {
            let line = request.head.lines().next().unwrap_or_default().to_owned();
            let (head, body) = (request.head.to_owned(), request.body.to_owned());
            write_reply(stream, request, reply(&CannedRequest { number: request.number, line, head, body }))
        }))
    }

    /// One that responds to extractions so, and to everything else with an empty listing.
    pub(crate) async fn extracting(reply: impl Fn(&CannedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(move |asked| if asked.is_extraction() { reply(asked) } else { Reply::groups() }).await
    }

    pub(crate) fn url(&self) -> String {
        self.0.url()
    }

    pub(crate) fn requests(&self) -> usize {
        self.0.requests()
    }

    /// Runs the checks that fit `only` against this server, with timeouts and waits that suit a test.
    pub(crate) async fn run(&self, only: &str, change: impl FnOnce(&mut Options)) -> Report {
        run_with(&self.url(), only, Facts::default(), change).await
    }

    /// The same with facts.
    pub(crate) async fn run_with(&self, only: &str, facts: Facts) -> Report {
        run_with(&self.url(), only, facts, |_| {}).await
    }
}

async fn run_with(url: &str, only: &str, facts: Facts, change: impl FnOnce(&mut Options)) -> Report {
    let token = Secret::new("API_KEY", TOKEN);
    let target = Target::new(url, token, facts, false).expect("a loopback URL");
    let mut options = Options {
        budget: Budget { concurrency: 1, ..Budget::default() },
        wire: WireOptions { timeout: Duration::from_secs(5), ..WireOptions::default() },
        ..self::only(only)
    };
    change(&mut options);
    judge(&target, options).await
}

/// Options that choose the checks that fit a pattern.
pub(crate) fn only(glob: &str) -> Options {
    let selection = Selection { only: vec![Glob::new(glob)], skip: Vec::new() };
    Options { selection, ..Options::default() }
}

/// Runs the suite against a target.
pub(crate) async fn judge(target: &Target, options: Options) -> Report {
    let contract = Contract::embedded().expect("contract");
    Suite::new(contract, target, options).expect("a suite").run(&SilentObserver).await
}

fn write_reply(stream: &mut TcpStream, request: &Request<'_>, reply: Reply) -> std::io::Result<()> {
    let response = |status: u16, headers: &[(&'static str, String)], body: &str| {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
    };
    match reply {
        Reply::Response { status, mut headers, body } => {
            headers.push(("Connection", "close".to_owned()));
            stream.write_all(response(status, &headers, &body).as_bytes())
        }
        Reply::Kept(reply) => {
            let Reply::Response { status, headers, body } = *reply else { return Ok(()) };
            stream.write_all(response(status, &headers, &body).as_bytes())?;
            server::read_request(stream).map(drop)
        }
        Reply::Bytes(bytes) => stream.write_all(&bytes),
        Reply::EndlessChunkSize => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            // Until the caller gives up.
            loop {
                stream.write_all(&[b'0'; 64 << 10])?;
            }
        }
        Reply::Hang => server::hang(stream),
        Reply::Close => Ok(()),
        Reply::Restart(time) => {
            request.stop_listening(time);
            Ok(())
        }
    }
}
