//! Commands as an administrator types them and what they print, on both databases: `transcripts/*.txt`, each on a new database with
//! the records of [`DATA`].
//!
//! A line that begins with `$` is a command, after settings of its environment, `<` a line of its input, `|` a line of the file `file`
//! and `?` its exit code, unless that is 0. What the command prints follows, standard error first; `…` stands for any text of a line.
//! `SALLYPORT_TRANSCRIPTS=write` writes what is printed now.

use std::{fmt::Write as _, path::Path, process::Command};

use super::backend::{Database, on_both};

/// An account, a group, an instance and a gateway.
pub(crate) const DATA: &str = include_str!("../support/acme.jsonl");

/// Runs a command line on a database, with the files `input` and `file`. Returns its exit code and what it prints, standard error
/// first.
fn run(database: &Database, folder: &Path, line: &str, files: &[String; 2]) -> (i32, String) {
    let [input, file] = ["input", "file"].map(|name| folder.join(name));
    std::fs::write(&input, &files[0]).unwrap();
    std::fs::write(&file, &files[1]).unwrap();
    let mut words = line.split(' ').peekable();
    let mut command = Command::new(env!("CARGO_BIN_EXE_server"));
    command.env("SALLYPORT_DB", database.name()).current_dir(folder);
    while let Some(setting) = words.next_if(|word| word.starts_with("SALLYPORT_")) {
        let (name, value) = setting.split_once('=').unwrap();
        command.env(name, value);
    }
    let output = command.args(words).stdin(std::fs::File::open(input).unwrap()).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8([output.stderr, output.stdout].concat()).unwrap())
}

/// Whether a line is the expected one, in which each `…` stands for any text.
fn fits(expected: &str, line: &str) -> bool {
    let mut rest = line;
    for (place, part) in expected.split('…').enumerate() {
        match rest.find(part) {
            Some(at) if place > 0 || at == 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || expected.ends_with('…')
}

async fn play(database: Database, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/transcripts").join(name);
    let (transcript, folder) = (std::fs::read_to_string(&path).unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("gw.secret"), "very-secret\n").unwrap();
    sallyport_server::data::import::import(database.open().await.as_ref(), DATA.as_bytes()).await.unwrap();
    let (mut played, mut steps) = (String::new(), transcript.split("\n$ ").peekable());
    played.push_str(steps.next().unwrap());
    for step in steps {
        let mut lines = step.lines().peekable();
        let line = lines.next().unwrap();
        let mut files = [(); 2].map(|()| String::new());
        let mut code = 0;
        write!(played, "\n$ {line}").unwrap();
        while let Some(more) = lines.next_if(|line| line.starts_with(['<', '|', '?'])) {
            let (mark, text) = more.split_at(2);
            match mark {
                "? " => code = text.parse().unwrap(),
                _ => writeln!(files[usize::from(mark == "| ")], "{text}").unwrap(),
            }
            if mark != "? " {
                write!(played, "\n{more}").unwrap();
            }
        }
        let expected: Vec<_> = lines.collect();
        let (ended, printed) = run(&database, folder.path(), line, &files);
        let printed: Vec<_> = printed.lines().collect();
        let is_same = printed.len() == expected.len()
            && expected.iter().zip(&printed).all(|(one, other)| fits(one, other));
        if ended != 0 {
            write!(played, "\n? {ended}").unwrap();
        }
        for line in if is_same { &expected } else { &printed } {
            write!(played, "\n{line}").unwrap();
        }
        assert!(
            std::env::var_os("SALLYPORT_TRANSCRIPTS").is_some() || (ended == code && is_same),
            "$ {line}\n{files:?}\nexpected {code}:\n{}\nfound {ended}:\n{}",
            expected.join("\n"),
            printed.join("\n")
        );
        assert!(printed.iter().all(|line| !line.contains("very-secret")), "{printed:#?}");
    }
    if std::env::var_os("SALLYPORT_TRANSCRIPTS").is_some() {
        std::fs::write(path, played + "\n").unwrap();
    }
}

/// Makes a test of each transcript.
macro_rules! transcripts {
    ($($name:ident),+ $(,)?) => {
        $(async fn $name(database: Database) {
            play(database, concat!(stringify!($name), ".txt")).await;
        })+

        on_both! { $($name),+ }
    };
}

transcripts! { accounts, configuration, earlier, entitlements, gateways, groups, import, instances, input, tokens, whitelist }
