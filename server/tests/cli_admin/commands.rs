//! Each noun's commands on one database.

use serde_json::{Value, json};

use crate::database::{TestDatabase, failure, words};

/// Names of the fields, in order.
fn fields(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// A command line, its exit code, and what it prints: all of standard output, or a part of the error.
type Step = (&'static str, i32, &'static str);

/// Runs the steps one after another on one database. The rules of each kind are tested in `tests/store/registry.rs`.
#[track_caller]
fn steps(database: &TestDatabase, steps: &[Step]) {
    for (command, code, printed) in steps {
        match code {
            0 => assert_eq!(database.succeed(command), *printed, "{command}"),
            code => drop(database.fail(*code, command, printed)),
        }
    }
}

#[test]
fn accounts() {
    steps(
        &TestDatabase::open(),
        &[
            ("put account --name zebra", 0, "account \"zebra\" created\n"),
            ("list account --where realNameVerified=false", 0, "name   realNameVerified\nzebra  false\n"),
            ("put account --real-name-verified --name zebra", 0, "account \"zebra\" changed\n"),
            ("list account --where realNameVerified=false", 0, "name  realNameVerified\n"),
            ("put account --name acme --real-name-verified false", 0, "account \"acme\" changed\n"),
            ("put account --name ", 1, "not empty"),
            ("put account --name acme --real-name-verified maybe", 2, "expected true or false"),
            ("remove account amce --yes", 1, "did you mean \"acme\"?"),
            (
                "remove account acme --yes",
                1,
                "1 group, 1 instance; remove them first, or all together with --with-data",
            ),
            (
                "remove account acme --with-data --yes",
                0,
                "removed account \"acme\", with 1 group, 1 instance\n",
            ),
            ("remove account zebra -y", 0, "removed account \"zebra\"\n"),
        ],
    );
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
    let at_once = database.succeed("token rotate 2 --overlap 0 --yes --expires never");
    assert!(at_once.starts_with("sally_link_") && at_once.lines().count() == 1);
    steps(
        &database,
        &[
            ("token rotate 1", 1, "--expires TIME or --expires never"),
            ("token rotate 2", 1, "was revoked"),
            ("token rotate 9", 1, "unknown token 9"),
            ("token rotate 1 --overlap soon", 2, "24h, 90m, 7d"),
            ("token issue --account acme --expires 2020-01-01T00:00:00Z", 2, "expected a time in the future"),
            ("list token --where account=acm", 1, "did you mean \"acme\"?"),
            ("token revoke 1 3 --yes", 0, "revoked 2 tokens: 1, 3\n"),
            ("list token --where revokedAt=null", 0, "id  account  kind  createdAt  expiresAt  revokedAt\n"),
            // They have other verbs than records.
            ("put token", 2, "unrecognized subcommand"),
            ("remove token 1", 2, "unrecognized subcommand"),
        ],
    );
}

#[test]
fn whitelist_and_entitlements() {
    let database = TestDatabase::open();
    steps(
        &database,
        &[
            ("put whitelist --account acme --range 192.0.2.1", 0, "whitelist entry 1 created\n"),
            ("put whitelist --account acme --range 198.51.100.0/24", 0, "whitelist entry 2 created\n"),
            ("put whitelist --id 2 --enabled false", 0, "whitelist entry 2 changed\n"),
            (
                "put whitelist --account acme --range ::ffff:192.0.2.1 --expires-at 9998-01-01T00:00:00Z",
                0,
                "whitelist entry 1 changed\n",
            ),
            (
                "list whitelist --where covers=198.51.100.7",
                0,
                "id  account  first         last            enabled  expiresAt\n2   acme     198.51.100.0  198.51.100.255  false    -\n",
            ),
            ("put whitelist --account acme --range 192.0.2.7/24", 1, "write 192.0.2.0/24"),
            (
                "put whitelist --account acme --range 192.0.2.20 --expires-at 2020-01-01T00:00:00Z",
                1,
                "has no effect",
            ),
            ("put whitelist --id one", 2, "`id`: expected an integer"),
            ("remove whitelist 1 9 --yes", 1, "unknown whitelist entry 9; `server list whitelist`"),
            ("remove whitelist 1 2 --yes", 0, "removed 2 whitelist entries: 1, 2\n"),
            (
                "put entitlement --account acme --protocol socks5 --expires-at 9998-01-01T00:00:00Z",
                0,
                "entitlement \"acme\" \"socks5\" created\n",
            ),
            (
                "put entitlement --account acme --protocol socks5 --expires-at null",
                0,
                "entitlement \"acme\" \"socks5\" changed\n",
            ),
            ("list entitlement", 0, "account  protocol  expiresAt\nacme     socks5    -\n"),
            ("put entitlement --account acme --protocol https", 2, "[possible values: http, socks5]"),
            (
                "put entitlement --account acme --protocol http --expires-at 2020-01-01T00:00:00Z",
                1,
                "in the future",
            ),
            ("remove entitlement --yes", 2, "--where FIELD=VALUE"),
            (
                "remove entitlement --where account=acme --where protocol=socks5 --yes",
                0,
                "removed 1 entitlement\n",
            ),
            ("remove entitlement --where account=acme --yes", 1, "no entitlement meets the conditions"),
        ],
    );
}

#[test]
fn gateways_groups_and_instances() {
    let database = TestDatabase::open();
    let group = database.json("put group --account acme --name east").remove(0);
    assert_eq!(fields(&group), ["account", "groupId", "name", "createdAt", "updatedAt"]);
    let instance = database.json("list instance --where ip=::ffff:203.0.113.7").remove(0);
    let names = "account orderNo instanceId offerId status ip port protocols countryCode cityCode ispType expiresAt \
                 activatedAt capabilities groupId username hasPassword";
    assert_eq!(fields(&instance).join(" "), names);
    steps(
        &database,
        &[
            (
                "put gateway --host ::ffff:192.0.2.1 --port 1 --region DEU --protocol socks5",
                0,
                "gateway \"192.0.2.1\" 1 \"DEU\" \"socks5\" created\n",
            ),
            (
                "list gateway --where region=DEU",
                0,
                "host       port  region  protocol  username  hasPassword\n192.0.2.1  1     DEU     socks5    -         false\n",
            ),
            (
                "put gateway --host gw1.invalid --port 20001 --region USA --protocol http --username other",
                0,
                "gateway \"gw1.invalid\" 20001 \"USA\" \"http\" changed\n",
            ),
            (
                "put gateway --host gw9.invalid --port 1 --protocol http",
                1,
                "missing field `region`, part of its key",
            ),
            ("remove gateway --where host=gw1.invalid --where port=1 --yes", 1, "no gateway meets"),
            ("remove gateway --where host=192.0.2.1 --yes", 0, "removed gateway \"192.0.2.1\"\n"),
            ("remove group 11 --yes", 1, "has 1 instance;"),
            (
                "put instance --instance-id 9001 --group-id 12 --ip 203.0.113.9 --protocols http,socks5",
                0,
                "instance 9001 changed\n",
            ),
            ("remove group 11 --yes", 0, "removed group 11\n"),
            ("put group --account acme --group-id 11 --name again", 1, "not used again"),
            ("put instance --instance-id 9001 --group-id 11", 1, "unknown group 11"),
            ("put instance --instance-id 9001 --group-id null", 0, "instance 9001 changed\n"),
            ("put instance --instance-id 9001 --status frozen", 2, "provisioning, active"),
            ("put instance --instance-id 9001 --expires-at 2020-01-01T00:00:00Z", 1, "in the future"),
        ],
    );
    let moved = database.json("list instance").remove(0);
    assert_eq!((&moved["ip"], &moved["protocols"]), (&json!("203.0.113.9"), &json!(["http", "socks5"])));
    assert_eq!(
        (&moved["offerId"], &moved["hasPassword"]),
        (&json!(31), &json!(true)),
        "what was not given stays"
    );
}

#[test]
fn records_are_read_from_standard_input() {
    let database = TestDatabase::open();
    let put = |kind: &str, input: &str| database.run_with_input(&["put", kind, "--output", "json"], input);
    let two = "{\"name\": \"b\"}\n{\"name\": \"c\",\n \"realNameVerified\": true}";
    assert!(put("account", two).status.success());
    // What a list prints can be put again.
    let listed = database.succeed("list instance --output json");
    let again = put("instance", &listed.replace("NYC", "LAX"));
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
        ("account", "{\"name\":\"d\"}{\"name\":\"\"}", "error: record 2: expected a name"),
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
fn a_token_is_printed_also_if_nobody_reads_the_messages() {
    let database = TestDatabase::open();
    let mut child = database
        .command(&["token", "issue", "--account", "acme"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"sally_api_"), "{output:?}");
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
