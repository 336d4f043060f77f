//! `server config check`: settings from flags, environment and file, as an operator sees them.

use std::process::Output;

use super::program::{done, failure, server};

/// Checks this file with these flags and this environment.
fn check(file: &str, flags: &[&str], environment: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sallyport.toml");
    std::fs::write(&path, file).unwrap();
    let mut command = server(&["config", "check", "--config"]);
    command.arg(&path).args(flags).envs(environment.iter().copied()).output().unwrap()
}

fn shown(output: &Output) -> Vec<String> {
    done(output).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn flags_go_before_the_environment_and_both_before_the_file() {
    let file = "listen = \"127.0.0.1:1\"\nmax-in-flight = 7\ndrain-delay = 3\ntrusted-proxies = [\"10.0.0.0/8\", \"::1\"]\n";
    let lines = shown(&check(
        file,
        &["--listen", "127.0.0.1:3"],
        &[("SALLYPORT_LISTEN", "127.0.0.1:2"), ("SALLYPORT_DRAIN_DELAY", "4")],
    ));
    for line in [
        "listen 127.0.0.1:3 flag",
        "drain-delay 4 environment",
        "max-in-flight 7 file",
        "trusted-proxies 10.0.0.0/8, ::1 file",
        "body-timeout 15 default",
        "admin (not set) default",
    ] {
        assert!(lines.iter().any(|it| it == line), "no `{line}` in {lines:#?}");
    }
}

#[test]
fn mistakes_are_one_line_with_the_file_and_what_to_do() {
    for (file, told) in [
        ("listn = \"127.0.0.1:1\"", "unknown setting `listn`; did you mean `listen`?"),
        ("quux = 1", "unknown setting `quux`; expected one of: db, sandbox-tokens"),
        ("config = \"other.toml\"", "unknown setting `config`"),
        ("[limits]\nrate = 1", "unknown setting `limits`"),
        ("listen = 1.5", "`listen`: expected a string, a number or a list of them, found a float"),
        ("listen = \"nowhere\"", "invalid value 'nowhere' for '--listen"),
        ("max-in-flight = -1", "invalid value '-1' for '--max-in-flight"),
        (
            "log-format = \"jsn\"",
            "invalid value 'jsn' for '--log-format <FORMAT>' [possible values: human, json]",
        ),
        ("max-in-flight = 0", "`max-in-flight`: expected an integer of at least 1"),
        ("listen = \"a\"\nlisten = \"b\"", "line 2: duplicate key"),
        ("rate = \"10/s\"", "expected OPERATION:token|address:NUMBER"),
        ("rate = \"listGroups:token:10/s\"", "unknown operation `listGroups`"),
        ("trusted-proxies = [\"10.0.0.0/99\"]", "expected an address or a network"),
        ("listen = \"0.0.0.0:80\"", "tokens must not be sent over plain HTTP"),
        ("listen = \"127.0.0.1:99999\"", "a port from 0 to 65535"),
        ("listen = \"127.0.0.1:80\"\nadmin = \"127.0.0.1:80\"", "`listen` and `admin` both use port 80"),
        ("listen = \"127.0.0.1:80\"\nadmin = \"0.0.0.0:80\"", "`listen` and `admin` both use port 80"),
        ("tls-cert = \"cert.pem\"", "set tls-key"),
        ("tls-cert = \"nowhere.pem\"\ntls-key = \"key.pem\"", "nowhere.pem: "),
    ] {
        let output = check(file, &[], &[]);
        let error = failure(&output, output.status.code().unwrap());
        assert!(!output.status.success() && error.contains(told), "{file}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn an_operators_address_that_others_may_reach_is_warned_of() {
    for (admin, is_private) in [
        ("127.0.0.1:0", true),
        ("10.0.0.1:9090", true),
        ("[fd00::1]:9090", true),
        ("0.0.0.0:9090", false),
        ("[::]:9090", false),
        ("203.0.113.1:9090", false),
        ("[::ffff:203.0.113.1]:9090", false),
    ] {
        let output = check(&format!("listen = \"127.0.0.1:0\"\nadmin = \"{admin}\""), &[], &[]);
        let warning = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(warning.starts_with("warning: `admin`: "), !is_private, "{admin}: {warning}");
    }
}

#[test]
fn a_misspelled_variable_is_warned_of_and_those_of_other_programs_are_not() {
    let variables = [("SALLYPORT_LISTN", "x"), ("SALLYPORT_API_KEY", "x"), ("SALLYPORT_DB_PASSWORD", "x")];
    let output = check("", &[], &variables);
    let warning = "warning: unknown environment variable SALLYPORT_LISTN, which is ignored; did you mean SALLYPORT_LISTEN?\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), warning);
    assert!(output.status.success());
}

#[test]
fn columns_are_as_wide_as_their_widest_text() {
    let text = done(&check("", &[], &[]));
    let places: Vec<_> = text.lines().map(|line| line.find("default").or(line.find("flag"))).collect();
    assert!(places.windows(2).all(|two| two[0] == two[1]), "{text}");
}

#[test]
fn what_a_flag_overrides_is_checked_all_the_same() {
    let output = check("listen = \"nowhere\"", &["--listen", "127.0.0.1:1"], &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_password_is_not_shown() {
    let url = "postgres://user:hunter2@db.invalid/sallyport";
    for file in [
        format!("db = \"{url}\""),
        format!("db = \"{url}\nlisten = 1"),
        format!("db = [\"{url}\", 1.5]"),
        format!("db = \"{url}\"\nlisten = \"nowhere\""),
        "db = \"postgres://user:hunter2@:::/x\"".to_owned(),
        format!("listen = \"{url}\""),
        "listen = \"host=db.invalid password=hunter2\"".to_owned(),
    ] {
        let output = check(&file, &[], &[]);
        assert!(!format!("{output:?}").contains("hunter2"), "{file}: {output:?}");
    }
    let lines = shown(&check(&format!("db = \"{url}\""), &[], &[]));
    assert!(lines.contains(&"db (set) file".to_owned()), "{lines:#?}");
}
