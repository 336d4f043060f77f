use std::convert::Infallible;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sallyport_conformance::Secret;
use sallyport_conformance::config::{Ceilings, time};
use sallyport_conformance::report::quantity;
use sallyport_conformance::run::Profile;

use super::integer;

/// The way to a service.
#[derive(Debug, Default, Args)]
#[group(id = "connection", multiple = true)]
pub(crate) struct ConnectionArguments {
    /// Allow plain HTTP to another machine; the token is then sent unencrypted.
    #[arg(long)]
    pub(crate) allow_http: bool,
    /// Let a request time out after this time, in seconds, for example 120 [default: 20].
    #[arg(long, value_name = "SECONDS", value_parser = integer::<NonZeroU32>(1..=u32::MAX.into()))]
    pub(crate) timeout: Option<NonZeroU32>,
    /// Also trust the PEM certificates in this file, for example those of a company's authority.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Show this PEM certificate, with its intermediate ones behind it, to a service that requires one.
    #[arg(long, value_name = "FILE")]
    pub(crate) client_certificate: Option<PathBuf>,
    /// Read the private key of the client certificate, PEM without a passphrase, from this file [default: that of
    /// --client-certificate].
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    pub(crate) client_key: Option<PathBuf>,
    /// Send requests through this proxy (http, https, socks4, socks4a, socks5, socks5h) [default: that of HTTPS_PROXY, HTTP_PROXY or
    /// ALL_PROXY, apart from hosts in NO_PROXY]. Set a proxy URL with a password in the configuration.
    #[arg(long, value_name = "URL", value_parser = secret("PROXY"))]
    pub(crate) proxy: Option<Secret>,
}

/// The target, the way to it, and the limits of the load on it.
#[derive(Debug, Default, Args)]
pub(crate) struct TargetArguments {
    /// Test the service at this URL, for example https://api.example.com.
    #[arg(long, value_name = "URL", env = "SALLYPORT_BASE_URL")]
    pub(crate) base_url: Option<String>,
    /// Test the embedded reference server with sample data, whatever base URL, token, fact or configuration the environment
    /// and the files have for a service.
    #[arg(long)]
    pub(crate) embedded: bool,
    /// Read this configuration file; `conformance init` writes one.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Limit the load on the target [default: production; full for the embedded server].
    #[arg(long, value_parser = profile(), long_help = profiles())]
    pub(crate) profile: Option<Profile>,
    /// Read the account's token from a file.
    #[arg(long, value_name = "FILE", group = "token")]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Read the account's token from standard input.
    #[arg(long, group = "token")]
    pub(crate) api_key_stdin: bool,
    /// Use this token of the account. Other users of this machine can see command lines; prefer --api-key-file.
    #[arg(long, value_name = "TOKEN", group = "token", value_parser = secret("API_KEY"))]
    pub(crate) api_key: Option<Secret>,
    #[command(flatten)]
    pub(crate) connection: ConnectionArguments,
    /// Wait up to this time, for example 60s or 5m, until the service responds at all; then run [default: do not wait].
    #[arg(long, value_name = "TIME", value_parser = time(1, 60 * 60))]
    pub(crate) wait: Option<Duration>,
    /// Send this header with every request; reports hide its value. May be repeated.
    #[arg(long, value_name = "NAME: VALUE", value_parser = secret("HEADER"))]
    pub(crate) header: Vec<Secret>,
    /// Send this header with every request; reports show its value. May be repeated.
    #[arg(long, value_name = "NAME: VALUE", value_parser = secret("HEADER"))]
    pub(crate) public_header: Vec<Secret>,
    #[command(flatten)]
    pub(crate) ceilings: Ceilings,
}

/// Parses an argument as a secret, so that no message shows it.
fn secret(name: &'static str) -> impl Fn(&str) -> Result<Secret, Infallible> + Clone + Send + Sync + 'static {
    move |text| Ok(Secret::new(name, text))
}

fn profile() -> impl TypedValueParser<Value = Profile> {
    let names = PossibleValuesParser::new(Profile::ALL.map(Profile::name));
    names.try_map(|name| Profile::named(&name).ok_or("unknown profile"))
}

/// The long help of `--profile`: the limits of each.
fn profiles() -> String {
    let line = |profile: Profile| {
        let budget = profile.budget();
        let rate = budget.rate.map_or_else(|| "any rate".to_owned(), |rate| format!("{rate} per second"));
        format!(
            "{}: at most {} ({rate}), {}, {} MiB of headers and bodies, {} s, {} at the same time",
            profile.name(),
            quantity(budget.requests, "request"),
            quantity(budget.gateways, "gateway"),
            budget.bytes >> 20,
            budget.wall.as_secs(),
            quantity(budget.concurrency, "check"),
        )
    };
    format!(
        "Limit the load on the target [default: production; full for the embedded server].\n\n{}\n\n`full` is for test environments.",
        Profile::ALL.map(line).join("\n")
    )
}
