use std::fmt::Write as _;

use super::fact_key;
use crate::run::Profile;
use crate::target::{Fact, quoted};

/// The values that `init` asks for.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// Base URL of the target.
    pub base_url: Option<String>,
    /// Name of the profile.
    pub profile: Option<Profile>,
    /// Facts with their values in TOML.
    pub facts: Vec<(Fact, String)>,
}

/// A configuration with a comment on every key. Keys without an answer are commented out.
pub fn template(answers: &Answers) -> String {
    let mut text = String::from(HEAD);
    let profile = answers.profile.map(Profile::name);
    let _ = write!(
        text,
        "\n# URL of the service: scheme, host, port and an optional path.\n{}\n\n\
         # Load that a run may put on the service: {}. Default: {}.\n\
         # full is for test environments: it may extract up to {} gateways.\n{}\n",
        line("base-url", answers.base_url.as_deref(), "https://api.example.com"),
        Profile::ALL.map(Profile::name).join(", "),
        Profile::Production.name(),
        Profile::Full.budget().gateways,
        line("profile", profile, Profile::Production.name()),
    );
    text.push_str(MIDDLE);
    text.push_str(
        "\n# What you know about the data. Each fact unlocks checks that are skipped without it.\n[facts]\n",
    );
    for fact in Fact::ALL {
        let key = fact_key(fact);
        let _ = writeln!(text, "# {}", fact.description());
        match answers.facts.iter().find(|(answered, _)| *answered == fact) {
            Some((_, value)) => _ = writeln!(text, "{key} = {value}"),
            None => _ = writeln!(text, "# {key} = {}", fact.example()),
        }
    }
    text.push_str(TAIL);
    text
}

const HEAD: &str = "\
# What the conformance suite should know about an environment. Everything is optional.
#
# Arguments take precedence over environment variables, and those over this file. Do not write secrets here; name the variable
# or file that holds them.
";

const MIDDLE: &str = r#"
# The account's token. SALLYPORT_API_KEY is read without this.
# api-key = { env = "MY_TOKEN" }
# api-key = { file = "token.txt" }
# What a command prints, without a shell. It runs again when the service rejects the token with 401.
# api-key = { command = ["vault", "read", "-field=token", "secret/sallyport"] }

# Run only, or skip, the checks that match: globs on checks, clauses and operations.
# only = ["search.*"]
# skip = ["extract"]

# Findings on clauses that the contract presupposes and does not state: failures (fail) or warnings (warn).
# inferred = "fail"

# Plain http to another machine sends the token in clear text.
# allow-http = true

# Limits; reaching one ends the run without a verdict. Each has a default that depends on the profile.
[budget]
# requests = 930
# gateways = 25
# bytes = 268435456
# seconds = 1800
# rate = 5
# concurrency = 2

# What a run must show before it conforms; without it there is no verdict (exit code 4).
[gates]
# require = ["search.*"]
# min-clauses = 50
# min-detection = 80
# fail-on-skip = true
# A warning is a failure (exit code 1).
# fail-on-warning = true

[connection]
# timeout-seconds = 20
# Wait until the service responds at all, and then run.
# wait = "60s"
# Certificates of your own authority, in PEM.
# ca-file = "authority.pem"
# A client certificate and its key, in PEM without a passphrase, for a service that requires one.
# client-certificate = "client.pem"
# client-key = "client-key.pem"
# A proxy, if it is not that of HTTPS_PROXY, HTTP_PROXY or ALL_PROXY.
# proxy = "http://proxy.example.com:3128"
# proxy = { env = "MY_PROXY" }

# Headers that every request carries.
[connection.headers]
# X-Environment = "staging"
# X-Gateway-Token = { env = "MY_GATEWAY_TOKEN" }
"#;

const TAIL: &str = r#"
# Clauses that are known to be violated, until a date. An entry that no longer fails is reported.
# [[expected-failure]]
# clause = "search.country"
# reason = "ticket 123"
# until = 2030-12-31
"#;

fn line(key: &str, answer: Option<&str>, example: &str) -> String {
    match answer {
        Some(answer) => format!("{key} = {}", quoted(answer)),
        None => format!("# {key} = {}", quoted(example)),
    }
}
