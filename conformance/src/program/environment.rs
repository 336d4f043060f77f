//! The environment variables that the program reads, and what is odd about them.

use std::collections::BTreeSet;
use std::ffi::OsString;

use sallyport_conformance::config::nearest;
use sallyport_conformance::target::Fact;

/// What the names of our variables begin with.
const PREFIX: &str = "SALLYPORT_";

/// The variable of the account's token, and that of the base URL.
pub(super) const TOKEN: &str = "SALLYPORT_API_KEY";
pub(super) const BASE_URL: &str = "SALLYPORT_BASE_URL";

/// The variables of the server, its deployment and the tests, without the prefix: one environment may serve several programs.
const OF_OTHERS: [&str; 26] = [
    "ABUSE",
    "ADMIN",
    "BODY_TIMEOUT",
    "CONFIG",
    "CONNECTION_TIMEOUT",
    "DB",
    "DB_PASSWORD",
    "DIAGNOSIS",
    "DRAIN_DELAY",
    "DRAIN_TIMEOUT",
    "HTTPS_PORT",
    "LISTEN",
    "LOG",
    "LOG_FORMAT",
    "MAX_IN_FLIGHT",
    "RATE",
    "REQUEST_ID_RETENTION",
    "SANDBOX_OUTPUT",
    "SANDBOX_TOKENS",
    "TEST_BASE_URL",
    "TEST_POSTGRES",
    "TEST_ROWS",
    "TLS",
    "TLS_CERT",
    "TLS_KEY",
    "TRUSTED_PROXIES",
];

/// A variable without white space around it; none if it is empty.
pub(super) fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// What is odd about the variables: unknown names, and white space around values. `named` are those that the configuration names.
pub(super) fn warnings(
    variables: impl Iterator<Item = (OsString, OsString)>,
    named: &BTreeSet<String>,
) -> Vec<String> {
    let facts = Fact::ALL.map(Fact::variable);
    let own: Vec<&str> = facts.into_iter().chain([TOKEN, BASE_URL]).collect();
    let bare = |name: &str| name.strip_prefix(PREFIX).map(str::to_owned);
    let mut warnings = Vec::new();
    for (name, value) in variables {
        let Ok(name) = name.into_string() else { continue };
        let Some(rest) = bare(&name).or_else(|| named.contains(&name).then(|| name.clone())) else {
            continue;
        };
        if !named.contains(&name) && !own.contains(&name.as_str()) {
            if !OF_OTHERS.contains(&rest.as_str()) {
                let known: Vec<String> = own.iter().filter_map(|known| bare(known)).collect();
                let advice = match nearest(&rest, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean {PREFIX}{near}?"),
                    None => "`conformance init` writes a file that names the known ones".to_owned(),
                };
                warnings.push(format!("unknown environment variable {name}, which is ignored; {advice}"));
            }
            continue;
        }
        match value.to_str() {
            None => warnings.push(format!("{name} is ignored, because its value is not UTF-8")),
            Some(value) if value.trim() != value => {
                warnings.push(format!("{name}: white space around the value is ignored"));
            }
            Some(_) => {}
        }
    }
    warnings.sort();
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They are read by another crate, so this list could lack one.
    #[test]
    fn the_variables_of_the_server_are_known() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/src/cli");
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(folder).expect("the server's commands") {
            let path = entry.expect("an entry").path();
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            for rest in text.split(&format!("\"{PREFIX}")).skip(1) {
                found.extend(rest.split_once('"').map(|(name, _)| name.to_owned()));
            }
        }
        assert!(found.len() > 10, "{found:?}");
        // The prefix alone is no variable.
        found.remove("");
        let unknown: Vec<_> = found.iter().filter(|name| !OF_OTHERS.contains(&name.as_str())).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
