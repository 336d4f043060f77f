//! What is never shown: tokens but once, and proxy passwords.

use std::process::Output;

use super::database::{TestDatabase, words};

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap()).concat()
}

#[test]
fn a_password_is_taken_from_a_file_or_a_pipe_and_never_shown() {
    let database = TestDatabase::open();
    let file = database.path("gw.secret");
    std::fs::write(&file, "very-secret-file\nnot this line\n").unwrap();
    let put = |host: &str, file: &str| {
        let fields = format!("put gateway --host {host} --port 1 --region USA --protocol http --username u");
        format!("{fields} --password-file {file}")
    };
    let record = r#"{"host":"gw4.invalid","port":1,"region":"USA","protocol":"http","username":"u","password":"very-secret-json"}"#;
    let shown = [
        database.run(&words(&put("gw2.invalid", file.to_str().unwrap()))),
        database.run_with_input(&words(&put("gw3.invalid", "-")), "very-secret-pipe\n"),
        database.run_with_input(&["put", "gateway"], record),
        database.run(&words(&put("user:very-secret@gw2.invalid", "-"))),
        database.run(&words("list gateway --where password=very-secret")),
        database.run(&words("remove gateway --where host=user:very-secret@gw2.invalid --yes")),
    ];
    let shown = shown.map(|output| said(&output)).concat();
    assert!(!shown.contains("very-secret"), "{shown}");
    let exported = database.succeed("export -");
    for password in ["\"very-secret-file\"", "\"very-secret-pipe\"", "\"very-secret-json\""] {
        assert!(exported.contains(password), "it is stored: {exported}");
    }
    for (content, reason) in
        [(b"\nvery-secret\n".as_slice(), "the first line is empty"), (b"very-secret\xff", "not UTF-8")]
    {
        std::fs::write(&file, content).unwrap();
        let error = database.fail(1, &put("gw2.invalid", file.to_str().unwrap()), reason);
        assert!(!error.contains("very-secret"), "{error}");
    }
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
    for command in include_str!("secrets.txt").lines() {
        let shown = said(&database.run(&words(&command.replace("{token}", token))));
        assert!(!shown.contains(token) && !shown.contains(&rotated), "{command}: {shown}");
        assert!(!shown.is_empty());
    }
}

#[test]
fn a_password_of_the_database_is_never_shown() {
    let database = TestDatabase::open();
    for url in [
        "postgres://sally:p@very-secret@127.0.0.1:1/sally",
        "postgres://sally:very-secret@127.0.0.1:1/sally",
        "postgres://sally:very-secret@127.0.0.1:very-secret/sally",
        "postgres://sally:very-secret@127.0.0.1",
        "Postgres://sally:very-secret@127.0.0.1:1/sally",
        "host=127.0.0.1 port=1 user=sally password=very-secret dbname=sally",
    ] {
        let given = ["list", "account", "--db", url];
        let misplaced = ["list", "account", url];
        for output in [
            database.run(&given),
            database.run(&misplaced),
            database.command(&["list", "account"]).env("SALLYPORT_DB", url).output().unwrap(),
            database.run(&["export", "--db", url, "-"]),
            database.run(&["run", "--db", url]),
            database.run(&["seed", "--db", url]),
        ] {
            let shown = said(&output);
            assert!(!output.status.success() && !shown.contains("very-secret"), "{url}: {shown}");
            assert!(shown.starts_with("error: ") && shown.lines().count() == 1, "{url}: {shown}");
        }
        let help = said(&database.command(&["run", "--help"]).env("SALLYPORT_DB", url).output().unwrap());
        assert!(help.contains("SALLYPORT_DB") && !help.contains("very-secret"), "{help}");
    }
    let unreachable =
        said(&database.run(&["list", "account", "--db", "postgres://sally:x@127.0.0.1:1/sally"]));
    assert!(unreachable.contains("postgres://sally@127.0.0.1:1/sally: "), "{unreachable}");
    let ambiguous =
        said(&database.run(&["list", "account", "--db", "postgres://sally:p@x@127.0.0.1:1/sally"]));
    assert!(ambiguous.contains("%40"), "{ambiguous}");
}
