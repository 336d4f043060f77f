//! Panics and `Debug` show no token. What the program prints and writes is searched in every session of `scripts`.

use std::path::Path;

use sallyport_conformance::check::{Case, Cost, Probe, Run, Stop};
use sallyport_conformance::config::Config;
use sallyport_conformance::contract::Clause;
use sallyport_conformance::report::{Format, hush_panics};
use sallyport_conformance::wire::{ClientIdentity, Request, WireOptions};
use sallyport_conformance::{
    Check, Contract, Facts, Options, Outcome, Secret, SilentObserver, Suite, Target, Verdict,
};

use super::clean::{self, assert_clean};
use super::program::{TOKEN, text};
use super::rules::RuledServer;
use crate::support::network::{Authority, assert_private};

/// A service that repeats the token in every form, in headers and body, with a name that reports quote.
fn echo() -> RuledServer {
    let forms = clean::forms();
    let body = serde_json::json!({
        "code": 200, "message": forms.join(" "), "requestId": TOKEN,
        "data": { "items": [{ "groupId": TOKEN, TOKEN: TOKEN, "password": TOKEN }], "page": TOKEN },
    });
    let headers = format!("X-Echo: {} + X-Request-Id: {TOKEN} + Content-Type: application/json", forms[1]);
    RuledServer::start(&format!("-> 200 {body} + - + {headers}"))
}

static PANICS: Check = Check {
    id: "groups.envelope.panics",
    title: "a check that panics with the token in its message",
    why: "",
    operation: None,
    clauses: &[Clause::GroupsEnvelope],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(1), panics)),
    stated: |_, _| Vec::new(),
};

async fn panics(probe: &Probe<'_>) -> Result<(), Stop> {
    panic!("{} in {:?}", probe.token().expose(), probe.groups())
}

#[tokio::test]
async fn a_panic_is_an_error_of_the_suite_and_shows_no_token() {
    let server = echo();
    let token = Secret::new("API_KEY", TOKEN);
    let target = Target::new(&server.url(), token, Facts::default(), false).expect("a target");
    let contract = Contract::embedded().expect("contract");
    let suite = Suite::with_checks(contract, &target, Options::default(), &[&PANICS]).expect("a suite");
    assert_clean("Debug of Suite", &format!("{suite:?}"));
    let report = suite.run(&SilentObserver).await;
    assert!(matches!(report.checks[0].outcome, Outcome::Error(_)));
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert_clean("Debug of Report", &format!("{report:?}"));
    for format in Format::ALL {
        assert_clean(format.name(), &format.render(&report).expect("rendered"));
    }
}

/// What the hook of the program prints can only be seen from outside.
#[test]
fn a_panic_prints_its_place_and_not_its_message() {
    let tests = std::env::current_exe().expect("this program");
    let output = std::process::Command::new(tests)
        .args(["--exact", "tool::canary::panic_in_a_child", "--ignored", "--nocapture"])
        .output()
        .expect("the child runs");
    assert_clean("a panic", &text(&output));
    assert!(text(&output).contains("a bug of the suite"), "{}", text(&output));
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn panic_in_a_child() {
    hush_panics();
    let caught = std::panic::catch_unwind(|| panic!("{TOKEN}"));
    assert!(caught.is_err());
}

#[test]
fn what_public_types_say_of_themselves_shows_no_token() {
    let contract = Contract::embedded().expect("contract");
    let facts =
        Facts { second_token: Some(Secret::new("SECOND", format!("{TOKEN}-of-second"))), ..Facts::default() };
    let target =
        Target::new("http://127.0.0.1:1", Secret::new("API_KEY", TOKEN), facts, false).expect("a target");
    let request = Request::to(contract.groups()).query("api_key", TOKEN).header("X-API-Key", TOKEN);
    let variable = |_: &str| Some(TOKEN.to_owned());
    let text = "api-key = { env = \"A\" }\n[connection]\nproxy = { env = \"A\" }\nheaders = { x = { env = \"A\" } }\n";
    let config = Config::parse(Path::new("c.toml"), text, &variable).expect("a config");
    assert_clean("Debug of Target", &format!("{target:?}"));
    let proxy = format!("http://clerk:{}@127.0.0.1:1", clean::forms()[1]);
    let caller = Authority::new("Company").issue("a-caller", 4096);
    let identity = ClientIdentity::new(caller.certificate.as_bytes(), caller.key.as_bytes());
    let identity = Some(identity.expect("an identity"));
    let options =
        WireOptions { proxy: Some(Secret::new("PROXY", proxy)), identity, ..WireOptions::default() };
    assert_clean("Debug of WireOptions", &format!("{options:?}"));
    assert_private("Debug of WireOptions", &format!("{options:?}"));
    assert_clean("Debug of Request", &format!("{request:?}"));
    assert_clean("Debug of Config", &format!("{config:?}"));
}
