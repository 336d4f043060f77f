//! The service under test: its base URL, the credentials, and what the tester knows about its data.

mod canary;
mod contradiction;
mod environment;
mod fact;
mod fact_form;
mod known_instance;
mod token_command;

use reqwest::Url;
use url::ParseError;

pub use crate::wire::Secret;
pub use canary::Canaries;
pub use environment::{EnvironmentError, facts_from};
pub use fact::{
    DiscoveredFact, Fact, Facts, GatewayPool, KnownGateway, KnownOrder, RejectedToken, RejectionReason,
};
pub use fact_form::quoted;
pub use known_instance::KnownInstance;
pub use token_command::{TokenCommand, TokenCommandError};

use crate::wire::{Redactor, ShortSecret, WireOptions, is_loopback};

/// The service under test.
#[derive(Debug, Clone)]
pub struct Target {
    base: Url,
    /// The account's token.
    pub token: Secret,
    /// What the tester knows. Each fact enables checks.
    pub facts: Facts,
    /// Facts that a run found out by itself. They held at that moment, and nobody vouches for them.
    pub discovered: Vec<Fact>,
}

/// Why a target can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Not a URL.
    #[error("invalid base URL: expected a URL such as https://api.example.com, found {0}")]
    Url(String),
    /// Plain http to another machine.
    #[error("the base URL is plain http, which sends the token unencrypted; use https, or pass --allow-http")]
    PlainHttp,
    /// A part that a base URL must not have.
    #[error("the base URL has {0}: expected scheme, host, port and perhaps a path only")]
    Part(&'static str),
    /// Facts that are invalid or contradict each other, one sentence each.
    #[error("nothing was sent, because facts are invalid: {}", .0.join("; "))]
    Facts(Vec<String>),
}

impl Target {
    /// A target at `base_url`. Plain http is only allowed on this machine, or if `allow_http` is set.
    ///
    /// # Errors
    /// When the URL is invalid, not http(s), or contains a user, a query or a fragment, and when facts contradict each other.
    pub fn new(base_url: &str, token: Secret, facts: Facts, allow_http: bool) -> Result<Self, TargetError> {
        let base = parsed(base_url)?;
        match base.scheme() {
            "https" => {}
            "http" if allow_http || is_loopback(&base) => {}
            "http" => return Err(TargetError::PlainHttp),
            other => return Err(TargetError::Url(format!("the scheme `{other}`"))),
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(TargetError::Part("a user or a password"));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(TargetError::Part("a query or a fragment"));
        }
        let contradictions = contradiction::contradictions(&token, &facts);
        if !contradictions.is_empty() {
            return Err(TargetError::Facts(contradictions));
        }
        Ok(Self { base, token, facts: facts.with_derived(), discovered: Vec::new() })
    }

    /// The same target with facts that a run has discovered, where none were supplied.
    pub fn with(&self, facts: Facts) -> Self {
        let discovered = Fact::ALL.into_iter().filter(|fact| facts.has(*fact)).collect();
        Self { facts: self.facts.clone().over(facts), discovered, ..self.clone() }
    }

    /// The base URL.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Every secret that requests or responses may contain.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        std::iter::once(&self.token).chain(self.facts.secrets())
    }

    /// Hides these secrets, and those of the options with which requests are sent.
    ///
    /// # Errors
    /// When one is too short to be hidden.
    pub fn redactor(&self, wire: &WireOptions) -> Result<Redactor, ShortSecret> {
        Redactor::new(self.secrets().cloned().chain(wire.secrets()))
    }
}

/// Parses a base URL. The error does not repeat it, because it may hold a password.
fn parsed(base_url: &str) -> Result<Url, TargetError> {
    let found = |what: &str| Err(TargetError::Url(what.to_owned()));
    match Url::parse(base_url) {
        _ if base_url.is_empty() => found("an empty text"),
        Ok(url) if !url.cannot_be_a_base() => Ok(url),
        // `localhost:8080`: to the parser the host is a scheme.
        Ok(_) | Err(ParseError::RelativeUrlWithoutBase) => found("no scheme; put https:// before the host"),
        Err(error) => found(&error.to_string()),
    }
}
