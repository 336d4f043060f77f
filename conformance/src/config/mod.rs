//! `conformance.toml`: what a tester knows about an environment. Everything is optional.
//!
//! Arguments take precedence over environment variables, and those over the file.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::document::{ConfigError, advice};
pub use crate::quantity::{integer, time};
pub use crate::target::quoted;

use clap::Args;

use crate::check::InferredClauses;
use crate::contract::{Clause, Contract};
use crate::document::{Document, Item, Section};
use crate::files;
use crate::run::{ExpectedFailure, Gates, Glob, Profile, Selection};
use crate::target::{Fact, Facts, Secret, TokenCommand};
use crate::wire::{Budget, ExtraHeader, proxy};

/// The contents of a configuration.
#[derive(Debug, Default)]
pub struct Config {
    /// Base URL of the target.
    pub base_url: Option<String>,
    /// Name of the profile, which limits the load on the target.
    pub profile: Option<Profile>,
    /// Which checks run.
    pub selection: Selection,
    /// Where the account's token comes from.
    pub token: Option<TokenSource>,
    /// Limits that differ from those of the profile.
    pub ceilings: Ceilings,
    /// Timeout, certificates, proxy and headers.
    pub connection: Connection,
    /// Facts about its data.
    pub facts: Facts,
    /// Clauses that are expected to fail.
    pub expected: Vec<ExpectedFailure>,
    /// Requirements that a run must meet to conform.
    pub gates: Gates,
    /// Severity of findings on inferred clauses.
    pub inferred: Option<InferredClauses>,
}

/// Where the account's token comes from.
#[derive(Debug)]
pub enum TokenSource {
    /// A variable or a file, which was read.
    Given(Secret),
    /// What this command prints.
    Command(TokenCommand),
}

/// Limits that differ from those of the profile: arguments, and keys of `[budget]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Ceilings {
    /// Send at most N requests; reaching a limit ends the run without a verdict [default: that of the profile]
    #[arg(long = "max-requests", value_name = "N", value_parser = integer::<u64>(1..=u64::MAX))]
    pub requests: Option<u64>,
    /// Extract at most N gateways; the README says how a target can exceed it [default: that of the profile]
    #[arg(long = "max-gateways", value_name = "N", value_parser = integer::<u64>(0..=u64::MAX))]
    pub gateways: Option<u64>,
    /// Send and receive at most N bytes of headers and bodies in all [default: that of the profile]
    #[arg(long = "max-bytes", value_name = "N", value_parser = integer::<u64>(1..=u64::MAX))]
    pub bytes: Option<u64>,
    /// End the run after this time, in seconds (at least 1) [default: that of the profile]
    #[arg(long = "max-seconds", value_name = "SECONDS", value_parser = seconds)]
    pub wall: Option<Duration>,
    /// Send at most N requests per second [default: that of the profile]
    #[arg(long, value_name = "N", value_parser = integer::<NonZeroU32>(1..=u32::MAX.into()))]
    pub rate: Option<NonZeroU32>,
    /// Run at most N checks at the same time [default: that of the profile]
    #[arg(long, value_name = "N", value_parser = integer::<usize>(1..=u8::MAX.into()))]
    pub concurrency: Option<usize>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    integer::<u64>(1..=u32::MAX.into())(text).map(Duration::from_secs)
}

/// The way to a service: arguments, and keys of `[connection]`.
#[derive(Debug, Clone, Default, Args)]
#[group(id = "connection", multiple = true)]
pub struct Connection {
    /// Allow plain HTTP to another machine; the token is then sent unencrypted.
    #[arg(long)]
    pub allow_http: bool,
    /// Let a request time out after this time, in seconds (at least 1), for example 120 [default: 20].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Also trust the PEM certificates in this file, for example those of a company's authority.
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Show this PEM certificate, with its intermediate ones behind it, to a service that requires one.
    #[arg(long, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,
    /// Read the private key of the client certificate, PEM without a passphrase, from this file [default: that of
    /// --client-certificate].
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    pub client_key: Option<PathBuf>,
    /// Send requests through this proxy (http, https, socks4, socks4a, socks5, socks5h) [default: that of HTTPS_PROXY, HTTP_PROXY or
    /// ALL_PROXY, apart from hosts in NO_PROXY]. Set a proxy URL with a password in the configuration.
    #[arg(long, value_name = "URL", value_parser = secret("PROXY"))]
    pub proxy: Option<Secret>,
    /// How long to wait until the target responds at all, from a second to an hour.
    #[arg(skip)]
    pub wait: Option<Duration>,
    /// Headers to add to every request.
    #[arg(skip)]
    pub headers: Vec<ExtraHeader>,
}

/// Parses an argument as a secret, so that no message shows it.
pub fn secret(
    name: &'static str,
) -> impl Fn(&str) -> Result<Secret, Infallible> + Clone + Send + Sync + 'static {
    move |text| Ok(Secret::new(name, text))
}

impl Config {
    /// Reads a configuration. `variable` looks up environment variables for secrets.
    ///
    /// # Errors
    /// Names the file, the line and what to do.
    pub fn read(file: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let text = files::read_text(file, files::MAX_BYTES)
            .map_err(|error| ConfigError::of_file(file, format!("cannot be read: {error}")))?;
        Self::parse(file, &text, variable)
    }

    /// Parses the text of a configuration. `file` names it in errors, and paths are relative to its folder.
    ///
    /// # Errors
    /// As for [`Config::read`].
    pub fn parse(
        file: &Path,
        text: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        Document::parse(file, text, variable, |root| {
            let connection = root.section("connection", connection)?;
            let mut connection = connection.unwrap_or_default();
            connection.allow_http = root.read("allow-http", Item::boolean)?.unwrap_or(false);
            Ok(Self {
                base_url: root.read("base-url", Item::string)?,
                profile: root
                    .read("profile", |item| item.named(Profile::named, &Profile::ALL.map(Profile::name)))?,
                selection: Selection { only: globs(root, "only")?, skip: globs(root, "skip")? },
                token: root.read("api-key", token)?,
                ceilings: root.section("budget", ceilings)?.unwrap_or_default(),
                connection,
                facts: root.section("facts", Facts::read)?.unwrap_or_default(),
                expected: root.read("expected-failure", expected)?.unwrap_or_default(),
                gates: root.section("gates", gates)?.unwrap_or_default(),
                inferred: root.read("inferred", |item| {
                    item.named(InferredClauses::named, &InferredClauses::ALL.map(InferredClauses::name))
                })?,
            })
        })
    }
}

impl Ceilings {
    /// The budget with these limits in place of its own.
    pub fn over(&self, budget: Budget) -> Budget {
        Budget {
            requests: self.requests.unwrap_or(budget.requests),
            gateways: self.gateways.unwrap_or(budget.gateways),
            bytes: self.bytes.unwrap_or(budget.bytes),
            wall: self.wall.unwrap_or(budget.wall),
            rate: self.rate.or(budget.rate),
            concurrency: self.concurrency.unwrap_or(budget.concurrency),
        }
    }
}

impl Connection {
    /// These values, or else those of `under`.
    pub fn over(self, under: Self) -> Self {
        // A key belongs to the certificate beside it.
        let identity = if self.client_certificate.is_some() { &self } else { &under };
        let (client_certificate, client_key) =
            (identity.client_certificate.clone(), identity.client_key.clone());
        Self {
            allow_http: self.allow_http || under.allow_http,
            timeout: self.timeout.or(under.timeout),
            ca_file: self.ca_file.or(under.ca_file),
            client_certificate,
            client_key,
            proxy: self.proxy.or(under.proxy),
            wait: self.wait.or(under.wait),
            headers: [under.headers, self.headers].concat(),
        }
    }
}

/// The token of the account: `{ env = "NAME" }`, `{ file = "PATH" }` or `{ command = ["PROGRAM", "ARGUMENT"] }`.
fn token(item: &Item<'_>) -> Result<TokenSource, ConfigError> {
    let command = |source: &Section<'_>| {
        let words = source.read("command", Item::strings)?;
        // Without a command, the other keys are read and checked as those of any secret.
        if words.is_none() {
            source.entries();
        }
        Ok(words)
    };
    match item.is_table().then(|| item.section(command)).transpose()?.flatten() {
        Some(words) => TokenCommand::new(words)
            .map(TokenSource::Command)
            .ok_or_else(|| item.wrong("a program and its arguments in `command`")),
        None => item.secret("API_KEY").map(TokenSource::Given),
    }
}

fn globs(section: &Section<'_>, key: &str) -> Result<Vec<Glob>, ConfigError> {
    let patterns = section.read(key, Item::strings)?.unwrap_or_default();
    Ok(patterns.into_iter().map(Glob::new).collect())
}

fn ceilings(section: &Section<'_>) -> Result<Ceilings, ConfigError> {
    let number = |key: &str, min: i64| section.read(key, |item| item.number::<u64>(min..=i64::MAX));
    let rate = section.read("rate", |item| item.number(1..=u32::MAX.into()))?;
    Ok(Ceilings {
        requests: number("requests", 1)?,
        gateways: number("gateways", 0)?,
        bytes: number("bytes", 1)?,
        wall: number("seconds", 1)?.map(Duration::from_secs),
        rate: rate.and_then(NonZeroU32::new),
        concurrency: section.read("concurrency", |item| item.number(1..=u8::MAX.into()))?,
    })
}

fn gates(section: &Section<'_>) -> Result<Gates, ConfigError> {
    let all = Contract::embedded().map_or(0, |contract| contract.catalogue.observable().count());
    let all = i64::try_from(all).unwrap_or(i64::MAX);
    Ok(Gates {
        require: globs(section, "require")?,
        min_clauses: section.read("min-clauses", |item| item.number(1..=all))?,
        min_detection: section.read("min-detection", |item| item.number(1..=100))?,
        fail_on_skip: section.read("fail-on-skip", Item::boolean)?.unwrap_or(false),
        fail_on_warning: section.read("fail-on-warning", Item::boolean)?.unwrap_or(false),
    })
}

fn connection(section: &Section<'_>) -> Result<Connection, ConfigError> {
    let timeout = section.read("timeout-seconds", |item| item.number(1..=3_600))?;
    let proxy = section.read("proxy", |item| match item.is_string() {
        true => proxy_text(item).map(|text| Secret::new("PROXY", text)),
        false => item.secret("PROXY"),
    })?;
    let headers = section.section("headers", |headers| {
        headers.entries().into_iter().map(|(name, item)| header(name, &item)).collect()
    })?;
    let file_of = |key: &str| -> Result<Option<PathBuf>, ConfigError> {
        let path = |item: &Item<'_>| match item.string()? {
            path if path.is_empty() => Err(item.wrong("the path of a file")),
            path => Ok(item.beside(&path)),
        };
        section.read(key, path)
    };
    let (client_certificate, client_key) = (file_of("client-certificate")?, file_of("client-key")?);
    if let (Some(key), None) = (section.get("client-key"), &client_certificate) {
        return Err(key.wrong("`client-certificate` beside it"));
    }
    Ok(Connection {
        timeout: timeout.map(Duration::from_secs),
        ca_file: file_of("ca-file")?,
        client_certificate,
        client_key,
        proxy,
        wait: section
            .read("wait", |item| time(1, 60 * 60)(&item.string()?).map_err(|error| item.because(&error)))?,
        headers: headers.unwrap_or_default(),
        ..Connection::default()
    })
}

/// The URL of a proxy, which must not have a password in the configuration itself.
fn proxy_text(item: &Item<'_>) -> Result<String, ConfigError> {
    let text = item.string()?;
    match proxy::parse(&text) {
        Some(url) if url.password().is_none() => Ok(text),
        Some(_) => Err(item.wrong("a URL without a password, or { env = \"NAME\" } or { file = \"PATH\" }")),
        None => Err(item.wrong(proxy::EXPECTED)),
    }
}

fn header(name: String, item: &Item<'_>) -> Result<ExtraHeader, ConfigError> {
    let public = item.is_string();
    let value = if public { Secret::new("HEADER", item.string()?) } else { item.secret("HEADER")? };
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(token) || value.expose().chars().any(char::is_control) {
        return Err(item.wrong("a header's name and a value on one line"));
    }
    Ok(ExtraHeader { name, value, public })
}

fn expected(item: &Item<'_>) -> Result<Vec<ExpectedFailure>, ConfigError> {
    let entry = |entry: &Section<'_>| {
        let item = entry.require("clause")?;
        let id = item.string()?;
        let known = || Clause::ALL.iter().map(|clause| clause.id()).collect::<Vec<_>>();
        let clause = Clause::from_id(&id).ok_or_else(|| item.unknown("clause", &id, &known()))?;
        let (reason, until) = (entry.require("reason")?.string()?, entry.require("until")?.date()?);
        Ok(ExpectedFailure { clause, reason, until })
    };
    let items = item.items("a list of tables: [[expected-failure]]")?;
    items.iter().map(|item| item.section(entry)).collect()
}

const TEMPLATE: &str = include_str!("template.toml");

/// A configuration with a comment on every key, in which every key is commented out.
pub fn template() -> String {
    let fact = |fact: Fact| format!("# {}\n# {} = {}\n", fact.description(), fact.key(), fact.example());
    let values = [
        ("{profiles}", Profile::ALL.map(Profile::name).join(", ")),
        ("{default-profile}", Profile::Production.name().to_owned()),
        ("{gateways}", Profile::Full.budget().gateways.to_string()),
        ("{facts}", Fact::ALL.into_iter().map(fact).collect()),
    ];
    values.into_iter().fold(TEMPLATE.to_owned(), |text, (name, value)| text.replace(name, &value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_example_of_a_fact_is_read() {
        // There are no such files.
        let with_file = [Fact::KnownInstances, Fact::Canaries];
        for fact in Fact::ALL.into_iter().filter(|fact| !with_file.contains(fact)) {
            let text = format!("[facts]\n{} = {}", fact.key(), fact.example().replace("NAME", "HELD"));
            let variable = |name: &str| (name == "HELD").then(|| "hunter2".to_owned());
            let config = Config::parse(Path::new("c.toml"), &text, &variable).expect(&text);
            assert!(config.facts.has(fact), "{text}");
        }
    }
}
