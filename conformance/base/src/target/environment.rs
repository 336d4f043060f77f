use std::path::Path;

use super::fact::TOKEN;
use super::{Fact, Facts, KnownInstance, RejectionReason, quoted};
use crate::document::Document;

/// A variable with an invalid value.
#[derive(Debug, thiserror::Error)]
#[error("{variable}: expected {expected}")]
pub struct EnvironmentError {
    variable: &'static str,
    expected: String,
}

/// Reads the facts from variables, which `get` looks up. Lists are separated by commas. An order is `NUMBER=ADDRESS+ADDRESS`,
/// gateways are `REGION/PROTOCOL=HOST:PORT+HOST:PORT`, a rejected token is `REASON=TOKEN`, known instances are a file.
///
/// # Errors
/// Names the variable and the expected format, never its value.
pub fn facts_from(get: impl Fn(&str) -> Option<String>) -> Result<Facts, EnvironmentError> {
    let mut facts = Facts::default();
    let reasons = RejectionReason::ALL.map(RejectionReason::name).join(", ");
    for fact in Fact::ALL {
        let Some(text) = get(fact.variable()).filter(|value| !value.is_empty()) else { continue };
        let wrong = |expected| EnvironmentError { variable: fact.variable(), expected };
        if fact == Fact::KnownInstances && Path::new(&text).is_file() {
            facts.known_instances = KnownInstance::read(Path::new(&text)).map_err(wrong)?;
            continue;
        }
        // Read as the configuration would write it. What names a secret is the secret itself.
        let (expected, value) = toml(fact, &text);
        let read = value.and_then(|value| {
            let (file, text) = (Path::new(""), format!("{} = {value}", fact.key()));
            Document::parse(file, &text, &|name| Some(name.to_owned()), Facts::read).ok()
        });
        // The error is not shown: the value may be a token in the wrong variable.
        facts = facts.over(read.ok_or_else(|| wrong(expected.replace("{reasons}", &reasons)))?);
    }
    Ok(facts)
}

/// The form that a fact has in its variable, and the value in TOML; none if it does not have that form.
fn toml(fact: Fact, text: &str) -> (&'static str, Option<String>) {
    let secret = |text: &str| format!("{{ env = {} }}", quoted(text));
    let list = |item: &dyn Fn(&str) -> Option<String>| {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(item).collect::<Option<Vec<_>>>().map(|items| format!("[{}]", items.join(", ")))
    };
    let parts = |text: &str| {
        let parts = text.split('+').map(str::trim).map(|part| (!part.is_empty()).then(|| quoted(part)));
        parts.collect::<Option<Vec<_>>>().map(|parts| format!("[{}]", parts.join(", ")))
    };
    let pair = |text: &str, separator: char| {
        let (one, other) = text.split_once(separator).filter(|(one, _)| !one.is_empty())?;
        Some((one.to_owned(), other.to_owned()))
    };
    let integer = |text: &str| text.parse::<i64>().ok().map(|number| number.to_string());
    match fact {
        Fact::OwnAddresses | Fact::ForeignAddresses | Fact::EntitledProtocols => {
            ("a text", list(&|text| Some(quoted(text))))
        }
        Fact::ForeignGroup => ("an integer from 1", integer(text)),
        Fact::OwnGroups => ("whole numbers from 1, separated by commas", list(&integer)),
        Fact::Orders => {
            let order = |order: &str| {
                let (number, addresses) = pair(order, '=')?;
                Some(format!("{{ number = {}, addresses = {} }}", quoted(&number), parts(&addresses)?))
            };
            ("NUMBER=ADDRESS+ADDRESS, separated by commas", list(&order))
        }
        Fact::KnownGateways => {
            let pool = |pool: &str| {
                let (name, gateways) = pair(pool, '=')?;
                let (region, protocol) = pair(&name, '/').filter(|(_, protocol)| !protocol.is_empty())?;
                let (region, protocol, gateways) = (quoted(&region), quoted(&protocol), parts(&gateways)?);
                Some(format!("{{ region = {region}, protocol = {protocol}, gateways = {gateways} }}"))
            };
            ("REGION/PROTOCOL=HOST:PORT+HOST:PORT, separated by commas", list(&pool))
        }
        Fact::RejectedTokens => {
            let rejected = |rejected: &str| {
                let (reason, token) = pair(rejected, '=')?;
                Some(format!("{{ reason = {}, token = {} }}", quoted(reason.trim()), secret(token.trim())))
            };
            ("REASON=TOKEN, separated by commas, with REASON one of {reasons}", list(&rejected))
        }
        Fact::Canaries => ("a text", Some(secret(&text.replace(',', "\n")))),
        Fact::KnownInstances => ("the path of a file of instances", None),
        Fact::EgressIp => ("an IPv4 address", Some(quoted(text))),
        _ if fact.example() == TOKEN => ("a text", Some(secret(text))),
        _ => ("a text", Some(quoted(text))),
    }
}
