//! Sessions with the lab as scripts; the beginning of `scripts.txt` describes their lines.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Running;
use super::program_run::{Folder, RunningProgram, TOKEN, code, program, run, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn scripts() {
    let sessions = include_str!("scripts.txt").split("\n## ").skip(1);
    let running: Vec<_> =
        sessions.map(|session| (session.lines().next(), tokio::spawn(play(session)))).collect();
    let mut failed = Vec::new();
    for (title, session) in running {
        failed.extend(session.await.is_err().then_some(title));
    }
    assert!(failed.is_empty(), "{failed:?}");
}

async fn play(session: &'static str) {
    let (title, lines) = session.split_once('\n').expect("a title and lines");
    let mut session = Session::new(Running::start("").await);
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let place = format!("{title}: {line}");
        let (sent, expected) = line.split_once(" => ").unwrap_or((line, ""));
        let (sent, body) = sent.split_once(" <- ").unwrap_or((sent, ""));
        let words: Vec<String> = sent.split(' ').map(|word| session.filled(word)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let began = Instant::now();
        let said = match words.as_slice() {
            ["lab", ..] => {
                let scenarios = sent.strip_prefix("lab ").unwrap_or_default();
                session = Session::new(Running::start(&scenarios.replace(" / ", "\n")).await);
                continue;
            }
            ["log"] => session.lab.log().await,
            ["control", method, path, headers @ ..] => {
                let url = format!("{}{path}", session.lab.control.base_url());
                let request = session.lab.http.request(method.parse().expect("a method"), url);
                let said = answer(request.body(body.replace(" / ", "\n")), headers).await;
                session.lab.assert_private(&said);
                said
            }
            ["get", url, words @ ..] => answer(session.lab.http.get(*url), words).await,
            ["slow", milliseconds, rest @ ..] => {
                let said = tokio::task::block_in_place(|| raw(&session.lab, rest));
                let least = Duration::from_millis(milliseconds.parse().expect("milliseconds"));
                assert!(began.elapsed() >= least, "{place}: {:?}", began.elapsed());
                said
            }
            ["groups" | "extract" | "keep" | "leave", ..] => {
                tokio::task::block_in_place(|| raw(&session.lab, &words))
            }
            words => tokio::task::block_in_place(|| session.run(words, sent, body)),
        };
        assert_said(&place, &said, &session.filled(&unescaped(expected)));
    }
}

/// A lab, and a program in front of it or of a server of its own.
struct Session {
    lab: Running,
    folder: Folder,
    program: Option<RunningProgram>,
    /// What stands in braces.
    names: BTreeMap<&'static str, String>,
}

impl Session {
    fn new(lab: Running) -> Self {
        let (folder, token) = (Folder::new(), lab.token().to_owned());
        let second = lab.reference.target().facts.second_token.as_ref().expect("a second account");
        let names = [
            ("{lab}", lab.proxy.base_url()),
            ("{name}", token.chars().filter(char::is_ascii_alphanumeric).take(20).collect()),
            ("{second}", second.expose().to_owned()),
            ("{folder}", folder.file("")),
            ("{key}", TOKEN.to_owned()),
            ("{token}", token),
        ];
        Self { names: names.into(), lab, folder, program: None }
    }

    fn filled(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// A line about a program; what it printed.
    fn run(&mut self, words: &[&str], sent: &str, body: &str) -> String {
        match words {
            ["file", name] => {
                self.folder.write(name, self.filled(&unescaped(body)));
                String::new()
            }
            ["fails", arguments @ ..] => {
                let output = run(arguments);
                format!("{} {}", code(&output), text(&output))
            }
            ["serve", arguments @ ..] => {
                let (has_no_key, arguments) = match arguments {
                    ["keyless", rest @ ..] => (true, rest),
                    arguments => (false, arguments),
                };
                let mut command = program(&[&["proxy"], arguments].concat());
                if has_no_key {
                    command.env_remove("SALLYPORT_API_KEY");
                }
                let mut program = RunningProgram::start(&mut command);
                let is_json = arguments.contains(&"json");
                let printed = program.read_until(if is_json { "baseUrl" } else { "try curl" });
                let started: Value = serde_json::from_str(&printed).unwrap_or_default();
                let word = |name: &str, word: &str| {
                    let after = || printed.split_once(word)?.1.split_whitespace().next();
                    started[name].as_str().or_else(after).unwrap_or_default().to_owned()
                };
                self.names.extend([
                    ("{served}", word("baseUrl", " lab ")),
                    ("{served-control}", word("control", " control ")),
                    ("{served-token}", word("token", "SALLYPORT_API_KEY=")),
                ]);
                self.program = Some(program);
                format!("? {printed}")
            }
            ["reads", ..] => {
                let wanted = self.filled(sent.strip_prefix("reads ").unwrap_or_default());
                let program = self.program.as_mut().expect("a program");
                let printed = program.read_until(&wanted);
                self.names.insert("{printed}", printed.lines().last().unwrap_or_default().to_owned());
                format!("? {printed}")
            }
            ["stop"] => {
                let mut program = self.program.take().expect("a program");
                program.send("-INT");
                let (code, printed) = program.finish();
                format!("{} {printed}", code.expect("it ends by itself"))
            }
            other => panic!("unknown line `{other:?}`"),
        }
    }
}

/// The status and the text of the response to a request with these parameters and headers.
async fn answer(mut request: reqwest::RequestBuilder, words: &[&str]) -> String {
    for word in words {
        request = match (word.strip_prefix('?'), word.split_once(':')) {
            (Some(pair), _) => request.query(&[pair.split_once('=').expect("a parameter")]),
            (None, Some((name, value))) => request.header(name, value),
            (None, None) => panic!("no parameter and no header: {word}"),
        };
    }
    let response = request.send().await.expect("a response");
    let status = response.status().as_u16();
    format!("{status} {}", response.text().await.expect("a text"))
}

fn unescaped(text: &str) -> String {
    text.replace("\\r", "\r").replace("\\n", "\n")
}

impl Running {
    /// The log, once it has an entry.
    async fn log(&self) -> String {
        // The lab learns by the connection that a caller left.
        for _ in 0..100 {
            if !self.journal.entries().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let text = serde_json::to_string(&self.journal.entries()).expect("JSON");
        self.assert_private(&format!(
            "{text} {:?} {:?} {:?}",
            self.journal,
            self.proxy,
            self.journal.entries()
        ));
        text
    }

    fn assert_private(&self, text: &str) {
        let telling = &self.token()[..self.token().len() / 2];
        assert!(!text.contains(telling), "{text}");
    }
}

/// The status of a response, all that came on a connection of its own, and how that ended.
fn raw(lab: &Running, words: &[&str]) -> String {
    let (how, words) = match words {
        [how @ ("keep" | "leave"), rest @ ..] => (*how, rest),
        words => ("", words),
    };
    let path = match words[0] {
        "groups" => "static/groups",
        "extract" => "proxy/extract",
        other => panic!("unknown line `{other}`"),
    };
    let query = words.iter().filter_map(|word| word.strip_prefix('?')).map(|query| format!("&{query}"));
    let headers = words.iter().filter(|word| !word.starts_with('?')).filter_map(|word| word.split_once(':'));
    let headers = headers.map(|(name, value)| format!("{name}: {value}\r\n")).collect::<String>();
    let end = if how == "keep" { "" } else { "connection: close\r\n" };
    let target = format!("/openapi/v1/{path}?api_key={}{}", lab.token(), query.collect::<String>());
    let mut stream = TcpStream::connect(lab.proxy.address()).expect("a connection");
    let time = Duration::from_millis(if how == "leave" { 2_000 } else { 20_000 });
    stream.set_read_timeout(Some(time)).expect("a timeout");
    write!(stream, "GET {target} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}{end}\r\n").expect("sent");
    let mut bytes = Vec::new();
    let ended = if how == "keep" {
        while !bytes.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a head");
            bytes.extend(byte);
        }
        "open"
    } else {
        match stream.read_to_end(&mut bytes).map_err(|error| error.kind()) {
            Ok(_) => "closed",
            Err(ErrorKind::ConnectionReset) => "reset",
            Err(ErrorKind::WouldBlock | ErrorKind::TimedOut) => "left",
            Err(other) => panic!("{other}"),
        }
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return format!("- {text}(nothing, {ended})");
    };
    let declared = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let difference = match declared {
        Some(declared) if declared > body.len() => format!("{} less than declared", declared - body.len()),
        Some(declared) if declared < body.len() => format!("{} more than declared", body.len() - declared),
        Some(_) => "as declared".to_owned(),
        None => "undeclared".to_owned(),
    };
    let status = head.split(' ').nth(1).expect("a status");
    format!("{status} {text}\n({} bytes, {difference}, {ended})", body.len())
}

/// The status (`?` for any) and texts, of which one behind `!` must not be there, and one behind `2*` so many times.
fn assert_said(place: &str, said: &str, expected: &str) {
    let has_status = !said.starts_with(['[', '?']);
    let (status, texts) =
        if has_status { expected.split_once(' ').unwrap_or((expected, "")) } else { ("?", expected) };
    assert!(["?", ""].contains(&status) || said.split(' ').next() == Some(status), "{place}: {said}");
    for text in texts.split(" | ").filter(|text| !text.is_empty()) {
        let count = said.matches(text.trim_start_matches('!')).count();
        match text.split_once('*').and_then(|(times, text)| Some((times.parse::<usize>().ok()?, text))) {
            Some((times, text)) => {
                assert_eq!(said.matches(text).count(), times, "{place}: {text:?} in {said}")
            }
            None => assert_eq!(count == 0, text.starts_with('!'), "{place}: {text:?} in {said}"),
        }
    }
}
