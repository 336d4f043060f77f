//! What comes from an import or a database cannot steer the terminal that shows it.

use std::process::Output;

use serde_json::{Value, json};

use super::database::TestDatabase;

/// ESC, BEL, CSI as a C1 control, DEL, NEL, line ends, reordering; and words that must stay as they are.
const STEERING: &str = "北京\u{1b}[2J\u{7}\u{9b}31m\u{7f}\u{85}\n\r\t\u{2028}\u{202e}\u{2066}";

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
    let of_account = format!("account={STEERING}");
    for arguments in [
        ["token", "issue", "--account", STEERING].as_slice(),
        &["token", "rotate", "1"],
        &["list", "token"],
        &["list", "account"],
        &["put", "entitlement", "--account", STEERING, "--protocol", "socks5"],
        &["list", "entitlement", "--where", &of_account],
        &["list", "whitelist"],
        &["put", "whitelist", "--account", STEERING, "--range", "192.0.2.9"],
        &["list", "gateway"],
        &["list", "group"],
        &["put", "group", "--group-id", "77", "--name", "北京"],
        &["list", "instance"],
        &["export", "-"],
        &["put", "instance", "--instance-id", "7", "--city-code", STEERING],
        &["remove", "group", "77", "--ungroup", "--yes"],
        &["remove", "entitlement", "--where", &of_account, "--yes"],
        &["remove", "account", STEERING, "--with-data", "--yes"],
    ] {
        let output = database.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", harmless(&output));
        let text = harmless(&output);
        if ["list", "export"].contains(&arguments[0]) {
            // JSON loses nothing.
            let values = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap().to_string());
            assert!(values.into_iter().any(|value| value.contains(&json!(STEERING).to_string())), "{text}");
        }
        let whole = text.contains("北京") || arguments[1] != "account";
        assert!(whole && !text.is_empty(), "{arguments:?}: {text}");
    }
}

#[test]
fn failures() {
    let (database, lines) = hostile();
    let file = database.path(STEERING);
    std::fs::write(&file, "not json").unwrap();
    let nowhere = database.path(&format!("{STEERING}.missing"));
    let condition = format!("host={STEERING}x");
    for arguments in [
        ["put", "account", "--name", STEERING, "--real-name-verified", STEERING].as_slice(),
        &["remove", "account", &STEERING[..STEERING.len() - 3], "--yes"],
        &["remove", "account", STEERING, "--yes"],
        &["token", "issue", "--account", &STEERING.repeat(2)],
        &["put", "instance", "--instance-id", "9001", "--group-id", "77"],
        &["put", "instance", "--instance-id", "7", "--account", "acme"],
        &["remove", "group", "77", "--yes"],
        &["put", "group", "--account", STEERING, "--name", STEERING],
        &["remove", "gateway", "--where", &condition, "--yes"],
        &["list", "gateway", "--where", STEERING],
        &["import", file.to_str().unwrap()],
        &["import", nowhere.to_str().unwrap()],
        &["list", "account", "--db", nowhere.to_str().unwrap()],
        &["list", "instance", "--where", &format!("status={STEERING}")],
        &["put", "whitelist", "--account", "acme", "--range", STEERING],
        &[STEERING],
    ] {
        let output = database.run(arguments);
        let text = harmless(&output);
        assert!(output.status.code() != Some(0), "{arguments:?}: {text}");
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
