//! How facts are read, and how the configuration writes them.

use std::net::Ipv4Addr;

use super::{GatewayPool, KnownGateway, KnownInstance, KnownOrder, RejectedToken, RejectionReason, Secret};
use crate::document::{ConfigError, Item, Section};

/// An entry of `[facts]`. There is a method for each type in the table of facts.
pub(super) struct Entry<'a> {
    pub(super) item: &'a Item<'a>,
    /// Names secrets in reports.
    pub(super) name: &'static str,
}

impl Entry<'_> {
    pub(super) fn text(&self) -> Result<String, ConfigError> {
        self.item.string()
    }

    pub(super) fn texts(&self) -> Result<Vec<String>, ConfigError> {
        self.item.lines()
    }

    pub(super) fn integer(&self) -> Result<i64, ConfigError> {
        self.item.number(1..=i64::MAX)
    }

    pub(super) fn integers(&self) -> Result<Vec<i64>, ConfigError> {
        let items = self.item.items("a list of whole numbers")?;
        items.iter().map(|item| item.number(1..=i64::MAX)).collect()
    }

    pub(super) fn ip(&self) -> Result<Ipv4Addr, ConfigError> {
        self.item.string()?.parse().map_err(|_| self.item.wrong("an IPv4 address"))
    }

    pub(super) fn orders(&self) -> Result<Vec<KnownOrder>, ConfigError> {
        let order = |order: &Section<'_>| {
            let (number, addresses) = (order.require("number")?, order.require("addresses")?);
            Ok(KnownOrder { number: number.string()?, addresses: addresses.lines()? })
        };
        let items = self.item.items("a list of { number = \"…\", addresses = [\"…\"] }")?;
        items.iter().map(|item| item.section(order)).collect()
    }

    pub(super) fn gateway_pools(&self) -> Result<Vec<GatewayPool>, ConfigError> {
        let pool = |pool: &Section<'_>| {
            let listed = pool.require("gateways")?;
            let gateway = |text: &String| {
                KnownGateway::parse(text)
                    .ok_or_else(|| listed.wrong(&format!("gateways as HOST:PORT, found `{text}`")))
            };
            let gateways = listed.lines()?.iter().map(gateway).collect::<Result<_, _>>()?;
            let (region, protocol) = (pool.require("region")?.string()?, pool.require("protocol")?.string()?);
            Ok(GatewayPool { region, protocol, gateways })
        };
        let expected = "a list of { region = \"…\", protocol = \"…\", gateways = [\"HOST:PORT\"] }";
        self.item.items(expected)?.iter().map(|item| item.section(pool)).collect()
    }

    pub(super) fn instances(&self) -> Result<Vec<KnownInstance>, ConfigError> {
        let path = self.item.file_path("{ file = \"PATH\" }")?;
        KnownInstance::read(&path).map_err(|reason| self.item.wrong(&reason))
    }

    pub(super) fn rejected_tokens(&self) -> Result<Vec<RejectedToken>, ConfigError> {
        let rejected = |rejected: &Section<'_>| {
            let (reason, token) = (rejected.require("reason")?, rejected.require("token")?);
            let reason =
                reason.named(RejectionReason::named, &RejectionReason::ALL.map(RejectionReason::name))?;
            let note = rejected.read("note", Item::string)?.unwrap_or_default();
            let token = token.secret(self.name)?;
            Ok(RejectedToken { token, reason, note })
        };
        let items = self.item.items("a list of { reason = \"…\", token = … }")?;
        items.iter().map(|item| item.section(rejected)).collect()
    }

    pub(super) fn secret(&self) -> Result<Secret, ConfigError> {
        self.item.secret(self.name)
    }

    pub(super) fn secrets(&self) -> Result<Vec<Secret>, ConfigError> {
        let text = self.item.secret(self.name)?;
        let lines = text.expose().lines().map(str::trim).filter(|line| !line.is_empty());
        Ok(lines.map(|line| Secret::new(self.name, line)).collect())
    }
}

/// A single value of a fact, or an item of a list. A new type is asked here for its secret.
pub(super) trait FactItem {
    fn secret(&self) -> Option<&Secret> {
        None
    }
}

macro_rules! without_secret {
    ($($item:ty),+) => { $(impl FactItem for $item {})+ };
}

without_secret!(String, i64, Ipv4Addr, KnownOrder, GatewayPool, KnownInstance);

impl FactItem for RejectedToken {
    fn secret(&self) -> Option<&Secret> {
        Some(&self.token)
    }
}

impl FactItem for Secret {
    fn secret(&self) -> Option<&Secret> {
        Some(self)
    }
}

/// A TOML string. It is that of JSON, but for one control character.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', r"\u007f")
}
