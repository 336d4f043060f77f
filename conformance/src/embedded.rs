//! The reference server with sample data, for runs without a base URL. Nothing else in this crate knows the server.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

pub use sallyport_server::contract_page;
use sallyport_server::data::seed::{Sample, SeedError, seed};
use sallyport_server::domain::address::Address;
use sallyport_server::domain::instance::Id;
use sallyport_server::sandbox::{Sandbox, SandboxError, SandboxTokens};
use sallyport_server::{Config, RunningServer, StartError, start};

use crate::contract::Contract;
use crate::target::{
    Fact, Facts, GatewayPool, KnownGateway, KnownInstance, KnownOrder, RejectedToken, RejectionReason,
    Secret, Target, TargetError,
};

/// A running reference server, and the target that it makes.
#[derive(Debug)]
pub struct Reference {
    running: Box<RunningServer>,
    target: Target,
}

/// Why the reference server can't be had.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// No sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// No sample data.
    #[error("cannot store the sample data of the reference server: {0}")]
    Seed(#[from] SeedError),
    /// No address.
    #[error("cannot start the reference server: {0}")]
    Start(#[from] StartError),
    /// No target.
    #[error("cannot use the address of the reference server: {0}")]
    Target(#[from] TargetError),
}

impl Reference {
    /// Time that running calls have to end.
    const CLOSING: Duration = Duration::from_secs(5);

    /// Starts a server on a free port of the loopback interface, with sample data in a temporary database.
    ///
    /// # Errors
    /// When the database, the data or the port can't be had.
    pub async fn start() -> Result<Self, ReferenceError> {
        Self::start_with(SandboxTokens::Random).await
    }

    /// The same with tokens that may be the same each time.
    ///
    /// # Errors
    /// As for [`Reference::start`].
    pub async fn start_with(tokens: SandboxTokens) -> Result<Self, ReferenceError> {
        let sandbox = Sandbox::start_with(tokens, |config| config).await?;
        let target = sandbox_target(&sandbox)?;
        Ok(Self { running: sandbox.into_server().into(), target })
    }

    /// Starts the server that `config` describes, with sample data in its store, which has none yet. `url` tells how
    /// the suite reaches it, which may be by way of a proxy.
    ///
    /// # Errors
    /// When the data, the port or the URL can't be had.
    pub async fn reached_by(
        config: Config,
        url: impl FnOnce(&RunningServer) -> String,
    ) -> Result<Self, ReferenceError> {
        let sample = seed(config.store.as_ref()).await?;
        let running = start(config)?;
        let target = target(&url(&running), sample)?;
        Ok(Self { running: running.into(), target })
    }

    /// The server as a target, with every fact.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Stops the server.
    pub async fn close(self) {
        // Calls that are still running go down with the runtime.
        let _ = self.running.close(Self::CLOSING).await;
    }
}

/// A sandbox of the server as a target, with every fact.
///
/// # Errors
/// Never by what a sandbox is; an address that cannot be used would be a bug.
pub fn sandbox_target(sandbox: &Sandbox) -> Result<Target, TargetError> {
    target(&sandbox.base_url(), sandbox.sample().clone())
}

fn target(url: &str, sample: Sample) -> Result<Target, TargetError> {
    let token = Secret::new("API_KEY", sample.tokens.main.expose());
    Target::new(url, token, facts(sample), false)
}

fn texts(addresses: &BTreeSet<Address>) -> Vec<String> {
    addresses.iter().map(ToString::to_string).collect()
}

fn facts(sample: Sample) -> Facts {
    let tokens = sample.tokens;
    let secret = |fact: Fact, value: &str| Secret::new(fact.variable(), value);
    // The main account is entitled to each.
    let protocols = Contract::embedded().map(|contract| contract.extract.protocols.clone());
    let pool = |((region, protocol), gateways): (_, Vec<_>)| GatewayPool {
        region,
        protocol,
        gateways: gateways.into_iter().map(|(host, port)| KnownGateway { host, port }).collect(),
    };
    Facts {
        own_addresses: texts(&sample.addresses),
        orders: sample
            .orders
            .into_iter()
            .map(|(number, addresses)| KnownOrder { addresses: texts(&addresses), number })
            .collect(),
        foreign_addresses: texts(&sample.foreign_addresses),
        foreign_order: Some(sample.foreign_order),
        foreign_group: Some(sample.foreign_group.get()),
        shared_address: sample.shared_addresses.first().map(ToString::to_string),
        second_token: Some(secret(Fact::SecondToken, tokens.second.expose())),
        empty_token: Some(secret(Fact::EmptyToken, tokens.empty.expose())),
        link_credential: Some(secret(Fact::LinkCredential, tokens.link.expose())),
        revoked_token: Some(secret(Fact::RevokedToken, tokens.revoked.expose())),
        token_not_whitelisted: Some(secret(Fact::TokenNotWhitelisted, tokens.not_whitelisted.expose())),
        token_not_verified: Some(secret(Fact::TokenNotVerified, tokens.not_verified.expose())),
        token_not_entitled: Some(secret(Fact::TokenNotEntitled, tokens.not_entitled.expose())),
        token_partly_entitled: Some(secret(Fact::TokenPartlyEntitled, tokens.http_only.expose())),
        plentiful_region: Some(sample.plentiful_region),
        scarce_region: Some(sample.scarce_region),
        empty_region: Some(sample.empty_region),
        known_gateways: sample.gateways.into_iter().map(pool).collect(),
        entitled_protocols: protocols.unwrap_or_default(),
        own_groups: sample.groups.into_iter().map(Id::get).collect(),
        known_instances: sample
            .instances
            .into_iter()
            .filter_map(|instance| KnownInstance::from_fields(instance).ok())
            .collect(),
        rejected_tokens: vec![RejectedToken {
            token: secret(Fact::RejectedTokens, tokens.expired.expose()),
            reason: RejectionReason::Revoked,
            note: "it has expired".into(),
        }],
        egress_ip: Some(Ipv4Addr::LOCALHOST),
        canaries: sample.canaries.iter().map(|canary| secret(Fact::Canaries, canary)).collect(),
    }
}
