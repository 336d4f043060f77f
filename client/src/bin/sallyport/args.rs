use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
    value_parser,
};
use clap_complete::Shell;
use sallyport_client::{
    Protocol,
    contract::{ExtractProxies, SearchStaticInstances},
};

use crate::{
    failure::Failure,
    generated::{Filters, Listing},
    output, parse,
};

const COUNT_MINIMUM: i64 = ExtractProxies::NUM_MINIMUM;
const COUNT_MAXIMUM: i64 = ExtractProxies::NUM_MAXIMUM;
const PAGE_MINIMUM: i64 = SearchStaticInstances::PAGE_MINIMUM;
const PAGE_MAXIMUM: i64 = SearchStaticInstances::PAGE_MAXIMUM;
const PAGE_SIZE_MINIMUM: i64 = SearchStaticInstances::PAGE_SIZE_MINIMUM;
const PAGE_SIZE_MAXIMUM: i64 = SearchStaticInstances::PAGE_SIZE_MAXIMUM;

const HELP: &str = "\
The token is read from the environment variable SALLYPORT_API_KEY or --api-key-file. There is no argument for it, because every user of
the machine could read it there.

A command that fails ends with a line on standard error. With --json, or --format json or jsonl, this line is a JSON object:
{\"error\": {\"kind\": …, \"message\": …}}, with details, status, code, retryAfter, requestId (--request-id repeats the extraction),
traceId (the service's id of the response) and advice where they are known.

Exit codes:
  0    success, also with a partial result
  1    rejected by the service, or an unexpected response
  2    invalid usage, or an argument that breaks a limit; nothing was sent
  3    service unreachable, rate limit exceeded, timeout, or no gateway available; a later try may succeed (if
       the error shows a request id, repeat the extraction with it)
  4    cannot write the output
  130  interrupted with Ctrl-C; an extraction prints the request id that repeats it
  143  terminated with SIGTERM; an extraction prints the request id that repeats it

Examples:
  sallyport extract 5 --region USA | xargs -I{} curl -x http://{} https://example.org
  sallyport extract 5 --timeout 600 --retries 10
  sallyport groups --json | jq .name
  vault read -field=token secret/sallyport | sallyport groups --api-key-file -
  sallyport search --file addresses.txt --status active
  cat addresses.txt | sallyport search --file - --json | jq .ip";

/// Extract proxy gateways and query the static IP instances of an account.
#[derive(Parser)]
#[command(name = "sallyport", version, after_long_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Connection {
    /// Send requests to this base URL, such as https://api.invalid [default: that of SALLYPORT_BASE_URL].
    // clap would take a value of the environment for one of the command line, and name it in every usage.
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) base_url: Option<String>,
    /// Read the token from this file, such as /run/secrets/sallyport, or from standard input (-).
    #[arg(long, alias = "token-file", value_name = "FILE", global = true)]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Allow plain http to hosts other than this machine; the token is then sent unencrypted.
    #[arg(long, global = true)]
    pub(crate) allow_http: bool,
    /// Also trust the PEM certificates in this file, for example those of a company's authority.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) ca_file: Option<PathBuf>,
    /// Show this PEM certificate, with its intermediate ones behind it, to a service that requires one.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) client_certificate: Option<PathBuf>,
    /// Read the private key of the client certificate, PEM without a passphrase, from this file [default: that of
    /// --client-certificate].
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) client_key: Option<PathBuf>,
    /// Send requests through this proxy (http, https, socks4, socks4a, socks5, socks5h) [default: that of HTTPS_PROXY, HTTP_PROXY or
    /// ALL_PROXY, apart from hosts in NO_PROXY]. Set a proxy URL with a password in these variables.
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) proxy: Option<String>,
    /// End a call after this time, in seconds, retries and waits included.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, global = true)]
    #[arg(value_parser = value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) timeout: u32,
    /// Retry a failed request up to this many times.
    #[arg(long, value_name = "COUNT", default_value_t = 3, global = true)]
    #[arg(value_parser = value_parser!(u32), allow_negative_numbers = true)]
    pub(crate) retries: u32,
    /// Wait at most this long for a Retry-After of the service, in seconds, such as 30 [default: limited by --timeout only].
    #[arg(long, value_name = "SECONDS", global = true)]
    #[arg(value_parser = value_parser!(u32), allow_negative_numbers = true)]
    pub(crate) max_wait: Option<u32>,
    /// Report each wait before a retry on standard error, as is done on a terminal anyway.
    #[arg(long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Extract proxy gateways and print one host:port per line.
    Extract(ExtractOptions),
    #[command(flatten)]
    Listing(Listing),
    /// Search the account's static instances by address.
    #[command(
        override_usage = "sallyport search [OPTIONS] <ADDRESSES>...\n       sallyport search [OPTIONS] --file <FILE>"
    )]
    Search(Box<SearchOptions>),
    /// Print a completion script for a shell.
    Completions {
        /// Choose the shell.
        shell: Shell,
    },
    /// Write man pages, one for each command, to a folder that exists.
    Man {
        /// Folder, for example /usr/local/share/man/man1.
        folder: std::path::PathBuf,
    },
}

#[derive(Args)]
pub(crate) struct ExtractOptions {
    #[arg(help = format!("Extract this many gateways, from {COUNT_MINIMUM} to {COUNT_MAXIMUM}, such as 5"))]
    #[arg(value_parser = value_parser!(i64).range(COUNT_MINIMUM..=COUNT_MAXIMUM), allow_negative_numbers = true)]
    pub(crate) count: i64,
    /// Extract gateways of this country, by its code, which is sent in upper case, such as USA [default: any country].
    #[arg(long, value_name = "CODE", value_parser = parse::upper_case)]
    pub(crate) region: Option<String>,
    /// Extract gateways of this protocol [default: set by the service].
    #[arg(long, value_parser = parse::one_of::<Protocol>(Protocol::KNOWN))]
    pub(crate) protocol: Option<Protocol>,
    /// Repeat the extraction with this request id; it returns the same gateways [default: a new id].
    #[arg(long, value_name = "ID", value_parser = parse::text)]
    pub(crate) request_id: Option<String>,
    /// Choose the output format.
    #[arg(long, default_value = "lines", value_parser = Format::parser(&[Format::Lines, Format::Json]))]
    pub(crate) format: Format,
    /// Print one JSON object; short for --format json.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ListingOptions {
    /// Choose the output format.
    #[arg(long, default_value = "table", value_parser = Format::parser(&[Format::Table, Format::Json, Format::Jsonl]))]
    pub(crate) format: Format,
    /// Print JSON lines; short for --format jsonl.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct SearchOptions {
    /// Search these addresses: IP, IPv4:port or [IPv6]:port, such as 203.0.113.7 or [2001:db8::1]:8080.
    pub(crate) addresses: Vec<String>,
    /// Read addresses from this file, one per line, or from standard input (-); may be repeated. Skip empty lines and lines starting with #.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) filters: Filters,
    #[arg(help = format!("Print only the page with this number, from {PAGE_MINIMUM} to {PAGE_MAXIMUM} [default: all pages]"))]
    #[arg(long, value_name = "NUMBER")]
    #[arg(value_parser = value_parser!(i64).range(PAGE_MINIMUM..=PAGE_MAXIMUM), allow_negative_numbers = true)]
    pub(crate) page: Option<i64>,
    #[arg(help = format!(
        "Request this many instances per page, from {PAGE_SIZE_MINIMUM} to {PAGE_SIZE_MAXIMUM}, such as 100 \
         [default: {PAGE_SIZE_MAXIMUM}; with --page, the service's own]"
    ))]
    #[arg(long, value_name = "COUNT")]
    #[arg(value_parser = value_parser!(i64).range(PAGE_SIZE_MINIMUM..=PAGE_SIZE_MAXIMUM), allow_negative_numbers = true)]
    pub(crate) page_size: Option<i64>,
    /// Choose the output format.
    #[arg(long, default_value = "table", value_parser = Format::parser(&[Format::Table, Format::Jsonl]))]
    pub(crate) format: Format,
    /// Print JSON lines; short for --format jsonl.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// How a command prints its result; each command has some of these.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One host:port per line; a partial result is reported on standard error
    Lines,
    /// Columns for a terminal
    Table,
    /// One JSON value
    Json,
    /// One JSON object per line
    Jsonl,
}

impl Format {
    /// Reads the name of one of these formats.
    fn parser(formats: &'static [Self]) -> impl TypedValueParser<Value = Self> {
        let values = formats.iter().filter_map(Self::to_possible_value);
        PossibleValuesParser::new(values).try_map(|name| Self::from_str(&name, false))
    }
}

impl ListingOptions {
    /// Writes items, in a table with these columns, each with the member that it shows.
    pub(crate) fn write<T: serde::Serialize>(
        self,
        items: &[T],
        columns: &[(&str, &str)],
    ) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match if self.json { Format::Jsonl } else { self.format } {
            Format::Jsonl => items.iter().try_for_each(|item| output::json(&mut out, item))?,
            Format::Json => output::json(&mut out, &items)?,
            Format::Table | Format::Lines => output::table(&mut out, items, columns)?,
        }
        Ok(out.flush()?)
    }
}
