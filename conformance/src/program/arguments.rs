mod client;

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use sallyport_conformance::check::InferredClauses;
use sallyport_conformance::config::{Ceilings, Connection, integer, secret, time};
use sallyport_conformance::report::{Format, quantity};
use sallyport_conformance::run::{Gates, Glob, Profile};
use sallyport_conformance::{Secret, Selection};

pub(crate) use self::client::ClientArguments;
use super::judge::JudgeArguments;
use super::lab::ProxyArguments;
use super::observe::ObserveArguments;
use super::reports::ReportRequest;
use super::watch::WatchArguments;

/// The file that `init` writes. Read only with `--config`: a file that happens to be in the folder must not decide where tokens go.
pub(crate) const CONFIG: &str = "conformance.toml";

/// Examples and exit codes of a command, in a file of its own.
macro_rules! help {
    ($command:literal) => {
        include_str!(concat!("help/", $command, ".txt")).trim_ascii_end()
    };
}

/// Test whether a service conforms to the Sallyport contract.
///
#[cfg_attr(
    feature = "embedded",
    doc = "Without a subcommand, run the checks. Without --base-url, test the embedded reference server with sample data."
)]
#[cfg_attr(
    not(feature = "embedded"),
    doc = "Without a subcommand, run the checks. This build has no embedded server: pass --base-url or --config."
)]
#[derive(Debug, Parser)]
#[command(name = "conformance", version, args_conflicts_with_subcommands = true, after_help = help!("run"))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

impl Arguments {
    /// Reads the arguments of this process. A negative number reaches its argument, which says what it expects.
    pub(crate) fn read() -> Self {
        let matches = with_negative_numbers(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let allow = |arg: clap::Arg| {
        let takes_values = arg.get_action().takes_values();
        arg.allow_negative_numbers(takes_values)
    };
    command.mut_args(allow).mut_subcommands(with_negative_numbers)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the checks.
    #[command(after_help = help!("run"))]
    Run(Box<RunArguments>),
    /// Print which checks would run, their cost, the known faults they would notice, and which would be skipped and why; send
    /// nothing. Needs no token.
    Plan(Box<RunArguments>),
    /// List the checks with the clauses they cite.
    List {
        /// Choose the output format.
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Explain a clause: its text, the meaning of a failure, a sample request, and the checks that cite it. Also a check, an
    /// unspecified behaviour (open.…), or a duty of callers (client.…).
    Explain {
        /// Its id, for example search.match-port, or a pattern such as 'search.*', which lists what it matches.
        clause: String,
    },
    /// Run the checks of all findings of a report again, or of one check, and say for each finding whether it is fixed, still
    /// failing or not reproduced. The exit code is 0 only if all are fixed.
    ///
    /// Tokens are sent only to --base-url (or `base-url` of the configuration), never to the target that the report names.
    #[command(after_help = help!("replay"))]
    Replay {
        /// Report in JSON.
        report: PathBuf,
        /// Id of a check or of one of its findings, for example search.match-port.subset or search.match-port.subset#2 [default: each
        /// check with a finding].
        check: Option<String>,
        /// Allow another target than that of the report, for example
        /// `replay report.json search.total --base-url https://staging.example.com --allow-other-target`.
        #[arg(long)]
        allow_other_target: bool,
        #[command(flatten)]
        target: TargetArguments,
    },
    /// Write one finding of a report as one file that can be sent to the provider: the clause with its place in the document, the
    /// requests and responses with times and ids, and the commands that send them again. It holds no secret.
    #[command(after_help = help!("evidence"))]
    Evidence {
        /// Report in JSON.
        report: PathBuf,
        /// Id of the finding: its check, and its number if the check has several, for example search.total#2. Reports name it.
        finding: String,
        /// File to write, *.html or *.md.
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
    },
    /// Print the violated clauses of a report as [[expected-failure]] entries for the configuration.
    Baseline {
        /// Report in JSON.
        report: PathBuf,
        /// State why they are accepted, for example `--reason 'ticket 123'`.
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// Accept them up to this day [default: in 90 days].
        #[arg(long, value_name = "YYYY-MM-DD")]
        until: Option<jiff::civil::Date>,
    },
    /// Record how a target behaves in each case, unspecified behaviour included.
    Record {
        /// Folder to write to, one file for each case.
        folder: PathBuf,
        #[command(flatten)]
        target: TargetArguments,
    },
    /// Compare a recording with another one, or with the current behaviour of a target.
    Compare {
        /// Folder of a recording.
        before: PathBuf,
        /// Folder of another recording [default: record the target now]
        after: Option<PathBuf>,
        #[command(flatten)]
        target: TargetArguments,
    },
    /// Judge recorded traffic: an HTTP Archive (HAR) of a browser, a proxy or `--report har=FILE`. Send nothing.
    ///
    /// The passive checks judge each exchange by itself, and extractions that were repeated under a request id are compared. Needs no
    /// token, and prints none from the file.
    #[command(after_help = help!("observe"))]
    Observe(ObserveArguments),
    /// Judge one exchange from the field: which clauses it can show, whether it violates them, and with --base-url the smallest
    /// request, or pair of requests, that shows it again.
    #[command(after_help = help!("judge"))]
    Judge(Box<JudgeArguments>),
    /// Repeat the run at an interval, report changes of the verdict and of each clause, and serve the latest report and its metrics
    /// on the loopback interface.
    ///
    /// Runs do not retry, so that the metrics show how often a clause is violated. SIGINT or SIGTERM ends the program with exit
    /// code 0 and discards the current run.
    #[command(after_help = help!("watch"))]
    Watch(Box<WatchArguments>),
    /// List the faults that `proxy` can inject: ways to break a clause, with the operations whose requests they affect.
    Faults {
        /// List only faults whose id matches, for example 'search.paging/*'.
        glob: Option<Glob>,
        /// List only faults that break this clause, for example search.paging.
        #[arg(long, value_name = "CLAUSE")]
        clause: Option<String>,
        /// Print a JSON array of objects with id, clause, sentence and operations.
        #[arg(long)]
        json: bool,
    },
    /// List the variations that `proxy` can apply: conforming behaviour that differs from the reference server where the contract leaves it open.
    Variations {
        /// List only variations whose id matches, for example 'http.*'.
        glob: Option<Glob>,
        /// Print a JSON array of ids.
        #[arg(long)]
        json: bool,
    },
    /// Proxy a service and inject faults, variations or scenarios, until Ctrl-C; print each change.
    #[command(after_help = help!("proxy"))]
    Proxy(Box<ProxyArguments>),
    /// Test a client: run a command once for each case in front of a misbehaving server, and judge the duties of callers.
    ///
    /// The command reads one JSON object from standard input and writes one to standard output; conformance/CLIENTS.md describes
    /// both.
    #[command(after_help = help!("client"))]
    Client(Box<ClientArguments>),
    /// Write a configuration with a comment on every key.
    Init {
        /// File to write.
        #[arg(default_value = CONFIG)]
        file: PathBuf,
        /// Overwrite an existing file.
        #[arg(long)]
        force: bool,
    },
    /// Print the contract as an HTML page, with the error codes of the reference server, for example to contract.html.
    Docs,
    /// Print the JSON Schema of the JSON report.
    Schema,
    /// Print a completion script for a shell.
    Completions {
        /// Choose the shell.
        shell: clap_complete::Shell,
    },
    /// Write man pages, one for each command, to a folder that exists.
    Man {
        /// Folder, for example /usr/local/share/man/man1.
        folder: PathBuf,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// One check per line.
    Text,
    /// A JSON array of objects.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Also write reports: html, json, junit, sarif, md, comment, prometheus or har, for example
    /// html=report.html,json=report.json; json=- writes to standard output. `comment` is md in the length of a pull request
    /// comment. `github` prints annotations and writes the job summary of GitHub Actions.
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',', value_parser = ReportRequest::one_of(&Format::ALL))]
    pub(crate) report: Vec<ReportRequest>,
    /// Run the cheapest set of cases that notices this share, in percent, of the known faults (violations on which the suite was tried), for example 95.
    #[arg(long, value_name = "PERCENT", value_parser = integer::<u8>(1..=100))]
    pub(crate) detect: Option<u8>,
    /// Also send random searches for up to N seconds after the checks, and check that their results agree with each other, for
    /// example `--explore 60 --seed 7`. A finding is reduced to the smallest requests that show it.
    #[arg(long, value_name = "SECONDS", value_parser = integer::<NonZeroU32>(1..=u32::MAX.into()))]
    pub(crate) explore: Option<NonZeroU32>,
    /// Seed of the random searches; the same seed sends the same ones [default: 0].
    #[arg(long, value_name = "N", requires = "explore", value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,
    /// Maximum number of random searches, on top of --max-requests [default: 1000].
    #[arg(long, value_name = "N", requires = "explore", value_parser = integer::<NonZeroU64>(1..=u64::MAX))]
    pub(crate) explore_requests: Option<NonZeroU64>,
    /// Report findings on clauses that are inferred, not stated, as warnings (warn) or failures (fail) [default: fail].
    #[arg(long, value_name = "LEVEL", value_parser = inferred())]
    pub(crate) inferred: Option<InferredClauses>,
    /// Say in every report which findings are new, fixed and unchanged since this report in JSON, for example
    /// `--since yesterday.json`.
    #[arg(long, value_name = "REPORT")]
    pub(crate) since: Option<PathBuf>,
    /// Name what is tested in the reports, for example `--implementation 'gateway 4.2'`.
    #[arg(long, value_name = "TEXT")]
    pub(crate) implementation: Option<String>,
    /// End the run at the first failure.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Retry a failing check up to N times; a check that then passes is flaky.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = integer::<u8>(0..=u8::MAX.into()))]
    pub(crate) retries: u8,
    /// Print failures and the verdict only.
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print the requests and responses of each check, and unspecified behaviour.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    // Last, because its heading would stand over the arguments after it.
    #[command(flatten)]
    pub(crate) gates: Gates,
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

/// An address that only this machine can reach: what is served there has no token to ask for.
pub(super) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse().ok().filter(|address: &SocketAddr| address.ip().is_loopback());
    address.ok_or_else(|| {
        format!("expected an address of the loopback interface with a port, for example 127.0.0.1:9464, found `{text}`")
    })
}

/// How findings on inferred clauses count.
pub(super) fn inferred() -> impl TypedValueParser<Value = InferredClauses> {
    PossibleValuesParser::new(InferredClauses::ALL.map(InferredClauses::name))
        .try_map(|name| InferredClauses::named(&name).ok_or("unknown level"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        with_negative_numbers(Arguments::command()).debug_assert();
    }
}
