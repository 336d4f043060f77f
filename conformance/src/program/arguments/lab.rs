use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use sallyport_conformance::config::Connection;

use super::{ListFormat, integer, loopback};

#[cfg(feature = "embedded")]
pub(crate) use sallyport_conformance::lab::SandboxTokens;
/// Not read: without the embedded server, --embedded is an error.
#[cfg(not(feature = "embedded"))]
pub(crate) type SandboxTokens = String;

/// What the lab serves, and where.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("backend").required(true).multiple(true).args(["upstream", "embedded", "config"]))]
pub(crate) struct ProxyArguments {
    /// Proxy the service at this URL, for example https://staging.example.com. Its redirects are passed on, not followed.
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// Proxy the embedded reference server with sample data.
    #[arg(long, conflicts_with_all = ["upstream", "config", "connection"])]
    pub(crate) embedded: bool,
    /// Choose the tokens of the embedded server: `random`, `fixed` for the same ones each time, or a seed such as 7 for others
    /// [default: random]. Everybody who has this program can know tokens that are not random.
    #[arg(long, value_name = "TOKENS", conflicts_with_all = ["upstream", "config"])]
    pub(crate) sandbox_tokens: Option<SandboxTokens>,
    /// Choose the output format; json prints an object with the addresses and, with --embedded, the token, then one object for
    /// each request, each on a line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ListFormat::Text, hide_possible_values = true)]
    pub(crate) output: ListFormat,
    /// Take the upstream, its token and the facts from this configuration file, as `run` does. --upstream and environment
    /// variables take precedence over it.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Break a clause in this way, for example search.paging/overlap; may be repeated. `conformance faults` lists the ids.
    #[arg(long, value_name = "ID")]
    pub(crate) fault: Vec<String>,
    /// Decide unspecified behaviour in this way, for example http.in-pieces; may be repeated. `conformance variations` lists the
    /// ids.
    #[arg(long, value_name = "ID")]
    pub(crate) variation: Vec<String>,
    /// Play the scenarios of this file, for example busy.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,
    /// Choose a variation at random for each request, so that clients cannot rely on unspecified behaviour.
    #[arg(long)]
    pub(crate) pedantic: bool,
    /// Choose the variations of --pedantic by this seed, for example 7 [default: a random one, which is printed].
    #[arg(long, value_name = "N", requires = "pedantic", value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,
    /// Listen on this address; port 0 chooses a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Serve the control endpoint (change and reset scenarios, read the log) on this loopback address.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = loopback)]
    pub(crate) control: SocketAddr,
    #[command(flatten)]
    pub(crate) connection: Connection,
}
