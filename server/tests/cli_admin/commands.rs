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
    assert_eq!(database.succeed("put account --name zebra"), "account \"zebra\" created\n");
    let accounts = [
        json!({"name": "acme", "realNameVerified": true}),
        json!({"name": "zebra", "realNameVerified": false}),
    ];
    assert_eq!(database.json("list account"), accounts);
    let unverified = "name   realNameVerified\nzebra  false\n";
    assert_eq!(database.succeed("list account --where realNameVerified=false"), unverified);
    let changed = database.succeed("put account --name zebra --real-name-verified");
    assert_eq!(changed, "account \"zebra\" changed\n");
    database.succeed("put account --name acme --real-name-verified false");
    assert_eq!(database.json("list account --where realNameVerified=true")[0]["name"], "zebra");

    database.fail(1, "put account --name ", "not empty");
    database.fail(2, "put account --name acme --real-name-verified maybe", "expected true or false");
    database.fail(1, "remove account amce --yes", "did you mean \"acme\"?");
    let used = database.fail(1, "remove account acme --yes", "1 group, 1 instance");
    assert!(used.contains("--with-data"), "{used}");
    let gone = database.succeed("remove account acme --with-data --yes");
    assert_eq!(gone, "removed account \"acme\", with 1 group, 1 instance\n");
    database.succeed("remove account zebra -y");
    assert_eq!(database.succeed("list account"), "name  realNameVerified\n");
}

#[test]
fn tokens() {
    let database = TestDatabase::open();
    let issued = database.json("token issue --account acme --kind link").remove(0);
    assert_eq!(fields(&issued), ["id", "account", "kind", "expiresAt", "token"]);
    let rotated = database.json("token rotate 1 --overlap 7d").remove(0);
    assert_eq!(fields(&rotated), ["id", "account", "kind", "expiresAt", "token", "old"]);
    assert_eq!((&rotated["kind"], &rotated["id"]), (&json!("link"), &json!(2)));
    let list = database.json("list token --where account=acme");
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
    database.fail(1, "list token --where account=acm", "did you mean \"acme\"?");
    assert_eq!(database.succeed("token revoke 1 3 --yes"), "revoked 2 tokens: 1, 3\n");
    assert_eq!(database.json("list token --where revokedAt=null").len(), 0);
    // Other verbs than those of records.
    for verb in ["put", "remove"] {
        database.fail(2, &format!("{verb} token 1"), "unrecognized subcommand");
    }
}

#[test]
fn whitelist() {
    let database = TestDatabase::open();
    let add = "put whitelist --account acme --range";
    let added: Vec<Value> = ["192.0.2.1", "198.51.100.0/24", "192.0.2.5-192.0.2.9"]
        .map(|range| database.json(&format!("{add} {range}")).remove(0))
        .into();
    let second = json!({"id": 2, "account": "acme", "first": "198.51.100.0", "last": "198.51.100.255",
                        "enabled": true, "expiresAt": null});
    assert_eq!(added[1], second);
    assert_eq!(database.json("list whitelist"), added);
    for spelling in ["192.0.2.6", "::ffff:192.0.2.6"] {
        assert_eq!(database.json(&format!("list whitelist --where covers={spelling}"))[0]["id"], 3);
    }
    assert_eq!(database.succeed("put whitelist --id 3 --enabled false"), "whitelist entry 3 changed\n");
    assert_eq!(database.json("list whitelist")[2]["enabled"], false);
    for same in ["192.0.2.1", "::ffff:192.0.2.1"] {
        let again = database.succeed(&format!("{add} {same} --expires-at 9998-01-01T00:00:00Z"));
        assert_eq!(again, "whitelist entry 1 changed\n");
    }

    database.fail(1, &format!("{add} 192.0.2.7/24"), "write 192.0.2.0/24");
    database.fail(1, &format!("{add} 2001:db8::1"), "expected IPv4");
    database.fail(1, &format!("{add} 192.0.2.20 --expires-at 2020-01-01T00:00:00Z"), "has no effect");
    database.fail(1, "put whitelist --id 9 --enabled", "unknown whitelist entry 9");
    database.fail(2, "put whitelist --id one", "`id`: expected an integer");
    database.fail(1, "remove whitelist 1 9 --yes", "unknown whitelist entry 9; `server list whitelist`");
    assert_eq!(database.succeed("remove whitelist 1 2 --yes"), "removed 2 whitelist entries: 1, 2\n");
    assert_eq!(database.json("list whitelist").len(), 1);
}

#[test]
fn entitlements() {
    let database = TestDatabase::open();
    let of = "--account acme --protocol socks5";
    let until = format!("put entitlement {of} --expires-at 9998-01-01T00:00:00Z");
    assert_eq!(database.succeed(&until), "entitlement \"acme\" \"socks5\" created\n");
    database.succeed(&format!("put entitlement {of} --expires-at null"));
    let list = database.json("list entitlement");
    assert_eq!(list, [json!({"account": "acme", "protocol": "socks5", "expiresAt": null})]);
    let table = "account  protocol  expiresAt\nacme     socks5    -\n";
    assert_eq!(database.succeed("list entitlement"), table);
    database.fail(1, &format!("put entitlement {of} --expires-at 2020-01-01T00:00:00Z"), "in the future");
    let one = "remove entitlement --where account=acme --where protocol=socks5 --yes";
    assert_eq!(database.succeed(one), "removed 1 entitlement\n");
    database.fail(1, one, "no entitlement meets the conditions");
    database.fail(2, "remove entitlement --yes", "--where FIELD=VALUE");
    database.fail(
        2,
        "put entitlement --account acme --protocol https",
        "`protocol`: expected one of: http, socks5",
    );
}

#[test]
fn gateways() {
    let database = TestDatabase::open();
    database.succeed("put gateway --host 2001:db8::1 --port 1080 --region DEU --protocol socks5");
    let list = database.json("list gateway --where region=DEU");
    let expected = json!({"host": "2001:db8::1", "port": 1080, "region": "DEU", "protocol": "socks5",
                          "username": null, "hasPassword": false});
    assert_eq!(list, [expected]);
    let twice = "put gateway --host gw1.invalid --port 20001 --region USA --protocol http --username other";
    assert_eq!(database.succeed(twice), "gateway \"gw1.invalid\" 20001 \"USA\" \"http\" changed\n");
    let changed = &database.json("list gateway --where host=gw1.invalid")[0];
    assert_eq!((&changed["username"], &changed["hasPassword"]), (&json!("other"), &json!(true)));
    database.succeed("put gateway --host ::ffff:192.0.2.1 --port 1 --region FRA --protocol http");
    assert_eq!(database.json("list gateway --where region=FRA")[0]["host"], "192.0.2.1");
    database.succeed("remove gateway --where host=192.0.2.1 --yes");
    database.fail(1, "remove gateway --where host=gw1.invalid --where port=1 --yes", "no gateway meets");
    let incomplete = "put gateway --host gw9.invalid --port 1 --protocol http";
    database.fail(1, incomplete, "missing field `region`, part of its key");
    database.fail(1, &format!("{incomplete} --region USA --port 99999"), "cannot be used multiple times");
}

#[test]
fn groups_and_instances() {
    let database = TestDatabase::open();
    let group = database.json("put group --account acme --name east").remove(0);
    assert_eq!(fields(&group), ["account", "groupId", "name", "createdAt", "updatedAt"]);
    assert_eq!(group["groupId"], 12);
    assert!(database.run(&["put", "group", "--group-id", "12", "--name", "far east"]).status.success());
    assert_eq!(database.json("list group --where account=acme")[1]["name"], "far east");

    let instance = database.json("list instance --where instanceId=9001").remove(0);
    let names = "account orderNo instanceId offerId status ip port protocols countryCode cityCode ispType expiresAt \
                 activatedAt capabilities groupId username hasPassword";
    assert_eq!(fields(&instance).join(" "), names);
    for spelling in ["203.0.113.7", "::ffff:203.0.113.7"] {
        let found = database.json(&format!("list instance --where ip={spelling}"));
        assert_eq!(found, std::slice::from_ref(&instance));
    }
    let used = database.fail(1, "remove group 11 --yes", "has 1 instance;");
    assert!(used.contains("--ungroup"), "{used}");
    database.succeed("put instance --instance-id 9001 --group-id 12");
    assert_eq!(database.succeed("remove group 11 --yes"), "removed group 11\n");
    database.succeed("put instance --instance-id 9001 --group-id null");
    assert_eq!(database.json("list instance --where groupId=null").len(), 1);
    database.fail(1, "put instance --instance-id 9001 --group-id 11", "unknown group 11");
    database.fail(1, "put group --account acme --group-id 11 --name again", "not used again");
    database.fail(2, "put instance --instance-id 9001 --status frozen", "provisioning, active");
    database.succeed("put instance --instance-id 9001 --status expired");
    let table = database.succeed("list instance --where status=expired");
    assert!(table.contains("expired  203.0.113.7  20001  USA"), "{table}");

    let renew = "put instance --instance-id 9001 --expires-at";
    assert_eq!(database.succeed(&format!("{renew} 2999-01-01T00:00:00Z")), "instance 9001 changed\n");
    let renewed = database.json("list instance").remove(0);
    assert_eq!(
        (&renewed["status"], &renewed["expiresAt"]),
        (&json!("active"), &json!("2999-01-01T00:00:00Z"))
    );
    database.fail(1, &format!("{renew} 2020-01-01T00:00:00Z"), "future");
    let moved =
        database.json("put instance --instance-id 9001 --ip 203.0.113.9 --protocols http,socks5").remove(0);
    assert_eq!((&moved["ip"], &moved["protocols"]), (&json!("203.0.113.9"), &json!(["http", "socks5"])));
    assert_eq!(
        (&moved["offerId"], &moved["hasPassword"]),
        (&json!(31), &json!(true)),
        "what was not given stays"
    );

    database.succeed("put account --name other");
    database.succeed("put group --account other --name theirs");
    database.fail(
        1,
        "put instance --instance-id 9001 --group-id 13",
        "group 13 belongs to account \"other\"",
    );
    database.succeed("remove instance 9001 --yes");
    assert_eq!(database.json("list instance").len(), 0);
}

#[test]
fn records_are_read_from_standard_input() {
    let database = TestDatabase::open();
    let put = |kind: &str, input: &str| database.run_with_input(&["put", kind, "--output", "json"], input);
    let two = "{\"name\": \"b\"}\n{\"name\": \"c\",\n \"realNameVerified\": true}";
    assert!(put("account", two).status.success());
    // What a list prints can be put again.
    let listed = database.succeed("list instance --output json");
    let again = put("instance", &listed.replace("9001", "9001").replace("NYC", "LAX"));
    assert_eq!(String::from_utf8(again.stdout).unwrap(), listed.replace("NYC", "LAX"));
    let new = listed.replace("9001", "9002").replace(",\"hasPassword\":true", "");
    assert!(put("instance", &new).status.success());
    assert_eq!(database.json("list instance").len(), 2);
    let before = database.succeed("export -");
    for (kind, input, reason) in [
        ("account", "", "flags for the fields, or JSON records"),
        ("account", "{\"name\":\"d\"} nonsense", "expected ident"),
        ("account", "[]", "a JSON object for each record"),
        ("account", "{\"name\":\"d\",\"name\":\"e\"}", "duplicate field `name`"),
        ("account", "{\"name\":\"d\"}{\"name\":\"\"}", "not empty"),
        ("account", "{\"nmae\":\"d\"}", "missing field `name`"),
        ("account", "{\"name\":\"d\",\"x\":1}", "unknown field `x`"),
        ("group", "{\"account\":\"acme\"}", "missing field `name`"),
        (
            "gateway",
            "{\"host\":\"h\",\"port\":99999,\"region\":\"USA\",\"protocol\":\"http\"}",
            "an integer from 0 to 65535",
        ),
        (
            "gateway",
            "{\"host\":\"h\",\"port\":\"very-secret\",\"region\":\"USA\",\"protocol\":\"http\"}",
            "`port`: expected an integer",
        ),
        ("instance", "{\"instanceId\":7,\"ip\":\"192.0.2.1\"}", "missing field"),
    ] {
        let output = put(kind, input);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(reason), "{input}: {error}");
        assert!(error.lines().count() == 1 && !error.contains("very-secret"), "{error}");
        assert_eq!(database.succeed("export -"), before, "{input}");
    }
}

#[test]
fn a_list_says_when_there_is_more_and_ends_with_its_reader() {
    let database = TestDatabase::open();
    let names: Vec<_> = (0..1500).map(|number| format!("account-{number:04}")).collect();
    let line = |name: &String| format!("{{\"account\":{{\"name\":\"{name}\",\"realNameVerified\":true}}}}\n");
    let input: String = names.iter().map(line).collect();
    assert!(database.run_with_input(&["import", "-"], &input).status.success());

    let table = database.run(&["list", "account"]);
    assert_eq!(String::from_utf8(table.stdout).unwrap().lines().count(), 1 + 1000);
    let warning = String::from_utf8(table.stderr).unwrap();
    assert!(warning.contains("the list ends after 1000 entries; set a higher --limit"), "{warning}");
    assert_eq!(database.json("list account").len(), 1501);
    assert_eq!(database.json("list account --limit 7").len(), 7);
    let all = database.run(&["list", "account", "--limit", "1501"]);
    assert!(all.stderr.is_empty() && all.stdout.ends_with(b"\nacme          true\n"));

    let mut child = database
        .command(&["list", "account", "--output", "json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0), "like `head`");
}

#[test]
fn what_cannot_be_undone_needs_a_yes() {
    let database = TestDatabase::open();
    let token = database.json("token issue --account acme");
    assert_eq!(token[0]["id"], 1);
    database.succeed("put whitelist --account acme --range 192.0.2.1");
    for command in [
        "remove account acme --with-data",
        "token revoke 1",
        "token rotate 1 --overlap 0",
        "remove whitelist 1",
        "remove entitlement --where account=acme",
        "remove gateway --where host=gw1.invalid",
        "remove group 11 --ungroup",
        "remove instance 9001",
    ] {
        let rejected = database.fail(2, command, "not a terminal");
        assert!(rejected.contains("--yes"), "{rejected}");
        // A pipe is no terminal: what comes through it may be meant for something else.
        let fed = failure(&database.run_with_input(&words(command), "y\n"), 2);
        assert_eq!(fed, rejected);
    }
}

#[test]
fn every_kind_has_an_example_that_works() {
    let database = TestDatabase::open();
    std::fs::write(database.path("gw.secret"), "very-secret").unwrap();
    // What the examples presume.
    database.succeed("token issue --account acme");
    for number in 1..=6 {
        database.succeed(&format!("put whitelist --account acme --range 192.0.2.{number}"));
    }
    let listed = database
        .succeed("list instance --output json")
        .replace("9001", "9002")
        .replace(",\"hasPassword\":true", "");
    assert!(database.run_with_input(&["put", "instance"], &listed).status.success());
    for verb in ["list", "put", "remove"] {
        let all = database.succeed(&format!("{verb} --help"));
        // Removals from the kind that owns nothing on.
        for kind in ["gateway", "instance", "group", "entitlement", "whitelist", "account"] {
            let help = database.succeed(&format!("{verb} {kind} --help"));
            let (_, example) = help.split_once("Example:\n  server ").unwrap();
            assert!(all.contains(example.trim_end()), "{all}");
            let mut words: Vec<_> = example.split_whitespace().collect();
            if verb == "remove" {
                words.push("--yes");
            }
            let output = database.command(&words).current_dir(database.path("")).output().unwrap();
            assert!(output.status.success(), "{example}: {output:?}");
        }
    }
    assert!(database.succeed("list token --help").contains("server list token"));
}
