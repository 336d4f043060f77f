#![doc = include_str!("README.md")]
#![allow(clippy::unwrap_used, reason = "a session that cannot be played fails its test")]

use std::{
    collections::BTreeMap,
    env, fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{StreamExt, TryStreamExt, stream};
use regex::Regex;
use sallyport_client::{
    Client, ClientBuilder, Error, GroupFilter, Instance, Middleware, MiddlewareFuture, Next, RetryPolicy,
    Separator, TokenFuture, TokenSource, TransportError,
    bytes::Bytes,
    contract::{ExtractProxies, SearchStaticInstances},
    http, reqwest,
    secrecy::SecretString,
};
use serde::Serialize;

use crate::{
    faulty::{CANARY, FaultyServer, unescaped},
    secrets::assert_clean,
};

macro_rules! sessions {
    ($($(#[$attribute:meta])* $name:ident)+) => {$(
        $(#[$attribute])*
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            play(stringify!($name)).await;
        }
    )+};
}

sessions! {
    arguments calls middleware pages responses retries settings texts tokens
    #[cfg(feature = "cli")] network
    #[cfg(feature = "cli")] program
    #[cfg(feature = "cli")] terminal
    #[cfg(all(feature = "cli", target_os = "linux"))] unix
    #[cfg(feature = "cli")] usage
}

/// What a hostile service may put into any text: ESC, BEL, CSI as a C1 control, DEL, line ends, reordering.
const STEERING: &str = "北京\u{1b}[2J\u{7}\u{9b}31m\u{7f}\u{85}\n\r\u{2028}\u{202e}\u{2066}";

/// Headers of requests that sessions show.
const SHOWN_HEADERS: [&str; 7] = [
    "x-api-key",
    "authorization",
    "proxy-authorization",
    "x-request-id",
    "referer",
    "api-version",
    "accept-encoding",
];

/// Maximum length of a line that is shown, in characters; of the rest, its length and a checksum.
const MAX_SHOWN: usize = 700;

/// Plays the sessions of a script, some at a time, and compares what is seen with the script.
async fn play(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let path = folder.join(name).with_extension("txt");
    let script = fs::read_to_string(&path).unwrap();
    let mut sessions = script.split("\n## ");
    let preface = sessions.next().unwrap_or_default().to_owned();
    let played: Vec<String> = stream::iter(sessions.map(play_one)).buffered(4).collect().await;
    let seen = [vec![preface], played].concat().join("\n## ");
    let is_refused = !seen.contains("\n    > ") && !seen.contains("[exit 0]");
    assert!(name != "usage" || is_refused, "invalid usage is sent, or a success: {seen}");
    if env::var("INSTA_UPDATE").is_ok_and(|how| how == "always") {
        return fs::write(&path, seen).unwrap();
    }
    for (number, (seen, expected)) in (1..).zip(seen.lines().zip(script.lines())) {
        assert_eq!(seen, expected, "{name}.txt:{number}");
    }
    assert_eq!(seen.len(), script.len(), "{name}.txt has another end");
}

/// The session with what is seen now.
async fn play_one(session: &str) -> String {
    let mut lines = session.lines().filter(|line| !line.starts_with("    "));
    let mut seen = format!("{}\n", lines.next().unwrap());
    let mut session = Session::default();
    for line in lines {
        seen += &format!("{line}\n");
        if !line.is_empty() && !line.starts_with("# ") {
            for shown in session.play(line).await.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
                seen += &match shown.char_indices().nth(MAX_SHOWN) {
                    Some((end, _)) => {
                        let (shown, rest) = shown.split_at(end);
                        let sum = rest
                            .bytes()
                            .fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
                        format!("    {shown}… ({} more bytes, checksum {sum:08x})\n", rest.len())
                    }
                    None => format!("    {shown}\n"),
                };
            }
        }
    }
    seen
}

#[derive(Default)]
struct Session {
    folder: Option<tempfile::TempDir>,
    /// Each with the number of its requests that were shown.
    servers: Vec<(FaultyServer, usize)>,
    client: Option<Client>,
    /// The random ids that were shown.
    ids: Vec<String>,
}

impl Session {
    /// Plays a line, and returns what is seen of it.
    async fn play(&mut self, line: &str) -> String {
        let line = repeated(&self.filled(line));
        let (line, took) = line.split_once(" took ").unwrap_or((&line, ""));
        let (line, times) =
            line.strip_suffix(" times").and_then(|line| line.rsplit_once(' ')).unwrap_or((line, "1"));
        let started = Instant::now();
        let mut seen = self.play_once(line).await;
        for _ in 1..times.parse().unwrap() {
            let again = self.play_once(line).await;
            assert_eq!(again, seen, "{line}");
        }
        if let Some((from, to)) = took.split_once("..") {
            let took = started.elapsed().as_millis();
            assert!((from.parse().unwrap()..to.parse().unwrap()).contains(&took), "{line}: {took} ms");
        }
        for (number, (server, _)) in (1..).zip(&self.servers) {
            seen = seen.replace(server.base_url().trim_start_matches("http://"), &format!("SERVER{number}"));
        }
        seen
    }

    async fn play_once(&mut self, line: &str) -> String {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let outcome = match verb {
            "serve" => {
                self.servers.push((FaultyServer::start(rest).await, 0));
                self.client = None;
                String::new()
            }
            "write" => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                // As a rotation should: by renaming another file over it.
                let (path, next) = (self.folder().join(name), self.folder().join("next"));
                fs::write(&next, unescaped(text)).unwrap();
                fs::rename(next, path).unwrap();
                String::new()
            }
            "remove" => {
                fs::remove_file(self.folder().join(rest)).unwrap();
                String::new()
            }
            "wait" => {
                tokio::time::sleep(time(rest)).await;
                String::new()
            }
            "client" => match self.build(rest) {
                Ok(client) => {
                    assert_clean("Debug", &format!("{client:?}"));
                    self.client = Some(client);
                    String::new()
                }
                Err(error) => failed(&error),
            },
            "$" => self.run(rest, "").await,
            "signal" => {
                let (signal, rest) = rest.split_once(' ').unwrap();
                self.run(rest, signal).await
            }
            _ => {
                if self.client.is_none() {
                    self.client = self.build("").ok();
                }
                call(self.client.as_ref().unwrap(), line).await.unwrap_or_else(|error| failed(&error))
            }
        };
        let seen = self.requests() + &outcome;
        self.with_numbered_ids(&seen)
    }

    /// The line without names in braces: files, servers, texts, and limits of the document.
    fn filled(&mut self, line: &str) -> String {
        let json = serde_json::to_string(STEERING).unwrap();
        let mut names = BTreeMap::from([
            ("folder".to_owned(), self.folder().display().to_string()),
            ("token".to_owned(), CANARY.to_owned()),
            ("token-url".to_owned(), "canary%2FT0ken%2B9".to_owned()),
            ("steering".to_owned(), STEERING.to_owned()),
            (
                "steering-json".to_owned(),
                json.trim_matches('"').replace("\\n", "\\u000a").replace("\\r", "\\u000d"),
            ),
        ]);
        for (number, (server, _)) in (1..).zip(&self.servers) {
            names.insert(format!("server{number}"), server.base_url());
            names.insert("server".to_owned(), server.base_url());
            names.insert("host".to_owned(), server.base_url().replace("http://", ""));
        }
        let sizes = [
            ("id-bytes", ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES),
            ("separator-bytes", ExtractProxies::SB_MAX_UTF8_BYTES),
            ("raw-max", SearchStaticInstances::IPS_MAX_ITEMS),
            ("distinct-max", SearchStaticInstances::IPS_MAX_DISTINCT),
            ("distinct-max*5/2", SearchStaticInstances::IPS_MAX_DISTINCT * 5 / 2),
            ("num-max", usize::try_from(ExtractProxies::NUM_MAXIMUM).unwrap()),
            ("page-max", usize::try_from(SearchStaticInstances::PAGE_MAXIMUM).unwrap()),
            ("size-max", usize::try_from(SearchStaticInstances::PAGE_SIZE_MAXIMUM).unwrap()),
        ];
        for (name, size) in sizes {
            names.insert(name.to_owned(), size.to_string());
            names.insert(format!("{name}+1"), (size + 1).to_string());
        }
        names.iter().fold(line.to_owned(), |line, (name, value)| line.replace(&format!("{{{name}}}"), value))
    }

    fn folder(&mut self) -> &Path {
        self.folder.get_or_insert_with(|| tempfile::tempdir().unwrap()).path()
    }

    /// The requests that were not shown yet; of equal ones in a row, the first with their number.
    fn requests(&mut self) -> String {
        let mut lines: Vec<(String, usize)> = Vec::new();
        for (server, shown) in &mut self.servers {
            let requests = server.requests();
            for request in requests.iter().skip(*shown).map(|request| request_line(request)) {
                match lines.last_mut().filter(|(last, _)| *last == request) {
                    Some((_, count)) => *count += 1,
                    None => lines.push((request, 1)),
                }
            }
            *shown = requests.len();
        }
        let shown = |(line, count): &(String, usize)| match count {
            1 => format!("> {line}\n"),
            _ => format!("> {count} × {line}\n"),
        };
        lines.iter().map(shown).collect()
    }

    /// A random id has the number in which it was seen first, so that the same one looks the same.
    fn with_numbered_ids(&mut self, seen: &str) -> String {
        let found = Regex::new("[0-9a-f]{32}").unwrap();
        for id in found.find_iter(seen) {
            if !self.ids.iter().any(|known| known == id.as_str()) {
                self.ids.push(id.as_str().to_owned());
            }
        }
        let named = (1..)
            .zip(&self.ids)
            .fold(seen.to_owned(), |seen, (number, id)| seen.replace(id, &format!("ID{number}")));
        let named = named.replace(&self.folder().display().to_string(), "FOLDER");
        let named = Regex::new(r"in \d\.\d s").unwrap().replace_all(&named, "in N s").into_owned();
        Regex::new(r"os error \d+").unwrap().replace_all(&named, "os error N").into_owned()
    }

    /// Builds the client of `NAME=VALUE …`.
    fn build(&mut self, options: &str) -> Result<Client, Error> {
        let folder = self.folder().to_owned();
        let mut options = Options::new(options.split(' '));
        let mut builder = match self.servers.last() {
            Some((server, _)) => server.builder(),
            None => Client::builder().token(CANARY),
        };
        // Less than the total of 5 s.
        builder = builder.request_timeout(Duration::from_secs(4));
        // Without certificates, which take long to load.
        builder = builder.http(reqwest::Client::builder().tls_certs_only([]));
        builder = options.set("base", builder, ClientBuilder::base_url);
        builder = options.set("token", builder, ClientBuilder::token);
        builder = options.set("token-file", builder, |builder, name| builder.token_file(folder.join(name)));
        builder =
            options.set("tokens", builder, |builder, tokens| builder.token_source(Source::new(&tokens)));
        builder = options.set("http", builder, |builder, allow| builder.allow_http(allow == "true"));
        builder =
            options.set("max-body", builder, |builder, bytes| builder.max_body_bytes(bytes.parse().unwrap()));
        builder = options.set("middleware", builder, |builder, what| builder.middleware(Custom::new(&what)));
        builder = options.set("connect", builder, |builder, limit| builder.connect_timeout(time(&limit)));
        builder = options.set("timeout", builder, |builder, limit| builder.request_timeout(time(&limit)));
        builder = options.set("total", builder, |builder, limit| builder.total_timeout(time(&limit)));
        let default = RetryPolicy {
            max_retries: 2,
            initial_backoff: Duration::from_millis(5),
            max_backoff: Duration::from_secs(2),
            max_retry_after: None,
        };
        builder = builder.retry(options.retry(default.clone()).unwrap_or(default));
        options.end();
        assert_clean("Debug", &format!("{builder:?}"));
        builder.build()
    }

    /// Runs the program, and returns what it writes, in whatever order, and its exit code.
    async fn run(&mut self, line: &str, signal: &str) -> String {
        let (line, file) = line.split_once(" > ").unwrap_or((line, ""));
        let (line, input) = line.split_once(" < ").unwrap_or((line, ""));
        let words: Vec<&str> = line.split(' ').map(|word| if word == "''" { "" } else { word }).collect();
        let is_variable = |word: &&&str| {
            let name = word.split_once('=').map_or("-", |(name, _)| name);
            name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        };
        let (variables, arguments) = words.split_at(words.iter().take_while(is_variable).count());
        let Some(program) = option_env!("CARGO_BIN_EXE_sallyport") else { panic!("the feature cli is off") };
        let mut command = Command::new(program);
        for name in ["ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"] {
            command.env_remove(name);
        }
        let base = self.servers.last().unwrap().0.base_url();
        command.env("SALLYPORT_BASE_URL", base).env("SALLYPORT_API_KEY", CANARY);
        command.envs(variables.iter().filter_map(|word| word.split_once('=')));
        command.args(arguments.iter().map(|word| unescaped_text(word)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !file.is_empty() {
            command.stdout(fs::OpenOptions::new().write(true).open(file).unwrap());
        }
        let mut child = command.spawn().unwrap();
        if !signal.is_empty() {
            let server = &self.servers.last().unwrap().0;
            for _ in 0..1000 {
                if !server.requests().is_empty() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert!(!server.requests().is_empty(), "{line} sends no request");
            let id = child.id().to_string();
            assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        }
        let input = unescaped(input);
        let running = move || {
            // A program that refuses its arguments ends before it reads anything.
            let _ = child.stdin.take().unwrap().write_all(&input);
            child.wait_with_output().unwrap()
        };
        let output = tokio::task::spawn_blocking(running).await.unwrap();
        let [mut seen, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        seen.extend(errors.lines().map(|line| format!("! {line}\n")));
        assert_clean(line, &seen);
        assert!(!seen.contains(steers), "{line}: {seen:?}");
        format!("{seen}[exit {}]", output.status.code().unwrap())
    }
}

/// A request in a line: what is asked for, the body, and the headers that matter.
fn request_line(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let mut seen = lines.next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
    for part in lines
        .filter(|line| SHOWN_HEADERS.contains(&line.split(':').next().unwrap().to_ascii_lowercase().as_str()))
    {
        seen += &format!(" | {part}");
    }
    if !body.is_empty() {
        seen += &format!(" {body}");
    }
    // Only the credentials of a proxy are as secret as the token.
    seen.replace("canary%2FT0ken%2B9", "TOKEN%").replace(CANARY, "TOKEN")
}

/// Whether a terminal would act on it.
fn steers(letter: char) -> bool {
    !(letter.is_ascii_graphic() || " \n北京éß…“”→".contains(letter))
}

/// What an error says. None of its forms holds the token.
fn failed(error: &Error) -> String {
    let mut forms = format!("{error} {error:?} {error:#?}");
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        forms += &format!(" {inner} {inner:?}");
        source = inner.source();
    }
    assert_clean("an error", &forms);
    assert!(!error.to_string().contains(|letter| letter == '\n' || steers(letter)), "{forms}");
    format!("{}: {error}", error.kind())
}

/// Settings of a call that all calls have.
macro_rules! with_options {
    ($call:expr, $options:ident) => {{
        let mut call = $call;
        call = $options.set("timeout", call, |call, limit| call.request_timeout(time(&limit)));
        call = $options.set("total", call, |call, limit| call.total_timeout(time(&limit)));
        match $options.retry(RetryPolicy { initial_backoff: Duration::ZERO, ..RetryPolicy::default() }) {
            Some(policy) => call.retry(policy),
            None => call,
        }
    }};
}

macro_rules! extraction {
    ($call:expr, $options:ident) => {{
        let call = with_options!($call, $options);
        let call = $options.set("id", call, |call, id| call.request_id(id));
        let call = $options.set("region", call, |call, region| call.region(region));
        let call = $options.set("protocol", call, |call, protocol| call.protocol(protocol.parse().unwrap()));
        $options.end();
        json(&call.await?)
    }};
}

/// Sends the call of a line, and returns its result.
pub(crate) async fn call(client: &Client, line: &str) -> Result<String, Error> {
    let (options, words): (Vec<&str>, Vec<&str>) = line.split(' ').partition(|word| word.contains('='));
    let mut options = Options::new(options);
    Ok(match words.as_slice() {
        ["groups"] => {
            let call = with_options!(client.groups(), options);
            options.end();
            json(&call.await?)
        }
        ["extract", count] => extraction!(client.extract(count.parse::<i64>().unwrap()), options),
        ["text", count, separator] => {
            extraction!(
                client.extract_text(count.parse::<i64>().unwrap(), self::separator(separator)),
                options
            )
        }
        ["generated", "groups"] => json(&client.generated().list_static_groups().send().await?.value),
        ["generated", "extract"] => json(&client.generated().extract_proxies().num(1).send().await?.value),
        ["search", addresses, how @ ..] => {
            let mut search = with_options!(client.search(self::addresses(addresses)), options);
            search =
                options.set("size", search, |search, size| search.page_size(size.parse::<i64>().unwrap()));
            search = options.set("batches", search, |search, _| search.in_batches());
            search =
                options.set("group", search, |search, id| search.group(GroupFilter::Id(id.parse().unwrap())));
            search = options.set("status", search, |search, status| search.status(status.as_str().into()));
            search = options.set("from", search, |search, time| search.activated_from(time.parse().unwrap()));
            search = options.set("to", search, |search, time| search.activated_to(time.parse().unwrap()));
            let page = options.take("page");
            options.end();
            match (how, page) {
                ([], Some(page)) => json(&search.page(page.parse::<i64>().unwrap()).await?),
                ([], None) => ids(&search.await?),
                (["stream"], None) => ids(&search.stream().try_collect::<Vec<_>>().await?),
                (["pages"], None) => each_page(search.pages()).await,
                _ => panic!("unknown way to search: {line}"),
            }
        }
        _ => panic!("unknown call: {line}"),
    })
}

/// The pages of a walk up to its end or its second error.
async fn each_page(mut pages: sallyport_client::Pages) -> String {
    let (mut lines, mut has_failed) = (Vec::new(), false);
    loop {
        match pages.next().await {
            Ok(Some(page)) => {
                lines.push(format!("page {} of {} instances: {}", page.page, page.total, ids(&page.items)))
            }
            Ok(None) => break,
            Err(error) => {
                lines.push(failed(&error));
                if std::mem::replace(&mut has_failed, true) {
                    break;
                }
            }
        }
    }
    lines.join("\n")
}

fn ids(instances: &[Instance]) -> String {
    let ids: Vec<_> = instances.iter().map(|instance| instance.instance_id).collect();
    format!("{ids:?}")
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// Addresses of `A,B`, or as many as `#9/7` says.
fn addresses(text: &str) -> Vec<String> {
    match text.strip_prefix('#') {
        None => text.split(',').map(|address| address.trim_matches('\'').to_owned()).collect(),
        Some(counts) => {
            let (raw, distinct) = counts.split_once('/').unwrap_or((counts, counts));
            let distinct: usize = distinct.parse().unwrap();
            let address = |number| format!("10.0.{}.{}", number / 256, number % 256);
            (0..distinct).map(address).cycle().take(raw.parse().unwrap()).collect()
        }
    }
}

fn separator(text: &str) -> Separator {
    match text {
        "crlf" => Separator::CrLf,
        "br" => Separator::Br,
        "cr" => Separator::Cr,
        "lf" => Separator::Lf,
        "tab" => Separator::Tab,
        custom => Separator::Custom(custom.trim_matches('\'').to_owned()),
    }
}

/// `«TEXT*3»` stands for the text three times.
fn repeated(text: &str) -> String {
    let mut parts = text.split(['«', '»']);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    while let (Some(part), after) = (parts.next(), parts.next().unwrap_or_default()) {
        let (text, times) = part.rsplit_once('*').unwrap();
        whole.push_str(&text.repeat(times.parse().unwrap()));
        whole.push_str(after);
    }
    whole
}

/// A time in milliseconds, or the longest one.
fn time(text: &str) -> Duration {
    if text == "max" { Duration::MAX } else { Duration::from_millis(text.parse().unwrap()) }
}

fn unescaped_text(text: &str) -> String {
    String::from_utf8(unescaped(text)).unwrap()
}

/// `NAME=VALUE` of a line, each of which must be known.
struct Options(BTreeMap<String, String>);

impl Options {
    fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let pairs = words.into_iter().filter_map(|word| word.split_once('='));
        Self(pairs.map(|(name, value)| (name.to_owned(), unescaped_text(value))).collect())
    }

    fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    fn set<T>(&mut self, name: &str, target: T, set: impl FnOnce(T, String) -> T) -> T {
        match self.take(name) {
            Some(value) => set(target, value),
            None => target,
        }
    }

    /// Another policy than `default`, where there is one.
    fn retry(&mut self, default: RetryPolicy) -> Option<RetryPolicy> {
        let (retries, backoff) = (self.take("retries"), self.take("backoff"));
        (retries.is_some() || backoff.is_some()).then(|| RetryPolicy {
            max_retries: retries.map_or(default.max_retries, |retries| retries.parse().unwrap()),
            initial_backoff: backoff.as_deref().map_or(default.initial_backoff, time),
            max_backoff: backoff.as_deref().map_or(default.max_backoff, time),
            max_retry_after: default.max_retry_after,
        })
    }

    fn end(&self) {
        assert!(self.0.is_empty(), "unknown options: {:?}", self.0);
    }
}

/// A middleware that hands requests on (`pass`), to another URL (`to:URL`) or with another header (`header:NAME:VALUE`), fails as many
/// times as `fail:COUNT` or `fail:COUNT:TEXT` says, or for good (`refuse`).
pub(crate) struct Custom {
    what: String,
    requests: AtomicUsize,
}

impl Custom {
    pub(crate) fn new(what: &str) -> Self {
        Self { what: what.to_owned(), requests: AtomicUsize::new(0) }
    }
}

impl Middleware for Custom {
    fn handle<'a>(&'a self, mut request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let error = match self.what.split(':').collect::<Vec<_>>().as_slice() {
            ["fail", count, text @ ..] if number < count.parse().unwrap() => {
                Error::Transport(Box::new(TransportError::new(text.join(":"))))
            }
            ["refuse"] => Error::Configuration("closed today".to_owned()),
            ["to", ..] => {
                *request.uri_mut() = self.what[3..].parse().unwrap();
                return next.run(request);
            }
            ["header", name, value] => {
                let name = http::HeaderName::try_from(*name).unwrap();
                request.headers_mut().insert(name, value.parse().unwrap());
                return next.run(request);
            }
            _ => return next.run(request),
        };
        Box::pin(async { Err(error) })
    }
}

/// Gives one token after another, the next one after each that was rejected. `once:TOKEN` is given once, `!reason` is a failure, after which
/// comes the next one, and `hang` never comes.
struct Source(Mutex<Vec<String>>);

impl Source {
    fn new(tokens: &str) -> Self {
        Self(Mutex::new(tokens.rsplit(',').map(str::to_owned).collect()))
    }
}

impl TokenSource for Source {
    fn token(&self) -> TokenFuture<'_> {
        let mut tokens = self.0.lock().unwrap();
        let token = tokens.last().unwrap().clone();
        match token.strip_prefix('!') {
            Some(reason) => {
                if tokens.len() > 1 {
                    tokens.pop();
                }
                let reason = reason.to_owned();
                Box::pin(async { Err(reason.into()) })
            }
            None if token == "hang" => Box::pin(std::future::pending()),
            None => {
                let once = token.strip_prefix("once:").map(str::to_owned);
                if once.is_some() {
                    tokens.pop();
                }
                Box::pin(async { Ok(SecretString::from(once.unwrap_or(token))) })
            }
        }
    }

    fn invalidate(&self) {
        self.0.lock().unwrap().pop();
    }
}
