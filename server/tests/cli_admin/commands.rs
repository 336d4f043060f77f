//! Each noun's commands on one database.

use serde_json::{Value, json};

use crate::database::{TestDatabase, failure, words};

/// Names of the fields, in order.
fn fields(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn accounts() {
    let database = TestDatabase::open();
    database.succeed("account add zebra");
    let accounts = [
        json!({"name": "acme", "realNameVerified": true}),
        json!({"name": "zebra", "realNameVerified": false}),
    ];
    assert_eq!(database.json("account list --json"), accounts);
    assert_eq!(database.succeed("account list --unverified"), "name   real name\nzebra  not verified\n");
    database.succeed("account verify zebra");
    database.succeed("account unverify acme");
    assert_eq!(database.json("account list --verified --json")[0]["name"], "zebra");

    let shown = json!({"name": "acme", "realNameVerified": false, "tokens": 0, "whitelist": 0, "entitlements": 0,
                       "groups": 1, "instances": 1});
    assert_eq!(database.json("account show acme --json"), [shown]);
    assert!(database.succeed("account show acme").contains("\ninstances         1\n"));

    database.fail(1, "account add acme", "account \"acme\" already exists");
    database.fail(1, "account verify amce", "did you mean \"acme\"?");
    database.fail(1, "account add ", "not empty");
    let used = database.fail(1, "account remove acme --yes", "1 group, 1 instance");
    assert!(used.contains("--with-data"), "{used}");
    let gone = database.succeed("account remove acme --with-data --yes");
    assert_eq!(gone, "account \"acme\" removed, with 1 group, 1 instance\n");
    database.succeed("account remove zebra -y");
    assert_eq!(database.succeed("account list"), "name  real name\n");
}

#[test]
fn tokens() {
    let database = TestDatabase::open();
    let issued = database.json("token issue --account acme --kind link --json").remove(0);
    assert_eq!(fields(&issued), ["id", "account", "kind", "expiresAt", "token"]);
    let rotated = database.json("token rotate 1 --overlap 7d --json").remove(0);
    assert_eq!(fields(&rotated), ["id", "account", "kind", "expiresAt", "token", "old"]);
    assert_eq!((&rotated["kind"], &rotated["id"]), (&json!("link"), &json!(2)));
    let list = database.json("token list --account acme --json");
    assert_eq!(fields(&list[0]), ["id", "account", "kind", "createdAt", "expiresAt", "revokedAt"]);
    assert_eq!(list[0], rotated["old"]);
    assert!(list[0]["expiresAt"].is_string() && list[1]["expiresAt"].is_null());

    database.fail(1, "token rotate 1", "--expires TIME or --expires never");
    let at_once = database.succeed("token rotate 2 --overlap 0 --yes --expires never");
    assert!(at_once.starts_with("sally_link_") && at_once.lines().count() == 1);
    database.fail(1, "token rotate 2", "was revoked");
    database.fail(1, "token rotate 9", "unknown token 9");
    database.fail(2, "token rotate 1 --overlap soon", "24h, 90m, 7d");
    let over = "token issue --account acme --expires 2020-01-01T00:00:00Z";
    database.fail(2, over, "expected a time in the future");
    database.fail(1, "token list --account acm", "did you mean \"acme\"?");
    assert_eq!(database.succeed("token revoke 1 3 --yes"), "tokens 1, 3 are revoked\n");
    assert_eq!(database.succeed("token list").matches("revoked 20").count(), 3);
}

#[test]
fn whitelist() {
    let database = TestDatabase::open();
    let add = "whitelist add --account acme";
    let added = database.json(&format!("{add} 192.0.2.1 198.51.100.0/24 192.0.2.5-192.0.2.9 --json"));
    let second = json!({"id": 2, "account": "acme", "first": "198.51.100.0", "last": "198.51.100.255",
                        "enabled": true, "expiresAt": null});
    assert_eq!(added[1], second);
    assert_eq!(database.json("whitelist list --json"), added);
    for spelling in ["192.0.2.6", "::ffff:192.0.2.6"] {
        assert_eq!(database.json(&format!("whitelist list --covers {spelling} --json"))[0]["id"], 3);
    }
    assert_eq!(database.succeed("whitelist disable 1 3"), "numbers 1, 3 of the whitelist are disabled\n");
    assert_eq!(database.json("whitelist list --json")[2]["enabled"], false);
    database.succeed("whitelist enable 3");

    for (range, code, reason) in [
        ("192.0.2.1", 1, "as whitelist entry 1"),
        ("::ffff:192.0.2.1", 1, "as whitelist entry 1"),
        ("192.0.2.7/24", 2, "write 192.0.2.0/24"),
        ("2001:db8::1", 2, "expected IPv4"),
    ] {
        database.fail(code, &format!("{add} 192.0.2.20 {range}"), reason);
    }
    database.fail(1, "whitelist enable 1 9", "unknown whitelist entry 9");
    database.fail(2, "whitelist enable one", "number of a whitelist entry, as `server whitelist list`");
    database.succeed("whitelist remove 1 2 --yes");
    assert_eq!(database.json("whitelist list --json").len(), 1);
}

#[test]
fn entitlements() {
    let database = TestDatabase::open();
    let of = "--account acme --protocol socks5";
    database.succeed(&format!("entitlement grant {of} --expires 9998-01-01T00:00:00Z"));
    database.succeed(&format!("entitlement grant {of}"));
    let list = database.json("entitlement list --json");
    assert_eq!(list, [json!({"account": "acme", "protocol": "socks5", "expiresAt": null})]);
    let table = "account  protocol  state\nacme     socks5    valid\n";
    assert_eq!(database.succeed("entitlement list"), table);
    database.succeed(&format!("entitlement revoke {of} --yes"));
    database.fail(1, &format!("entitlement revoke {of} --yes"), "no entitlement for socks5");
    let https = "entitlement grant --account acme --protocol https";
    database.fail(2, https, "possible values: http, socks5");
}

#[test]
fn gateways() {
    let database = TestDatabase::open();
    database.succeed("gateway add [2001:db8::1]:1080 --region DEU --protocol socks5");
    let list = database.json("gateway list --region DEU --json");
    let expected = json!({"host": "2001:db8::1", "port": 1080, "region": "DEU", "protocol": "socks5",
                          "username": null, "hasPassword": false});
    assert_eq!(list, [expected]);
    let twice = "gateway add gw1.invalid:20001 --region USA --protocol http";
    database.fail(1, twice, "a http gateway gw1.invalid:20001 already exists in USA");
    database.succeed("gateway add [::ffff:192.0.2.1]:1 --region FRA --protocol http");
    assert_eq!(database.json("gateway list --region FRA --json")[0]["host"], "192.0.2.1");
    database.succeed("gateway remove 192.0.2.1:1 --yes");
    database.fail(1, "gateway remove gw1.invalid:1 --yes", "unknown gateway gw1.invalid:1");
    let gone = database.succeed("gateway remove gw1.invalid:20001 --yes");
    assert_eq!(gone, "gw1.invalid:20001 removed, 1 gateway\n");
    assert_eq!(database.json("gateway list --json").len(), 1);
}

#[test]
fn groups_and_instances() {
    let database = TestDatabase::open();
    let group = database.json("group add --account acme east --json").remove(0);
    assert_eq!(fields(&group), ["account", "groupId", "name", "createdAt", "updatedAt"]);
    assert_eq!(group["groupId"], 12);
    assert!(database.run(&["group", "rename", "12", "far east"]).status.success());
    assert_eq!(database.json("group list --account acme --json")[1]["name"], "far east");

    let instance = database.json("instance show 9001 --json").remove(0);
    let names = "account orderNo instanceId offerId status ip port protocols countryCode cityCode ispType expiresAt \
                 activatedAt capabilities groupId username hasPassword";
    assert_eq!(fields(&instance).join(" "), names);
    for spelling in ["203.0.113.7", "::ffff:203.0.113.7"] {
        assert_eq!(
            database.json(&format!("instance list --ip {spelling} --json")),
            std::slice::from_ref(&instance)
        );
    }
    let used = database.fail(1, "group remove 11 --yes", "has 1 instance;");
    assert!(used.contains("server instance move"), "{used}");
    database.succeed("instance move 9001 --group 12");
    database.succeed("group remove 11 --yes");
    database.succeed("instance move 9001 --group none");
    assert_eq!(database.json("instance list --group none --json").len(), 1);
    database.fail(1, "instance move 9001 --group 11", "unknown group 11");
    database.fail(2, "instance set-status frozen 9001", "provisioning, active");
    assert_eq!(database.succeed("instance set-status expired 9001"), "instance 9001 is expired\n");
    assert!(database.succeed("instance list --status expired").contains("203.0.113.7  20001  expired  USA"));

    let renewed = database.succeed("instance renew 9001 --expires 2999-01-01T00:00:00Z");
    assert_eq!(renewed, "instance 9001 expires at 2999-01-01T00:00:00Z\n");
    let instance = database.json("instance show 9001 --json").remove(0);
    assert_eq!(
        (&instance["status"], &instance["expiresAt"]),
        (&json!("active"), &json!("2999-01-01T00:00:00Z"))
    );
    database.fail(2, "instance renew 9001 --expires 2020-01-01T00:00:00Z", "future");

    database.succeed("account add other");
    database.succeed("group add --account other theirs");
    database.fail(1, "instance move 9001 --group 13", "group 13 belongs to account \"other\"");
    database.succeed("instance remove 9001 --yes");
    assert_eq!(database.json("instance list --json").len(), 0);
}

#[test]
fn a_list_says_when_there_is_more_and_ends_with_its_reader() {
    let database = TestDatabase::open();
    let names: Vec<_> = (0..1500).map(|number| format!("account-{number:04}")).collect();
    let line = |name: &String| format!("{{\"account\":{{\"name\":\"{name}\",\"realNameVerified\":true}}}}\n");
    let input: String = names.iter().map(line).collect();
    assert!(database.run_with_input(&["import", "-"], &input).status.success());

    let table = database.run(&["account", "list"]);
    assert_eq!(String::from_utf8(table.stdout).unwrap().lines().count(), 1 + 1000);
    let warning = String::from_utf8(table.stderr).unwrap();
    assert!(warning.contains("the list ends after 1000 entries; set a higher --limit"), "{warning}");
    assert_eq!(database.json("account list --json").len(), 1501);
    assert_eq!(database.json("account list --json --limit 7").len(), 7);
    let all = database.run(&["account", "list", "--limit", "1501"]);
    assert!(all.stderr.is_empty() && all.stdout.ends_with(b"\nacme          verified\n"));

    let mut child = database
        .command(&["account", "list", "--json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0), "like `head`");
}

#[test]
fn what_cannot_be_undone_needs_a_yes() {
    let database = TestDatabase::open();
    let token = database.json("token issue --account acme --json");
    assert_eq!(token[0]["id"], 1);
    database.succeed("whitelist add --account acme 192.0.2.1");
    database.succeed("entitlement grant --account acme --protocol http");
    for command in [
        "account remove acme --with-data",
        "token revoke 1",
        "token rotate 1 --overlap 0",
        "whitelist remove 1",
        "entitlement revoke --account acme --protocol http",
        "gateway remove gw1.invalid:20001",
        "group remove 11 --ungroup",
        "instance remove 9001",
    ] {
        let rejected = database.fail(2, command, "not a terminal");
        assert!(rejected.contains("--yes"), "{rejected}");
        // A pipe is no terminal: what comes through it may be meant for something else.
        let fed = failure(&database.run_with_input(&words(command), "y\n"), 2);
        assert_eq!(fed, rejected);
    }
}

#[test]
fn every_noun_has_examples() {
    let database = TestDatabase::open();
    for noun in ["account", "token", "whitelist", "entitlement", "gateway", "group", "instance"] {
        let help = database.succeed(&format!("{noun} --help"));
        assert!(help.contains(&format!("Examples:\n  server {noun} ")), "{help}");
        let list = database.succeed(&format!("{noun} list --help"));
        assert!(list.contains("--json") && list.contains("--limit"), "{list}");
    }
}
