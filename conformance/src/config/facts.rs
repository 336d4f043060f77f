use std::net::Ipv4Addr;
use std::path::Path;

use super::document::{ConfigError, Item, Section};
use crate::files;
use crate::target::{
    Fact, Facts, GatewayPool, KnownGateway, KnownInstance, KnownOrder, RejectedToken, RejectionReason,
    Secret, Source,
};

/// The key of a fact in `[facts]`: its variable in kebab case, without the prefix.
pub fn fact_key(fact: Fact) -> String {
    let variable = fact.variable();
    variable.strip_prefix("SALLYPORT_").unwrap_or(variable).to_ascii_lowercase().replace('_', "-")
}

/// Reads `[facts]`. Secrets are read from the variables or files that the configuration names.
pub(super) fn facts(
    section: &Section<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Facts, ConfigError> {
    let mut facts = Facts::default();
    for fact in Fact::ALL {
        if let Some(item) = section.get(&fact_key(fact)) {
            facts.supply(fact, &Entry { item: &item, name: fact.variable(), variable })?;
        }
    }
    Ok(facts)
}

/// A text that the configuration must not contain itself: `{ env = "NAME" }` or `{ file = "PATH" }`.
pub(super) fn secret_text(
    item: &Item<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, ConfigError> {
    const EXPECTED: &str = "{ env = \"NAME\" } or { file = \"PATH\" }";
    if item.is_string() {
        return Err(item.wrong(&format!("{EXPECTED}; a secret has no place in the configuration itself")));
    }
    let (env, file) = item.section_of(EXPECTED, |source| {
        Ok((source.read("env", Item::string)?, source.read("file", Item::string)?))
    })?;
    let text = match (env, file) {
        (Some(name), None) => variable(&name)
            .ok_or_else(|| item.wrong(&format!("the variable {name} to be set, found that it is not")))?,
        (None, Some(path)) => read(item, &path)?,
        _ => return Err(item.wrong(EXPECTED)),
    };
    let text = text.trim().to_owned();
    if text.is_empty() {
        return Err(item.wrong("a secret, found an empty one"));
    }
    Ok(text)
}

/// An entry of `[facts]`.
struct Entry<'a> {
    item: &'a Item<'a>,
    /// Names secrets in reports.
    name: &'static str,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Source for Entry<'_> {
    type Error = ConfigError;

    fn text(&self) -> Result<String, ConfigError> {
        self.item.string()
    }

    fn texts(&self) -> Result<Vec<String>, ConfigError> {
        lines(self.item)
    }

    fn integer(&self) -> Result<i64, ConfigError> {
        self.item.integer(1..=i64::MAX)
    }

    fn integers(&self) -> Result<Vec<i64>, ConfigError> {
        let items = self.item.items("a list of whole numbers")?;
        items.iter().map(|item| item.integer(1..=i64::MAX)).collect()
    }

    fn ip(&self) -> Result<Ipv4Addr, ConfigError> {
        self.item.string()?.parse().map_err(|_| self.item.wrong("an IPv4 address"))
    }

    fn orders(&self) -> Result<Vec<KnownOrder>, ConfigError> {
        let order = |order: &Section<'_>| {
            let (number, addresses) = (order.require("number")?, order.require("addresses")?);
            Ok(KnownOrder { number: number.string()?, addresses: lines(&addresses)? })
        };
        let items = self.item.items("a list of { number = \"…\", addresses = [\"…\"] }")?;
        items.iter().map(|item| item.section(order)).collect()
    }

    fn gateway_pools(&self) -> Result<Vec<GatewayPool>, ConfigError> {
        let pool = |pool: &Section<'_>| {
            let listed = pool.require("gateways")?;
            let gateway = |text: &String| {
                KnownGateway::parse(text)
                    .ok_or_else(|| listed.wrong(&format!("gateways as HOST:PORT, found `{text}`")))
            };
            let gateways = lines(&listed)?.iter().map(gateway).collect::<Result<_, _>>()?;
            let (region, protocol) = (pool.require("region")?.string()?, pool.require("protocol")?.string()?);
            Ok(GatewayPool { region, protocol, gateways })
        };
        let expected = "a list of { region = \"…\", protocol = \"…\", gateways = [\"HOST:PORT\"] }";
        self.item.items(expected)?.iter().map(|item| item.section(pool)).collect()
    }

    fn instances(&self) -> Result<Vec<KnownInstance>, ConfigError> {
        let path = file_path(self.item, "{ file = \"PATH\" }")?;
        let path = beside(self.item.document().file, &path);
        KnownInstance::read(&path).map_err(|reason| self.item.wrong(&reason))
    }

    fn rejected_tokens(&self) -> Result<Vec<RejectedToken>, ConfigError> {
        let rejected = |rejected: &Section<'_>| {
            let (reason, token) = (rejected.require("reason")?, rejected.require("token")?);
            let reason =
                reason.named(RejectionReason::named, &RejectionReason::ALL.map(RejectionReason::name))?;
            let note = rejected.read("note", Item::string)?.unwrap_or_default();
            let token = Secret::new(self.name, secret_text(&token, self.variable)?);
            Ok(RejectedToken { token, reason, note })
        };
        let items = self.item.items("a list of { reason = \"…\", token = … }")?;
        items.iter().map(|item| item.section(rejected)).collect()
    }

    fn secret(&self) -> Result<Secret, ConfigError> {
        Ok(Secret::new(self.name, secret_text(self.item, self.variable)?))
    }

    fn secrets(&self) -> Result<Vec<Secret>, ConfigError> {
        let text = secret_text(self.item, self.variable)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        Ok(lines.map(|line| Secret::new(self.name, line)).collect())
    }
}

/// A list of strings, or `{ file = "PATH" }` of a file with one on each line, in which `#` begins a comment line.
fn lines(item: &Item<'_>) -> Result<Vec<String>, ConfigError> {
    if !item.is_table() {
        return item.strings();
    }
    let path = file_path(item, "a list of strings or { file = \"PATH\" }")?;
    let text = read(item, &path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

/// The path of `{ file = "PATH" }`.
fn file_path(item: &Item<'_>, expected: &str) -> Result<String, ConfigError> {
    item.section_of(expected, |table| table.get("file").ok_or_else(|| item.wrong(expected))?.string())
}

/// Reads a file whose path is relative to the folder of the configuration.
fn read(item: &Item<'_>, path: &str) -> Result<String, ConfigError> {
    let path = beside(item.document().file, path);
    files::read_text(&path, files::MAX_BYTES)
        .map_err(|error| item.wrong(&format!("a file that can be read, found {}: {error}", path.display())))
}

pub(super) fn beside(config: &Path, path: &str) -> std::path::PathBuf {
    config.parent().unwrap_or(Path::new("")).join(path)
}
