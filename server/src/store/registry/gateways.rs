//! Gateways of the pool. Lists hold no passwords.

use std::fmt;

use serde::Serialize;

use super::{FromRow, ListEntry, Query, Registry, RegistryError, Result, Row, Session, from_row};
use crate::{
    domain::protocol::Protocol,
    store::{StoreError, packed::spin, record::GatewayRecord, record::ProxyPassword},
};

/// A gateway as [`GatewayRecord`], but without its password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the record, and whether it has a password")]
pub struct GatewayEntry {
    pub host: String,
    pub port: u16,
    pub region: String,
    pub protocol: Protocol,
    pub username: Option<String>,
    pub has_password: bool,
}

/// Selects gateways.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each field asks for equality with the field of that name")]
pub struct GatewayFilter {
    pub host: Option<String>,
    pub region: Option<String>,
    pub protocol: Option<Protocol>,
}

/// A host with a port, and optionally the region and protocol of a gateway there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayName {
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Region; `None` for all.
    pub region: Option<String>,
    /// Protocol; `None` for all.
    pub protocol: Option<Protocol>,
}

impl fmt::Display for GatewayName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, region, protocol } = self;
        write!(f, "{}:{port}", host.escape_debug())?;
        if let Some(region) = region {
            write!(f, " in {}", region.escape_debug())?;
        }
        protocol.iter().try_for_each(|protocol| write!(f, " for {protocol}"))
    }
}

impl ListEntry for GatewayEntry {
    type Filter = GatewayFilter;

    fn query(_: &mut dyn Session, filter: &GatewayFilter) -> Result<Query> {
        let GatewayFilter { host, region, protocol } = filter;
        Ok(Query::new(
            "SELECT host, port, region, protocol, username, password IS NOT NULL FROM gateways WHERE TRUE",
        )
        .only("host", host.as_deref())
        .only("region", region.as_deref())
        .only("protocol", *protocol)
        .then("ORDER BY id"))
    }
}

from_row!(GatewayEntry: host, port, region, protocol, username, has_password);

impl Registry {
    /// Adds a gateway to the pool.
    ///
    /// # Errors
    /// The gateway already exists.
    pub async fn add_gateway(&self, gateway: GatewayRecord) -> Result<()> {
        self.change(move |session| {
            let GatewayRecord { host, port, region, protocol, username, password } = gateway;
            session.lock_numbers()?;
            let number = session.number("SELECT coalesce(max(id), 0) FROM gateways", &[])?.saturating_add(1);
            let password = password.as_ref().map(ProxyPassword::expose);
            let added = session.execute(
                "INSERT INTO gateways (id, host, port, region, protocol, spin, username, password)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (host, port, region, protocol) DO NOTHING",
                &[
                    number.into(),
                    host.as_str().into(),
                    port.into(),
                    region.as_str().into(),
                    protocol.into(),
                    spin(number).into(),
                    username.as_deref().into(),
                    password.into(),
                ],
            )?;
            if added == 0 {
                return Err(RegistryError::AlreadyExists(format!(
                    "a {protocol} gateway {}:{port} already exists in {}; remove it first to change it",
                    host.escape_debug(),
                    region.escape_debug()
                )));
            }
            Ok(())
        })
        .await
    }

    /// Number of gateways that match.
    ///
    /// # Errors
    /// No gateway matches.
    pub async fn count_gateways(&self, name: GatewayName) -> Result<u64> {
        self.read(move |session| {
            let query = name.query("SELECT count(*) FROM gateways WHERE TRUE");
            match session.number(&query.sql, &query.values)? {
                0 => Err(unknown(&name)),
                count => Ok(count.unsigned_abs()),
            }
        })
        .await
    }

    /// Removes the gateways that match from the pool. Returns their number.
    ///
    /// # Errors
    /// No gateway matches.
    pub async fn remove_gateways(&self, name: GatewayName) -> Result<u64> {
        self.change(move |session| {
            let query = name.query("DELETE FROM gateways WHERE TRUE");
            match session.execute(&query.sql, &query.values)? {
                0 => Err(unknown(&name)),
                count => Ok(count),
            }
        })
        .await
    }
}

impl GatewayName {
    fn query(&self, sql: &str) -> Query {
        Query::new(sql)
            .only("host", Some(self.host.as_str()))
            .only("port", Some(self.port))
            .only("region", self.region.as_deref())
            .only("protocol", self.protocol)
    }
}

fn unknown(name: &GatewayName) -> RegistryError {
    RegistryError::Unknown(format!("unknown gateway {name}; `server gateway list` shows all"))
}
