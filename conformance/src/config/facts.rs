use std::path::Path;

use super::document::{ConfigError, Item, Section};
use crate::target::{Fact, Facts, HeldOrder, Secret};

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
            set(&mut facts, fact, &item, variable)?;
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

/// Takes from `over` what it knows, and from `under` what it does not.
#[must_use]
pub fn layered(over: Facts, under: Facts) -> Facts {
    fn list<T>(over: Vec<T>, under: Vec<T>) -> Vec<T> {
        if over.is_empty() { under } else { over }
    }
    let Facts {
        own_addresses,
        orders,
        foreign_addresses,
        foreign_order,
        foreign_group,
        shared_address,
        second_token,
        empty_token,
        link_credential,
        revoked_token,
        token_not_whitelisted,
        token_not_verified,
        token_not_entitled,
        token_partly_entitled,
        plentiful_region,
        scarce_region,
        empty_region,
        egress_ip,
        canaries,
    } = over;
    Facts {
        own_addresses: list(own_addresses, under.own_addresses),
        orders: list(orders, under.orders),
        foreign_addresses: list(foreign_addresses, under.foreign_addresses),
        foreign_order: foreign_order.or(under.foreign_order),
        foreign_group: foreign_group.or(under.foreign_group),
        shared_address: shared_address.or(under.shared_address),
        second_token: second_token.or(under.second_token),
        empty_token: empty_token.or(under.empty_token),
        link_credential: link_credential.or(under.link_credential),
        revoked_token: revoked_token.or(under.revoked_token),
        token_not_whitelisted: token_not_whitelisted.or(under.token_not_whitelisted),
        token_not_verified: token_not_verified.or(under.token_not_verified),
        token_not_entitled: token_not_entitled.or(under.token_not_entitled),
        token_partly_entitled: token_partly_entitled.or(under.token_partly_entitled),
        plentiful_region: plentiful_region.or(under.plentiful_region),
        scarce_region: scarce_region.or(under.scarce_region),
        empty_region: empty_region.or(under.empty_region),
        egress_ip: egress_ip.or(under.egress_ip),
        canaries: list(canaries, under.canaries),
    }
}

fn set(
    facts: &mut Facts,
    fact: Fact,
    item: &Item<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), ConfigError> {
    let secret = || Ok(Some(Secret::new(fact.variable(), secret_text(item, variable)?)));
    match fact {
        Fact::OwnAddresses => facts.own_addresses = lines(item)?,
        Fact::Orders => facts.orders = orders(item)?,
        Fact::ForeignAddresses => facts.foreign_addresses = lines(item)?,
        Fact::ForeignOrder => facts.foreign_order = Some(item.string()?),
        Fact::ForeignGroup => facts.foreign_group = Some(item.integer(1..=i64::MAX)?),
        Fact::SharedAddress => facts.shared_address = Some(item.string()?),
        Fact::SecondToken => facts.second_token = secret()?,
        Fact::EmptyToken => facts.empty_token = secret()?,
        Fact::LinkCredential => facts.link_credential = secret()?,
        Fact::RevokedToken => facts.revoked_token = secret()?,
        Fact::TokenNotWhitelisted => facts.token_not_whitelisted = secret()?,
        Fact::TokenNotVerified => facts.token_not_verified = secret()?,
        Fact::TokenNotEntitled => facts.token_not_entitled = secret()?,
        Fact::TokenPartlyEntitled => facts.token_partly_entitled = secret()?,
        Fact::PlentifulRegion => facts.plentiful_region = Some(item.string()?),
        Fact::ScarceRegion => facts.scarce_region = Some(item.string()?),
        Fact::EmptyRegion => facts.empty_region = Some(item.string()?),
        Fact::EgressIp => {
            let address = item.string()?.parse().map_err(|_| item.wrong("an IPv4 address"))?;
            facts.egress_ip = Some(address);
        }
        Fact::Canaries => {
            let text = secret_text(item, variable)?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            facts.canaries = lines.map(|line| Secret::new(fact.variable(), line)).collect();
        }
    }
    Ok(())
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

fn orders(item: &Item<'_>) -> Result<Vec<HeldOrder>, ConfigError> {
    let order = |item: &Item<'_>| {
        item.section(|order| {
            let need =
                |key: &str| order.get(key).ok_or_else(|| item.wrong(&format!("a key `{key}` in each order")));
            Ok(HeldOrder { number: need("number")?.string()?, addresses: lines(&need("addresses")?)? })
        })
    };
    item.items("a list of { number = \"…\", addresses = [\"…\"] }")?.iter().map(order).collect()
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
