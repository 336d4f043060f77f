use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sallyport_conformance::config::{Config, Connection, TokenSource};
use sallyport_conformance::report::plain;
use sallyport_conformance::run::Profile;
use sallyport_conformance::target::{Fact, facts_from};
use sallyport_conformance::wire::{ClientIdentity, ExtraHeader, IdentityError, TokenRenewal, WireOptions};
use sallyport_conformance::{Options, Secret, Selection, Target, files, registry};

use super::arguments::{CONFIG, TargetArguments};
use super::lab::ProxyArguments;
use super::{UsageError, warn};

/// A forgotten base URL must not lead to a good verdict about another service.
const MISSING_BASE_URL: &str =
    "pass --base-url, set SALLYPORT_BASE_URL, or write base-url in the configuration";

const MISSING_TOKEN: &str =
    "missing token; set SALLYPORT_API_KEY to the account's token, or pass --api-key-file or --api-key-stdin";

const EMBEDDED_SERVER: &str = "the embedded server of this program";

/// Maximum size of a token with its line break, in bytes: no server takes a header as long.
const MAX_TOKEN_BYTES: u64 = 64 << 10;

/// Placeholder for the account's token where none is needed. No service has issued it.
const NO_TOKEN: &str = "no-token-was-given";

const PREFIX: &str = "SALLYPORT_";

/// From 0 to 1, of whole names.
const MIN_LIKENESS: f64 = 0.95;

const TOKEN: &str = "SALLYPORT_API_KEY";
const BASE_URL: &str = "SALLYPORT_BASE_URL";

/// What a command needs the account's token for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccountToken {
    /// Requests have it.
    Required,
    /// Some requests may have it.
    Optional,
    /// Nothing is sent.
    Unused,
}

/// The merged arguments, environment variables and configuration.
pub(crate) struct Setup {
    /// The target; none for the embedded reference server.
    pub(crate) target: Option<Target>,
    /// How to run, without the options of `run` alone.
    pub(crate) options: Options,
    config: Option<PathBuf>,
    /// Describes a token, a fact or a configuration that is meant for a service.
    information: Option<String>,
}

impl Setup {
    /// Arguments take precedence over environment variables, and those over the configuration.
    pub(crate) fn new(arguments: &TargetArguments, need: AccountToken) -> Result<Self, UsageError> {
        let setup = Self::with_token(arguments, need)?;
        let has_embedded_server = cfg!(feature = "embedded");
        if setup.target.is_some() || has_embedded_server && setup.information.is_none() {
            return Ok(setup);
        }
        let found = setup.information.as_ref().map(|found| format!(" for {found}")).unwrap_or_default();
        let advice = match (has_embedded_server, &setup.information) {
            (true, _) => "; to test the embedded server, pass --embedded",
            (false, Some(_)) => "",
            (false, None) => "; this build has no embedded server",
        };
        Err(format!("missing base URL{found}; {MISSING_BASE_URL}{advice}").into())
    }

    /// The same for the service behind the lab, whose callers have tokens of their own.
    pub(crate) fn of_upstream(arguments: &mut ProxyArguments) -> Result<(Target, WireOptions), UsageError> {
        let given = TargetArguments {
            base_url: arguments.upstream.clone().or_else(|| variable(BASE_URL)),
            config: arguments.config.clone(),
            connection: std::mem::take(&mut arguments.connection),
            ..TargetArguments::default()
        };
        let Self { target, options, .. } = Self::with_token(&given, AccountToken::Optional)?;
        let target = target.ok_or("the configuration has no base-url; write it there, or pass --upstream")?;
        Ok((target, options.wire))
    }

    pub(crate) fn has_token(target: &Target) -> bool {
        target.token.expose() != NO_TOKEN
    }

    /// Names the target and the configuration for the user.
    pub(crate) fn described(&self) -> Result<String, UsageError> {
        let target = match &self.target {
            None => "the embedded server with sample data".to_owned(),
            Some(target) => target.redactor(&self.options.wire)?.redact(target.base().as_str()),
        };
        let config = match &self.config {
            Some(file) => file.display().to_string(),
            None if Path::new(CONFIG).exists() => {
                format!("none; {CONFIG} in this folder is not read, pass --config {CONFIG} to use it")
            }
            None => "none".to_owned(),
        };
        let proxy = self.target.as_ref().and_then(|target| self.options.wire.proxy_of(target.base()));
        let proxy = proxy.map(|proxy| format!("{:>16} {}\n", "proxy", plain(&proxy))).unwrap_or_default();
        let (target, config) = (plain(&target), plain(&config));
        Ok(format!("{:>16} {target}\n{proxy}{:>16} {config}\n", "target", "configuration"))
    }

    fn with_token(arguments: &TargetArguments, need: AccountToken) -> Result<Self, UsageError> {
        let named = RefCell::default();
        let noted = |name: &str| {
            BTreeSet::insert(&mut named.borrow_mut(), name.to_owned());
            variable(name)
        };
        let config = match &arguments.config {
            Some(file) => Config::read(file, &noted)?,
            None => Config::default(),
        };
        warnings(&named.borrow()).iter().for_each(|text| warn(text));
        let Config {
            base_url,
            profile,
            selection,
            token,
            ceilings,
            connection,
            facts,
            expected,
            gates,
            inferred,
        } = config;
        let passed = given_token(arguments)?;
        let of_environment = |name: &str| variable(name).map(|_| format!("{name} in the environment"));
        let is_token_known = passed.is_some() || token.is_some();
        let of_facts = || {
            Fact::ALL.iter().find_map(|fact| {
                let of_configuration = format!("`{}` in `[facts]` of the configuration", fact.key());
                of_environment(fact.variable()).or(facts.has(*fact).then_some(of_configuration))
            })
        };
        let of_token = of_environment(TOKEN).filter(|_| passed.is_none());
        let information = of_token
            .or_else(|| is_token_known.then(|| "a token".to_owned()))
            .or_else(of_facts)
            .or_else(|| arguments.config.as_ref().map(|file| file.display().to_string()))
            .filter(|_| !arguments.embedded);
        let base_url = if arguments.embedded {
            // That of the environment is for the other commands.
            if arguments.base_url.is_some() && arguments.base_url != std::env::var(BASE_URL).ok() {
                return Err("--embedded cannot be used with --base-url".into());
            }
            None
        } else {
            arguments.base_url.clone().or(base_url)
        };
        // The way to a service leads nowhere near the embedded server.
        let connection = if arguments.embedded { Connection::default() } else { connection };
        let connection = arguments.connection.clone().over(connection);
        let given = passed.or_else(|| variable(TOKEN)).map(|token| Secret::new("API_KEY", token));
        let mut renewal = None;
        let target = match base_url {
            None => None,
            Some(base_url) => {
                let token = match (given, token) {
                    (Some(given), _) => given,
                    (None, Some(TokenSource::Given(token))) => token,
                    (None, Some(TokenSource::Command(command))) if need != AccountToken::Unused => {
                        let token = command.run()?;
                        renewal = Some(TokenRenewal::new(token.clone(), move || command.run().ok()));
                        token
                    }
                    _ if need != AccountToken::Required => Secret::new("API_KEY", NO_TOKEN),
                    _ => return Err(MISSING_TOKEN.into()),
                };
                let facts = facts_from(variable)?.over(facts);
                Some(Target::new(&base_url, token, facts, connection.allow_http)?)
            }
        };
        let mut curl_options = curl_options(&connection);
        let wire = WireOptions { renewal, ..wire(arguments, connection)? };
        if let Some(target) = &target {
            curl_options.extend(wire.curl_proxy(target.base()));
        }
        let named = arguments.profile.or(profile);
        let profile = named.unwrap_or(if target.is_some() { Profile::Production } else { Profile::Full });
        let budget = arguments.ceilings.over(ceilings.over(profile.budget()));
        let options = Options {
            selection,
            profile,
            budget,
            wire,
            expected,
            gates,
            inferred: inferred.unwrap_or_default(),
            implementation: target.is_none().then(|| EMBEDDED_SERVER.to_owned()),
            curl_options,
            ..Options::default()
        };
        Ok(Self { target, options, config: arguments.config.clone(), information })
    }
}

/// Chooses what runs by arguments before the configuration.
pub(crate) fn select(given: &Selection, options: &mut Options) -> Result<(), UsageError> {
    options.selection = given.over(std::mem::take(&mut options.selection));
    match options.selection.idle(&registry()) {
        None => Ok(()),
        Some(idle) => Err(format!("`{}` matches no check; see `conformance list`", idle.as_str()).into()),
    }
}

/// The tokens in the environment, canaries aside. A variable that cannot be read holds none that could be used.
#[cfg(feature = "embedded")]
pub(crate) fn secrets_of_environment() -> Vec<Secret> {
    let of_fact = |fact: Fact| facts_from(|name| variable(name).filter(|_| name == fact.variable())).ok();
    let facts = Fact::ALL.into_iter().filter(|fact| *fact != Fact::Canaries).filter_map(of_fact);
    let own = variable(TOKEN).map(|token| Secret::new("API_KEY", token));
    facts.flat_map(|facts| facts.secrets().cloned().collect::<Vec<_>>()).chain(own).collect()
}

fn given_token(arguments: &TargetArguments) -> Result<Option<String>, UsageError> {
    let text = if let Some(token) = &arguments.api_key {
        warn(
            "--api-key shows the token to every user of this machine; set SALLYPORT_API_KEY instead, or pass --api-key-file or \
             --api-key-stdin",
        );
        token.expose().to_owned()
    } else if let Some(file) = &arguments.api_key_file {
        files::read_text(file, MAX_TOKEN_BYTES).map_err(files::named(file))?
    } else if arguments.api_key_stdin {
        let read = files::read_text_from(std::io::stdin(), MAX_TOKEN_BYTES);
        read.map_err(|error| format!("standard input: {error}"))?
    } else {
        return Ok(None);
    };
    let token = text.trim();
    match token.lines().count() {
        1 => Ok(Some(token.to_owned())),
        0 => Err("expected the account's token and nothing else, found an empty text".into()),
        lines => Err(format!("expected the account's token on one line, found {lines} lines").into()),
    }
}

fn wire(arguments: &TargetArguments, connection: Connection) -> Result<WireOptions, UsageError> {
    let defaults = WireOptions::default();
    let read = |file: &Path| files::read(file, files::MAX_BYTES).map_err(files::named(file));
    let (ca_file, key) = (connection.ca_file.as_deref(), connection.client_key.as_deref());
    let authorities = ca_file.map(read).transpose()?;
    // An empty one would be taken for none.
    if let (Some(file), Some([])) = (ca_file, authorities.as_deref()) {
        return Err(
            format!("{}: expected certificates in PEM format, found an empty file", file.display()).into()
        );
    }
    let identity = connection.client_certificate.as_deref().map(|certificate| -> Result<_, UsageError> {
        let key_file = key.unwrap_or(certificate);
        let made = ClientIdentity::new(&read(certificate)?, &read(key_file)?);
        Ok(made.map_err(|error| match error {
            IdentityError::Certificate => format!("{}: {error}", certificate.display()),
            IdentityError::Key if key.is_none() => {
                format!("{}: {error}; pass the file that has it with --client-key", certificate.display())
            }
            IdentityError::Key | IdentityError::EncryptedKey => format!("{}: {error}", key_file.display()),
        })?)
    });
    let hidden = arguments.header.iter().map(|header| parsed_header(header.expose(), false));
    let public = arguments.public_header.iter().map(|header| parsed_header(header.expose(), true));
    let mut headers = connection.headers;
    headers.extend(hidden.chain(public).collect::<Result<Vec<_>, _>>()?);
    Ok(WireOptions {
        timeout: connection.timeout.unwrap_or(defaults.timeout),
        authorities: authorities.unwrap_or_default(),
        identity: identity.transpose()?,
        proxy: connection.proxy,
        headers,
        wait: arguments.wait.or(connection.wait).unwrap_or_default(),
        ..defaults
    })
}

/// Options of curl for the same certificates. curl reads the variables of a proxy itself.
fn curl_options(connection: &Connection) -> Vec<String> {
    let Connection { ca_file, client_certificate, client_key, .. } = connection;
    let files = [("--cacert", ca_file), ("--cert", client_certificate), ("--key", client_key)];
    let given = |(option, file): (&str, &Option<PathBuf>)| {
        Some([option.to_owned(), file.as_ref()?.display().to_string()])
    };
    files.into_iter().filter_map(given).flatten().collect()
}

/// Errors do not repeat the value, because it may be a secret.
fn parsed_header(header: &str, public: bool) -> Result<ExtraHeader, UsageError> {
    let (name, value) = header.split_once(':').ok_or("--header: expected NAME: VALUE, found no colon")?;
    Ok(ExtraHeader { name: name.trim().to_owned(), value: Secret::new("HEADER", value.trim()), public })
}

/// A variable without white space around it; none if it is empty.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// What is odd about the variables: misspelt names, and white space around values. `named` are those that the configuration names.
fn warnings(named: &BTreeSet<String>) -> Vec<String> {
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
