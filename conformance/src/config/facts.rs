use std::net::Ipv4Addr;
use std::path::Path;

use super::document::{ConfigError, Item, Section};
use crate::target::{
    Fact, Facts, GatewayPool, KnownGateway, KnownInstance, KnownOrder, RejectedToken, RejectionReason,
    Secret, Source,
};

/// The key of a fact in `[facts]`: its variable, in lower case and without the prefix.
#[must_use]
pub fn fact_key(fact: Fact) -> String {
    let variable = fact.variable();
    variable.strip_prefix("SALLYPORT_").unwrap_or(variable).to_ascii_lowercase().replace('_', "-")
}

/// Reads `[facts]`. Secrets are fetched from where the configuration says they are.
pub(super) fn facts(
    section: &Section<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Facts, ConfigError> {
    let mut facts = Facts::default();
    for fact in Fact::ALL {
        if let Some(item) = section.get(&fact_key(fact)) {
            facts.supply(fact, &Entry { item: &item, variable })?;
        }
    }
    Ok(facts)
}

/// Text that must not stand in the configuration itself: `{ env = "NAME" }` or `{ file = "PATH" }`.
pub(super) fn secret_text(
    item: &Item<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, ConfigError> {
    const EXPECTED: &str = "{ env = \"NAME\" } or { file = \"PATH\" }";
    if item.is_string() {
        return Err(item.wrong(&format!("{EXPECTED}; a secret has no place in the configuration itself")));
    }
    let (env, file) = item.section(|source| {
        let env = source.get("env").map(|name| name.string()).transpose()?;
        let file = source.get("file").map(|path| path.string()).transpose()?;
        Ok((env, file))
    })?;
    let text = match (env, file) {
        (Some(name), None) => variable(&name)
            .ok_or_else(|| item.wrong(&format!("the variable {name} to be set, found that it is not")))?,
        (None, Some(path)) => read(item, &path)?,
        _ => return Err(item.wrong(EXPECTED)),
    };
    let text = text.trim_end_matches(['\r', '\n']).to_owned();
    if text.is_empty() {
        return Err(item.wrong("a secret, found an empty one"));
    }
    Ok(text)
}

/// An entry of `[facts]`.
struct Entry<'a> {
    item: &'a Item<'a>,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Source for Entry<'_> {
    type Error = ConfigError;

    fn text(&self) -> Result<String, ConfigError> {
        self.item.string()
    }

    fn integer(&self) -> Result<i64, ConfigError> {
        self.item.integer(1..=i64::MAX)
    }

    fn ip(&self) -> Result<Ipv4Addr, ConfigError> {
        self.item.string()?.parse().map_err(|_| self.item.wrong("an IPv4 address"))
    }

    fn texts(&self) -> Result<Vec<String>, ConfigError> {
        lines(self.item)
    }

    fn orders(&self) -> Result<Vec<KnownOrder>, ConfigError> {
        orders(self.item)
    }

    fn gateway_pools(&self) -> Result<Vec<GatewayPool>, ConfigError> {
        gateway_pools(self.item)
    }

    fn integers(&self) -> Result<Vec<i64>, ConfigError> {
        let items = self.item.items("a list of whole numbers")?;
        items.iter().map(|item| item.integer(1..=i64::MAX)).collect()
    }

    fn instances(&self) -> Result<Vec<KnownInstance>, ConfigError> {
        const EXPECTED: &str = "{ file = \"PATH\" }";
        let path = self
            .item
            .section(|source| source.get("file").ok_or_else(|| self.item.wrong(EXPECTED))?.string())?;
        let path = beside(self.item.document().file, &path);
        KnownInstance::read(&path).map_err(|reason| self.item.wrong(&reason))
    }

    fn rejected_tokens(&self, variable: &'static str) -> Result<Vec<RejectedToken>, ConfigError> {
        rejected_tokens(self, variable)
    }

    fn secret(&self) -> Result<String, ConfigError> {
        secret_text(self.item, self.variable)
    }

    fn secrets(&self) -> Result<Vec<String>, ConfigError> {
        let text = self.secret()?;
        Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }
}

fn rejected_tokens(entry: &Entry<'_>, name: &'static str) -> Result<Vec<RejectedToken>, ConfigError> {
    let rejected = |item: &Item<'_>| {
        item.section(|rejected| {
            let need = |key: &str| {
                rejected.get(key).ok_or_else(|| item.wrong(&format!("a key `{key}` in each rejected token")))
            };
            let (reason, token) = (need("reason")?, need("token")?);
            let named = reason.string()?;
            let reason = RejectionReason::named(&named)
                .ok_or_else(|| reason.not_one_of(&named, &RejectionReason::ALL.map(RejectionReason::name)))?;
            let note = rejected.get("note").map(|note| note.string()).transpose()?.unwrap_or_default();
            let token = Secret::new(name, secret_text(&token, entry.variable)?);
            Ok(RejectedToken { token, reason, note })
        })
    };
    entry.item.items("a list of { reason = \"…\", token = … }")?.iter().map(rejected).collect()
}

/// A list of strings, or `{ file = "PATH" }` of a file with one on each line; a line that begins with # is a remark.
fn lines(item: &Item<'_>) -> Result<Vec<String>, ConfigError> {
    if !item.is_table() {
        return item.strings();
    }
    let path = item.section(|source| {
        let file =
            source.get("file").ok_or_else(|| item.wrong("a list of strings or { file = \"PATH\" }"))?;
        file.string()
    })?;
    let text = read(item, &path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

fn orders(item: &Item<'_>) -> Result<Vec<KnownOrder>, ConfigError> {
    let order = |item: &Item<'_>| {
        item.section(|order| {
            let need =
                |key: &str| order.get(key).ok_or_else(|| item.wrong(&format!("a key `{key}` in each order")));
            Ok(KnownOrder { number: need("number")?.string()?, addresses: lines(&need("addresses")?)? })
        })
    };
    item.items("a list of { number = \"…\", addresses = [\"…\"] }")?.iter().map(order).collect()
}

fn gateway_pools(item: &Item<'_>) -> Result<Vec<GatewayPool>, ConfigError> {
    let pool = |item: &Item<'_>| {
        item.section(|pool| {
            let need =
                |key: &str| pool.get(key).ok_or_else(|| item.wrong(&format!("a key `{key}` in each pool")));
            let listed = need("gateways")?;
            let gateway = |text: &String| {
                KnownGateway::parse(text)
                    .ok_or_else(|| listed.wrong(&format!("gateways as HOST:PORT, found `{text}`")))
            };
            let gateways = lines(&listed)?.iter().map(gateway).collect::<Result<_, _>>()?;
            let (region, protocol) = (need("region")?.string()?, need("protocol")?.string()?);
            Ok(GatewayPool { region, protocol, gateways })
        })
    };
    let expected = "a list of { region = \"…\", protocol = \"…\", gateways = [\"HOST:PORT\"] }";
    item.items(expected)?.iter().map(pool).collect()
}

/// A file named in the configuration, relative to its folder.
fn read(item: &Item<'_>, path: &str) -> Result<String, ConfigError> {
    let path = beside(item.document().file, path);
    std::fs::read_to_string(&path)
        .map_err(|error| item.wrong(&format!("a file that can be read, found {}: {error}", path.display())))
}

pub(super) fn beside(config: &Path, path: &str) -> std::path::PathBuf {
    config.parent().unwrap_or(Path::new("")).join(path)
}
