//! What the commands have in common. `tests/store/transcripts` shows what each prints.

use super::{database::TestDatabase, program::done};

#[test]
fn a_list_ends_with_its_reader() {
    let database = TestDatabase::open();
    let names: Vec<_> = (0..1500).map(|number| format!("account-{number:04}")).collect();
    let line = |name: &String| format!("{{\"account\":{{\"name\":\"{name}\",\"realNameVerified\":true}}}}\n");
    let input: String = names.iter().map(line).collect();
    done(&database.run_with_input(&["import", "-"], &input));
    assert_eq!(done(&database.run(&["list", "account"])).lines().count(), 1501);

    let mut child =
        database.command(&["list", "account"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
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
fn every_kind_has_an_example_that_works() {
    let database = TestDatabase::open();
    std::fs::write(database.path("gw.secret"), "very-secret").unwrap();
    // What the examples presume.
    database.succeed("token issue --account acme");
    for number in 1..=6 {
        database.succeed(&format!("put whitelist --account acme --range 192.0.2.{number}"));
    }
    let listed =
        database.succeed("list instance").replace("9001", "9002").replace(",\"hasPassword\":true", "");
    done(&database.run_with_input(&["put", "instance"], &listed));
    for verb in ["list", "put", "remove"] {
        let all = database.succeed(&format!("{verb} --help"));
        // Removals from the kind that owns nothing on.
        for kind in ["gateway", "instance", "group", "entitlement", "whitelist", "account"] {
            let help = database.succeed(&format!("{verb} {kind} --help"));
            let (_, example) = help.split_once("Example:\n  server ").unwrap();
            assert!(all.contains(example.trim_end()), "{all}");
            let words: Vec<_> = example.split_whitespace().collect();
            done(&database.command(&words).current_dir(database.path("")).output().unwrap());
        }
    }
    assert!(database.succeed("list token --help").contains("server list token"));
}
