#![doc = include_str!("README.md")]
#![allow(clippy::unwrap_used, reason = "a session that cannot be played fails its test")]

mod calls;

use std::{
    env, fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use regex::Regex;
use sallyport_client::{
    Client, Error,
    contract::{ExtractProxies, SearchStaticInstances},
    reqwest,
};

pub(crate) use calls::{Custom, call};

use crate::{
    faulty::{CANARY, FaultyServer, RETRIES, unescaped},
    secrets::assert_clean,
};
use calls::{Source, options, time, unescaped_text};

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
        let mut outcome = String::new();
        match verb {
            "serve" => {
                self.servers.push((FaultyServer::start(rest).await, 0));
                self.client = None;
            }
            "write" => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                // As a rotation should: by renaming another file over it.
                let (path, next) = (self.folder().join(name), self.folder().join("next"));
                fs::write(&next, unescaped(text)).unwrap();
                fs::rename(next, path).unwrap();
            }
            "remove" => fs::remove_file(self.folder().join(rest)).unwrap(),
            "wait" => tokio::time::sleep(time(rest)).await,
            "client" => match self.build(rest) {
                Ok(client) => {
                    assert_clean("Debug", &format!("{client:?}"));
                    self.client = Some(client);
                }
                Err(error) => outcome = failed(&error),
            },
            "$" => outcome = self.run(rest, "").await,
            "signal" => {
                let (signal, rest) = rest.split_once(' ').unwrap();
                outcome = self.run(rest, signal).await;
            }
            _ => {
                if self.client.is_none() {
                    self.client = self.build("").ok();
                }
                let called = call(self.client.as_ref().unwrap(), line).await;
                outcome = called.unwrap_or_else(|error| failed(&error));
            }
        }
        let seen = self.requests() + &outcome;
        self.with_numbered_ids(&seen)
    }

    /// The line without names in braces: files, servers, texts, and limits of the document.
    fn filled(&mut self, line: &str) -> String {
        let mut filled = line.to_owned();
        let mut fill = |name: &str, value: &str| filled = filled.replace(&format!("{{{name}}}"), value);
        let json = serde_json::to_string(STEERING).unwrap();
        fill("folder", &self.folder().display().to_string());
        fill("token", CANARY);
        fill("token-url", "canary%2FT0ken%2B9");
        fill("steering", STEERING);
        fill("steering-json", &json.trim_matches('"').replace("\\n", "\\u000a").replace("\\r", "\\u000d"));
        for (number, (server, _)) in (1..).zip(&self.servers) {
            fill(&format!("server{number}"), &server.base_url());
        }
        if let Some((server, _)) = self.servers.last() {
            fill("server", &server.base_url());
            fill("host", &server.base_url().replace("http://", ""));
        }
        for (name, size) in [
            ("id-bytes", ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES),
            ("separator-bytes", ExtractProxies::SB_MAX_UTF8_BYTES),
            ("raw-max", SearchStaticInstances::IPS_MAX_ITEMS),
            ("distinct-max", SearchStaticInstances::IPS_MAX_DISTINCT),
            ("distinct-max*5/2", SearchStaticInstances::IPS_MAX_DISTINCT * 5 / 2),
            ("num-max", usize::try_from(ExtractProxies::NUM_MAXIMUM).unwrap()),
            ("page-max", usize::try_from(SearchStaticInstances::PAGE_MAXIMUM).unwrap()),
            ("size-max", usize::try_from(SearchStaticInstances::PAGE_SIZE_MAXIMUM).unwrap()),
        ] {
            fill(name, &size.to_string());
            fill(&format!("{name}+1"), &(size + 1).to_string());
        }
        filled
    }

    fn folder(&mut self) -> &Path {
        self.folder.get_or_insert_with(|| tempfile::tempdir().unwrap()).path()
    }

    /// The requests that were not shown yet; of equal ones in a row, the first with their number.
    fn requests(&mut self) -> String {
        let mut lines = Vec::new();
        for (server, shown) in &mut self.servers {
            let requests = server.requests();
            lines.extend(requests[*shown..].iter().map(|request| request_line(request)));
            *shown = requests.len();
        }
        let shown = |equal: &[String]| match equal.len() {
            1 => format!("> {}\n", equal[0]),
            count => format!("> {count} × {}\n", equal[0]),
        };
        lines.chunk_by(PartialEq::eq).map(shown).collect()
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
    fn build(&mut self, words: &str) -> Result<Client, Error> {
        let mut builder = match self.servers.last() {
            Some((server, _)) => server.builder(),
            None => Client::builder().token(CANARY),
        };
        // Less than the total of 5 s.
        builder = builder.request_timeout(Duration::from_secs(4));
        // Without certificates, which take long to load.
        builder = builder.http(reqwest::Client::builder().tls_certs_only([]));
        let mut policy = RETRIES;
        for (name, value) in options(words.split(' ')) {
            builder = match name {
                "base" => builder.base_url(value),
                "token" => builder.token(value),
                "token-file" => builder.token_file(self.folder().join(value)),
                "tokens" => builder.token_source(Source::new(&value)),
                "http" => builder.allow_http(value == "true"),
                "max-body" => builder.max_body_bytes(value.parse().unwrap()),
                "middleware" => builder.middleware(Custom::new(&value)),
                "connect" => builder.connect_timeout(time(&value)),
                "timeout" => builder.request_timeout(time(&value)),
                "total" => builder.total_timeout(time(&value)),
                "retries" => {
                    policy.max_retries = value.parse().unwrap();
                    builder
                }
                "backoff" => {
                    (policy.initial_backoff, policy.max_backoff) = (time(&value), time(&value));
                    builder
                }
                _ => panic!("unknown option `{name}`"),
            };
        }
        builder = builder.retry(policy);
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
            let (server, started) = (&self.servers.last().unwrap().0, Instant::now());
            while server.requests().is_empty() {
                assert!(started.elapsed() < Duration::from_secs(10), "{line} sends no request");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
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

/// A request in a line: what is asked for, the headers that matter, and the body.
fn request_line(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let (asked, headers) = head.split_once(" HTTP/1.1\r\n").unwrap();
    let name = |line: &str| line.split(':').next().unwrap().to_ascii_lowercase();
    let headers = headers.lines().filter(|line| SHOWN_HEADERS.contains(&name(line).as_str()));
    let headers: String = headers.map(|line| format!(" | {line}")).collect();
    let seen = format!("{asked}{headers} {body}");
    // Only the credentials of a proxy are as secret as the token.
    seen.trim_end().replace("canary%2FT0ken%2B9", "TOKEN%").replace(CANARY, "TOKEN")
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
