use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use jiff::Timestamp;
use sallyport_client::{InstanceStatus, Protocol};

const HELP: &str = "\
The token is taken from the environment variable SALLYPORT_API_KEY or from --token-file, never from an argument, which
every user of the machine could read.

Exit codes:
  0  done
  1  rejected by the service, or an answer that is not understood
  2  wrong usage, or something that the contract forbids; nothing was sent
  3  not reachable, throttled, short of resources or out of time: worth another try later
  4  the output could not be written

Examples:
  sallyport extract 5 --region USA | xargs -I{} curl -x http://{} https://example.org
  sallyport groups --format json
  sallyport search --file addresses.txt --status active --format csv > active.csv
  cat addresses.txt | sallyport search --file - --format jsonl | jq .ip";

/// Proxy gateways and static IP instances of an account.
#[derive(Parser)]
#[command(name = "sallyport", version, after_long_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args)]
pub(crate) struct Connection {
    /// Where the service is, such as https://api.invalid.
    #[arg(long, env = "SALLYPORT_BASE_URL", value_name = "URL", global = true)]
    pub(crate) base_url: Option<String>,
    /// File that holds the token.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// Allow plain http to other hosts than this machine.
    #[arg(long, global = true)]
    pub(crate) allow_http: bool,
    /// Longest time for one call with its retries, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, global = true)]
    pub(crate) timeout: u64,
    /// How often to try again.
    #[arg(long, value_name = "COUNT", default_value_t = 3, global = true)]
    pub(crate) retries: u32,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Take gateways out of the pool, one a line.
    Extract(ExtractOptions),
    /// List the account's groups.
    Groups(GroupsOptions),
    /// Find the account's instances by address.
    Search(Box<SearchOptions>),
    /// Write completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

#[derive(Args)]
pub(crate) struct ExtractOptions {
    /// How many gateways.
    pub(crate) count: u32,
    /// Country code of the gateways.
    #[arg(long)]
    pub(crate) region: Option<String>,
    /// Protocol that the gateways speak.
    #[arg(long, value_parser = protocol)]
    pub(crate) protocol: Option<Protocol>,
    /// Number of an extraction to repeat.
    #[arg(long, value_name = "ID")]
    pub(crate) request_id: Option<String>,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ExtractFormat,
}

#[derive(Args)]
pub(crate) struct GroupsOptions {
    /// Form of the output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: GroupsFormat,
}

#[derive(Args)]
pub(crate) struct SearchOptions {
    /// Addresses: IP, IPv4:port or [IPv6]:port.
    #[arg(required_unless_present = "file")]
    pub(crate) addresses: Vec<String>,
    /// File with one address a line, or - for standard input. Empty lines and those that begin with # are passed over.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Only instances of this order.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) order: Option<String>,
    /// Only instances of the group with this id.
    #[arg(long, value_name = "ID", conflicts_with = "ungrouped")]
    pub(crate) group: Option<i64>,
    /// Only instances of no group.
    #[arg(long)]
    pub(crate) ungrouped: bool,
    /// Only instances of this country.
    #[arg(long, value_name = "CODE")]
    pub(crate) country: Option<String>,
    /// Only instances of this city.
    #[arg(long, value_name = "CODE")]
    pub(crate) city: Option<String>,
    /// Only instances in this state.
    #[arg(long)]
    pub(crate) status: Option<InstanceStatus>,
    /// Only instances activated at this time or later, such as 2026-01-31T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) activated_from: Option<Timestamp>,
    /// Only instances activated at this time or earlier.
    #[arg(long, value_name = "TIME")]
    pub(crate) activated_to: Option<Timestamp>,
    /// One page only, counted from 1; all of them unless given.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) page: Option<u32>,
    /// Instances on a page.
    #[arg(long, value_name = "COUNT")]
    pub(crate) page_size: Option<u32>,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: SearchFormat,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum ExtractFormat {
    /// host:port
    #[default]
    Lines,
    Json,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum GroupsFormat {
    #[default]
    Table,
    Json,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum SearchFormat {
    #[default]
    Table,
    /// RFC 4180 for spreadsheets; control characters and backslashes are escaped with a backslash
    Csv,
    /// One JSON object a line
    Jsonl,
}

fn protocol(text: &str) -> Result<Protocol, String> {
    text.parse().map_err(|_| "the contract knows no such protocol".to_owned())
}
