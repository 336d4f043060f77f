//! The environment variables that the program reads, and what is odd about them.

use std::collections::BTreeSet;

use sallyport_conformance::target::Fact;

/// What the names of our variables begin with.
const PREFIX: &str = "SALLYPORT_";

/// From 0 to 1, of whole names.
const MIN_LIKENESS: f64 = 0.95;

/// The variable of the account's token, and that of the base URL.
pub(super) const TOKEN: &str = "SALLYPORT_API_KEY";
pub(super) const BASE_URL: &str = "SALLYPORT_BASE_URL";

/// A variable without white space around it; none if it is empty.
pub(super) fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// What is odd about the variables: misspelt names, and white space around values. `named` are those that the configuration names.
pub(super) fn warnings(named: &BTreeSet<String>) -> Vec<String> {
    let facts = Fact::ALL.map(Fact::variable);
    let own: Vec<&str> = facts.into_iter().chain([TOKEN, BASE_URL]).collect();
    let mut warnings = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Ok(name) = name.into_string() else { continue };
        if !name.starts_with(PREFIX) && !named.contains(&name) {
            continue;
        }
        if !named.contains(&name) && !own.contains(&name.as_str()) {
            // Other programs have variables with this prefix, too: only a name that is nearly one of these is a mistake.
            let likeness = |known: &&&str| strsim::jaro_winkler(&name, known);
            let near = own.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
            if let Some(near) = near.filter(|near| likeness(near) > MIN_LIKENESS) {
                let advice = format!("did you mean {near}?");
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
