//! The programs of a session: commands and scripts, servers, and the database behind their back.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Seek as _, Write as _},
    net::SocketAddr,
    path::Path,
    process::{Command, Output, Stdio},
};

use sallyport_server::store::{postgres, sqlite};
use serde_json::Value;

use super::{Session, text::*};
use crate::{store::backend::connect, support::server_process::ServerProcess};

/// A server, to which callers connect.
pub(super) struct Running {
    pub(super) process: ServerProcess,
    pub(super) is_encrypted: bool,
    pub(super) admin: SocketAddr,
}

impl Session {
    /// A program in the folder, without settings in its environment but the database, and without input.
    pub(super) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SALLYPORT_")) {
            command.env_remove(name);
        }
        let folder = Path::new(env!("CARGO_BIN_EXE_server")).parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        command.env("SALLYPORT_DB", &self.names["db"]).env("PATH", path);
        command.env("RUST_BACKTRACE", "1").current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn command(&self, line: &str) -> Command {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let is_variable = |word: &&&str| word.starts_with("SALLYPORT_") && word.contains('=');
        let (variables, words) = words.split_at(words.iter().take_while(is_variable).count());
        let mut command = self.program(env!("CARGO_BIN_EXE_server"));
        command.args(words).envs(variables.iter().filter_map(|variable| variable.split_once('=')));
        command
    }

    pub(super) fn execute(&mut self, place: &str, line: &str, expected: &str) {
        let (commands, input) = line.split_once(" < ").unwrap_or((line, ""));
        let (code, texts) = expected.split_once(' ').unwrap_or((expected, ""));
        for line in commands.split(" ; ") {
            let mut command = self.command(line);
            if !input.is_empty() {
                let mut file = tempfile::tempfile().unwrap();
                file.write_all(&bytes(input)).unwrap();
                file.rewind().unwrap();
                command.stdin(file);
            }
            let output = command.output().unwrap();
            let place = format!("{place} ({line})");
            assert_eq!(output.status.code().unwrap().to_string(), code, "{place}: {output:?}");
            let said = self.said(&place, &output);
            if let Some(lines) = texts.strip_prefix("=\\n") {
                let all = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
                let is_same = all.lines().count() == lines.split("\\n").count()
                    && lines.split("\\n").zip(all.lines()).all(|(expected, line)| fits(expected, line));
                assert!(is_same, "{place}: expected\n{}\nfound\n{all}", lines.replace("\\n", "\n"));
                continue;
            }
            assert_texts(&place, &said, texts);
            // A failure is one line, unless more are expected, to which clap adds how the command is used.
            let errors: Vec<_> = said.lines().filter(|line| !line.contains(" WARN ")).collect();
            let is_error = |line: &&str| line.starts_with("error: ");
            assert!(code == "0" || errors.first().is_some_and(is_error), "{place}: {said}");
            assert!(code != "1" || errors.len() == 1 || texts.contains("\\n"), "{place}: {said}");
        }
    }

    /// What a command says: its result, or why it failed.
    fn said(&mut self, place: &str, output: &Output) -> String {
        let [result, messages] =
            [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap());
        let all = [result.as_str(), &messages].concat();
        assert_harmless(place, &all);
        assert!(!all.contains("very-secret"), "{place}: {all}");
        let shown = self.printed.iter().find(|token| all.contains(*token));
        assert_eq!(shown, None, "{place}: a token is shown once: {all}");
        if !output.status.success() {
            assert_eq!(result, "", "{place}");
            return messages;
        }
        let tokens: Vec<_> = result.split_whitespace().filter(|word| word.starts_with("sally_")).collect();
        if let Some(main) = tokens.first() {
            assert!(!messages.contains(main), "{place}: {messages}");
            self.names.insert("main".to_owned(), (*main).to_owned());
        }
        self.printed.extend(tokens.into_iter().map(str::to_owned));
        result
    }

    /// Changes the database behind the program's back, and waits until that is in force.
    pub(super) fn change(&mut self, sql: &str) -> Result<(), String> {
        let Some((url, runtime)) = &self.postgres else {
            let (file, sql) = sql.split_once(".db: ").unwrap_or(("test", sql));
            let open = || rusqlite::Connection::open(self.folder.path().join(format!("{file}.db"))).unwrap();
            let db = self.transaction.take().and_then(|db| db.downcast().ok());
            let db: Box<rusqlite::Connection> = db.unwrap_or_else(|| Box::new(open()));
            let changed = db.execute_batch(sql).map_err(|error| error.to_string());
            self.transaction = if db.is_autocommit() { None } else { Some(db) };
            std::thread::sleep(sqlite::LEASE);
            return changed;
        };
        // The end of its connection ends a transaction.
        self.transaction = None;
        let client = runtime.block_on(connect(url)).map_err(|error| error.to_string())?;
        let changed = runtime.block_on(client.batch_execute(sql));
        if sql.starts_with("BEGIN") {
            self.transaction = Some(Box::new(client));
        }
        std::thread::sleep(postgres::LEASE);
        changed.map_err(|error| error.as_db_error().map_or(error.to_string(), ToString::to_string))
    }

    /// Starts a server, whose tokens are those of a sandbox unless it has a database.
    pub(super) fn start(&mut self, flags: &str) {
        let is_sandbox = !flags.contains("--db");
        let listen = if flags.contains("--listen") { "" } else { "--listen 127.0.0.1:0" };
        let sandbox = if is_sandbox { "--sandbox-tokens fixed --sandbox-output json" } else { "" };
        let mut command = self.command(&format!("run {listen} --admin 127.0.0.1:0 {sandbox} {flags}"));
        if is_sandbox {
            command.env_remove("SALLYPORT_DB");
        }
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || lines.next().unwrap_or_else(|| panic!("{flags}: it ended")).unwrap();
        let printed = next();
        let described: Value = serde_json::from_str(&printed).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let [url, admin] = if is_sandbox {
            ["baseUrl", "admin"].map(|name| text(&described[name]))
        } else {
            // No token, which is shown when it is made and not later.
            [(&next(), "listening on "), (&printed, "operator's pages on ")]
                .map(|(line, before)| line.strip_prefix(before).unwrap().to_owned())
        };
        for (name, token) in described["tokens"].as_object().into_iter().flatten() {
            let token = text(&token["token"]);
            // So many characters in a row are no accident.
            self.names.insert(format!("{name}…"), token[..20].to_owned());
            self.names.insert(format!("…{name}"), token[token.len() - 20..].to_owned());
            let before = self.names.insert(name.clone(), token.clone());
            assert!(before.is_none_or(|before| before == token), "fixed tokens are the same each time");
        }
        let [address, admin] = [&url, &admin].map(|url| url.rsplit('/').next().unwrap().parse().unwrap());
        for (name, value) in [
            ("pid", child.id().to_string()),
            ("address", SocketAddr::to_string(&address)),
            ("shown-url", url.replace('/', "&#x2f;")),
            ("url", url),
        ] {
            self.names.insert(name.to_owned(), value);
        }
        let is_encrypted = flags.contains("--tls-cert");
        self.servers.push(Running {
            process: ServerProcess { child, address, printed },
            is_encrypted,
            admin,
        });
    }

    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}
