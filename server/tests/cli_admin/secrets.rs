//! What is never shown: tokens but once, and proxy passwords.

use std::process::Output;

use crate::database::TestDatabase;

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap()).concat()
}

#[test]
fn a_password_is_taken_from_a_file_a_pipe_or_the_environment_and_never_shown() {
    let database = TestDatabase::open();
    let file = database.path("gw.secret");
    std::fs::write(&file, "very-secret-file\nnot this line\n").unwrap();
    let add = |host: &'static str| {
        ["gateway", "add", host, "--region", "USA", "--protocol", "http", "--username", "u"]
    };
    let mut shown = String::new();

    let from_file = [&add("gw2.invalid:1")[..], &["--password-file", file.to_str().unwrap()]].concat();
    shown += &said(&database.run(&from_file));
    shown += &said(&database.run_with_input(
        &[&add("gw3.invalid:1")[..], &["--password-file", "-"]].concat(),
        "very-secret-pipe\n",
    ));
    let environment =
        database.command(&add("gw4.invalid:1")).env("SALLYPORT_GATEWAY_PASSWORD", "very-secret-env").output();
    shown += &said(&environment.unwrap());
    shown += &said(&database.run(&from_file));
    shown += &said(&database.run(&["gateway", "list"]));
    shown += &said(&database.run(&["gateway", "list", "--json"]));
    shown += &said(&database.run(&["gateway", "remove", "user:very-secret@gw2.invalid:1", "--yes"]));
    shown += &said(&database.run(&["gateway", "remove", "gw2.invalid:1", "--yes"]));
    for arguments in
        [["instance", "list"].as_slice(), &["instance", "list", "--json"], &["instance", "show", "9001"]]
    {
        shown += &said(&database.run(arguments));
    }
    assert!(shown.contains("gateway gw2.invalid:1 in USA for http added"), "{shown}");
    assert!(shown.contains("a http gateway gw2.invalid:1 already exists"), "{shown}");
    assert!(!shown.contains("very-secret") && !shown.contains("not this line"), "{shown}");

    let exported = database.succeed("export -");
    for password in ["\"very-secret-pipe\"", "\"very-secret-env\""] {
        assert!(exported.contains(password), "it is stored: {exported}");
    }
    std::fs::write(&file, "\nvery-secret\n").unwrap();
    let empty = database.fail(1, &from_file.join(" "), "the first line is empty");
    assert!(!empty.contains("very-secret"), "{empty}");
    std::fs::write(&file, b"very-secret\xff").unwrap();
    let bytes = database.fail(1, &from_file.join(" "), "not UTF-8");
    assert!(!bytes.contains("very-secret"), "{bytes}");
}

#[test]
fn a_token_is_shown_once_wherever_it_is_put_afterwards() {
    let database = TestDatabase::open();
    let issued = database.run(&["token", "issue", "--account", "acme"]);
    let token = std::str::from_utf8(&issued.stdout).unwrap().trim_end();
    assert!(!String::from_utf8_lossy(&issued.stderr).contains(token));
    let rotated = database.succeed("token rotate 1").trim_end().to_owned();
    assert!(token.starts_with("sally_api_") && rotated.starts_with("sally_api_") && token != rotated);
    let stored = std::fs::read(database.path("test.db")).unwrap();
    assert!(!stored.windows(token.len()).any(|window| window == token.as_bytes()), "only its hash is stored");
    for arguments in [
        ["token", "list"].as_slice(),
        &["token", "list", "--json"],
        &["account", "show", "acme"],
        &["export", "-"],
        &["token", "revoke", token, "--yes"],
        &["token", "rotate", token],
        &["token", "rotate", "1", "--overlap", token],
        &["token", "issue", "--account", token],
        &["token", "issue", "--account", "acme", "--kind", token],
        &["token", "issue", "--account", "acme", "--expires", token],
        &["token", "list", token],
        &["account", "add", token],
        &["account", "show", token],
        &["account", "remove", token, "--yes"],
        &["whitelist", "add", "--account", "acme", token],
        &["whitelist", "add", "--account", token, "192.0.2.1"],
        &["whitelist", "list", "--covers", token],
        &["gateway", "add", token, "--region", "USA", "--protocol", "http"],
        &["gateway", "list", "--protocol", token],
        &["group", "remove", token, "--yes"],
        &["group", "list", "--limit", token],
        &["instance", "move", "9001", "--group", token],
        &["instance", "set-status", token, "9001"],
        &["instance", "list", "--ip", token],
        &[token],
        &["token", token],
    ] {
        let shown = said(&database.run(arguments));
        assert!(!shown.contains(token) && !shown.contains(&rotated), "{arguments:?}: {shown}");
        assert!(!shown.is_empty());
    }
}

#[test]
fn a_password_of_the_database_is_never_shown() {
    let database = TestDatabase::open();
    for url in [
        "postgres://sally:p@very-secret@127.0.0.1:1/sally",
        "postgres://sally:very-secret@127.0.0.1:1/sally",
        "Postgres://sally:very-secret@127.0.0.1:1/sally",
        "host=127.0.0.1 port=1 user=sally password=very-secret dbname=sally",
    ] {
        let given = ["account", "list", "--db", url];
        let misplaced = ["account", "list", url];
        for output in [
            database.run(&given),
            database.run(&misplaced),
            database.command(&["account", "list"]).env("SALLYPORT_DB", url).output().unwrap(),
            database.run(&["export", "--db", url, "-"]),
            database.run(&["run", "--db", url]),
        ] {
            let shown = said(&output);
            assert!(!output.status.success() && !shown.contains("very-secret"), "{url}: {shown}");
            assert!(shown.starts_with("error: ") && shown.lines().count() == 1, "{url}: {shown}");
        }
    }
    let unreachable =
        said(&database.run(&["account", "list", "--db", "postgres://sally:x@127.0.0.1:1/sally"]));
    assert!(unreachable.contains("postgres://sally@127.0.0.1:1/sally: "), "{unreachable}");
    let ambiguous =
        said(&database.run(&["account", "list", "--db", "postgres://sally:p@x@127.0.0.1:1/sally"]));
    assert!(ambiguous.contains("%40"), "{ambiguous}");
}
