//! What comes from an import or a database cannot steer the terminal that shows it.

use std::process::Output;

use serde_json::{Value, json};

use super::database::{TestDatabase, words};

/// ESC, BEL, CSI as a C1 control, DEL, NEL, line ends, reordering; and words that must stay as they are.
const STEERING: &str = "北京\u{1b}[2J\u{7}\u{9b}31m\u{7f}\u{85}\n\r\t\u{2028}\u{202e}\u{2066}";

/// Commands that succeed, and others that fail, with such texts.
const LISTINGS: &str = include_str!("listings.txt");
const FAILURES: &str = include_str!("failures.txt");

/// The text of both outputs, in which nothing but the program's own ends of lines steers anything.
#[track_caller]
fn harmless(output: &Output) -> String {
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    let odd = |letter: char| !(letter.is_ascii_graphic() || " \n北京…–".contains(letter));
    assert!(!text.contains(odd), "{text:?}");
    text
}

/// A database in which every text that can be imported steers.
fn hostile() -> (TestDatabase, String) {
    let database = TestDatabase::open();
    let at = "2026-01-01T00:00:00Z";
    let records = [
        json!({"account": {"name": STEERING, "realNameVerified": false}}),
        json!({"entitlement": {"account": STEERING, "protocol": "http"}}),
        json!({"whitelist": {"account": STEERING, "first": "192.0.2.1", "enabled": true}}),
        json!({"gateway": {"host": STEERING, "port": 1, "region": STEERING, "protocol": "http", "username": STEERING}}),
        json!({"group": {"account": STEERING, "groupId": 77, "name": STEERING, "createdAt": at, "updatedAt": at}}),
        json!({"instance": {
            "account": STEERING, "orderNo": STEERING, "instanceId": 7, "offerId": 1, "status": "active",
            "ip": "192.0.2.7", "port": 1, "protocols": [STEERING], "countryCode": STEERING, "cityCode": STEERING,
            "ispType": 1, "expiresAt": null, "activatedAt": null, "capabilities": {}, "groupId": 77,
            "username": STEERING,
        }}),
    ];
    let lines = records.map(|record| record.to_string() + "\n").concat();
    let output = database.run_with_input(&["import", "-"], &lines);
    assert!(output.status.success(), "{}", harmless(&output));
    (database, lines)
}

#[test]
fn listings_and_what_is_said_of_them() {
    let (database, _) = hostile();
    for command in LISTINGS.lines() {
        let output = database.run(&words(&command.replace("{text}", STEERING)));
        assert!(output.status.success(), "{command}: {}", harmless(&output));
        let text = harmless(&output);
        if command.starts_with("list") || command.starts_with("export") {
            // JSON loses nothing.
            let values = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap().to_string());
            assert!(values.into_iter().any(|value| value.contains(&json!(STEERING).to_string())), "{text}");
        }
        let whole = text.contains("北京") || command.split(' ').nth(1) != Some("account");
        assert!(whole && !text.is_empty(), "{command}: {text}");
    }
}

#[test]
fn failures() {
    let (database, lines) = hostile();
    std::fs::write(database.path(STEERING), "not json").unwrap();
    let folder = database.path("");
    for command in FAILURES.lines() {
        let command = command
            .replace("{text}", STEERING)
            .replace("{start}", &STEERING[..STEERING.len() - 3])
            .replace("{folder}/", folder.to_str().unwrap());
        let output = database.run(&words(&command));
        let text = harmless(&output);
        assert!(output.status.code() != Some(0), "{command:?}: {text}");
    }

    // Every line of the file is wrong, and each has one line.
    let wrong = lines.replace("\"ip\":", "\"ip\\u001b\\n\":");
    let output = database.run_with_input(&["import", "-"], &wrong);
    let text = harmless(&output);
    assert!(!output.status.success() && text.contains("already exists"), "{text}");
    assert!(text.contains(r"unknown field `ip\u{1b}\n`"), "{text}");
    assert!(text.lines().skip(1).all(|line| line.starts_with("  line ")), "{text}");
}

#[test]
fn settings() {
    let mut command = TestDatabase::open().command(&["run"]);
    command.env("SALLYPORT_TRUSTED_PROXIES", STEERING).env("SALLYPORT_LOG", STEERING);
    harmless(&command.output().unwrap());
}
