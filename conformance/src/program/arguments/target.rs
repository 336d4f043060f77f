use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sallyport_conformance::Secret;
use sallyport_conformance::config::{Ceilings, Connection, secret, time};
use sallyport_conformance::report::quantity;
use sallyport_conformance::run::Profile;

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
    pub(crate) connection: Connection,
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
