//! The program's commands on database files, good and bad, as a user sees them.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rusqlite::Connection;

use super::program::{done, failed, failure, output, server};

const ACCOUNT: &str = r#"{"account":{"name":"acme","realNameVerified":true}}"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A database with one account.
    fn database(&self) -> PathBuf {
        let (path, data) = (self.path("good.db"), self.path("account.jsonl"));
        fs::write(&data, ACCOUNT).unwrap();
        let output = output(&["import", "--db", text(&path), text(&data)]);
        assert_eq!(done(&output).lines().count(), 1);
        path
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = names.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn every_command_rejects_a_bad_database_in_one_line() {
    let folder = Folder::new();
    let data = folder.path("data.jsonl");
    fs::write(&data, ACCOUNT).unwrap();
    let rejected = |path: &Path, reason: &str| {
        for arguments in [
            ["list", "token", "--db", text(path)].as_slice(),
            &["token", "revoke", "--yes", "--db", text(path), "1"],
            &["token", "issue", "--db", text(path), "--account", "acme"],
            &["import", "--db", text(path), text(&data)],
            &["seed", "--db", text(path)],
        ] {
            let error = failure(&output(arguments), 1);
            assert!(error.contains(reason), "{arguments:?}: {error}");
        }
    };

    let good = folder.database();
    fs::set_permissions(&good, fs::Permissions::from_mode(0o444)).unwrap();
    rejected(&good, "read-only");
    fs::set_permissions(&good, fs::Permissions::from_mode(0o644)).unwrap();

    let before = fs::read(&good).unwrap();
    let mut corrupt = before.clone();
    corrupt[..100].fill(0xa5);
    fs::write(&good, &corrupt).unwrap();
    rejected(&good, "header is damaged");
    assert_eq!(fs::read(&good).unwrap(), corrupt, "a damaged file is evidence, and left alone");
    fs::write(&good, before).unwrap();

    Connection::open(&good).unwrap().pragma_update(None, "user_version", 99).unwrap();
    rejected(&good, "use a newer program");

    rejected(folder.0.path(), "not a file");
    rejected(&folder.path("no/folder.db"), "no/folder.db");

    let foreign = folder.path("recipes.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    let before = fs::read(&foreign).unwrap();
    rejected(&foreign, "another program");
    assert_eq!(fs::read(&foreign).unwrap(), before, "a foreign database is left alone");
}

#[test]
fn a_locked_database_is_waited_for_then_reported() {
    let folder = Folder::new();
    let path = folder.database();
    for lock in ["IMMEDIATE", "EXCLUSIVE"] {
        let other = Connection::open(&path).unwrap();
        other.execute_batch(&format!("BEGIN {lock}")).unwrap();
        let error = failure(&output(&["token", "issue", "--db", text(&path), "--account", "acme"]), 1);
        assert!(error.contains("locked by another process"), "{error}");
    }
}

#[test]
fn nobody_else_can_read_a_file_from_its_first_byte_on() {
    let folder = Folder::new();
    let (path, data) = (folder.path("private.db"), folder.path("data.jsonl"));
    let account = |n| format!("{{\"account\":{{\"name\":\"{n}\",\"realNameVerified\":true}}}}\n");
    fs::write(&data, (0..50_000).map(account).collect::<String>()).unwrap();
    let check = || {
        for file in fs::read_dir(folder.0.path()).unwrap().map(|file| file.unwrap().path()) {
            // It may have gone away since.
            let Ok(metadata) = fs::metadata(&file) else { continue };
            let mode = metadata.permissions().mode() & 0o777;
            assert!(file == data || mode & 0o077 == 0, "{} has mode {mode:o}", file.display());
        }
    };
    for arguments in [
        ["import", "--db", text(&path), text(&data)].as_slice(),
        &["export", "--db", text(&path), text(&folder.path("export.jsonl"))],
    ] {
        // The shell's umask is the one that most users have.
        let mut program = Command::new("sh");
        program.args(["-c", r#"umask 022; exec "$0" "$@""#, env!("CARGO_BIN_EXE_server")]).args(arguments);
        let mut program = program.stdout(Stdio::null()).spawn().unwrap();
        while program.try_wait().unwrap().is_none() {
            check();
        }
        assert!(program.wait().unwrap().success(), "{arguments:?}");
        check();
    }
    assert_eq!(folder.names(), ["data.jsonl", "export.jsonl", "private.db"]);
}

#[test]
fn of_commands_that_create_one_file_at_once_none_loses_what_it_stored() {
    const ROUNDS: usize = 15;
    const PROGRAMS: usize = 4;
    let folder = Folder::new();
    for number in 0..PROGRAMS {
        let account = format!("{{\"account\":{{\"name\":\"{number}\",\"realNameVerified\":true}}}}");
        fs::write(folder.path(&format!("{number}.jsonl")), account).unwrap();
    }
    for round in 0..ROUNDS {
        let path = folder.path(&format!("round {round}.db"));
        let start = |arguments: &[&str]| {
            server(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let imports: Vec<_> = (0..PROGRAMS)
            .map(|number| {
                start(&["import", "--db", text(&path), text(&folder.path(&format!("{number}.jsonl")))])
            })
            .collect();
        let seeds = [start(&["seed", "--db", text(&path)]), start(&["seed", "--db", text(&path)])];
        let mut names: Vec<String> = Vec::new();
        for (number, import) in imports.into_iter().enumerate() {
            let output = import.wait_with_output().unwrap();
            if output.status.success() {
                names.push(number.to_string());
            } else {
                failure(&output, 1);
            }
        }
        let seeded = seeds.map(|seed| seed.wait_with_output().unwrap().status.success());
        assert_ne!(seeded, [true; 2], "the sample data can be stored once");
        names.extend(seeded.contains(&true).then(|| "aurora".to_owned()));
        assert!(!names.is_empty());
        let db = Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        for name in names {
            let stored: u32 = db
                .query_row("SELECT count(*) FROM accounts WHERE name = ?1", [&name], |row| row.get(0))
                .unwrap();
            assert_eq!(stored, 1, "round {round}: account {name} was stored, and is gone");
        }
    }
}

#[test]
fn wrong_usage_has_its_own_exit_code() {
    for arguments in [["nonsense"].as_slice(), &[], &["seed"], &["token", "issue", "--db", "x"]] {
        failed(&output(arguments), 2);
    }
    assert!(done(&output(&["--help"])).contains("Exit codes"));
    assert!(done(&output(&["completions", "bash"])).contains("_server"));
}
