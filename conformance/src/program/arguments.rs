use std::convert::Infallible;
use std::num::{NonZeroU8, NonZeroU32};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use sallyport_conformance::Secret;
use sallyport_conformance::report::Format;
use sallyport_conformance::run::{Glob, Profile};

/// Hold a service against the Sallyport contract.
///
/// Without a subcommand it runs. Without --base-url it runs against the embedded reference server with sample data.
#[derive(Debug, Parser)]
#[command(name = "conformance", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

const EXAMPLES: &str = "\
Examples:
  conformance
  conformance init
  conformance plan --config conformance.toml
  conformance run --config conformance.toml --report html=report.html,json=report.json
  conformance run --base-url https://api.example.com --profile smoke --only 'groups.*'
  conformance run --base-url https://api.example.com --min-detection 90 --require 'search.*'
  conformance plan --base-url https://api.example.com --detect 95
  conformance baseline report.json --reason 'ticket 123' >> conformance.toml
  conformance replay report.json search.match-port.subset --base-url https://api.example.com
  conformance explain search.match-port

The account's token is read from SALLYPORT_API_KEY, from --api-key-file or from --api-key-stdin. A check that is skipped
names the variable that supplies what it needs; the same names, in lower case, are the keys of [facts] in the configuration.
An argument goes before a variable, and that before the configuration.

Exit codes:
  0  the service conforms to every clause that was checked
  1  it breaks at least one; for `compare`: something has changed
  2  wrong usage or configuration
  3  it could not be reached, or rejects the account's token
  4  no verdict: a ceiling was reached, the run was stopped, a check came to no result or to changing ones, a gate was not
     met, or nothing ran";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the checks.
    #[command(after_help = EXAMPLES)]
    Run(Box<RunArguments>),
    /// Say which checks would run, what they would cost and notice, and which would be skipped and why. Sends nothing, and
    /// needs no token.
    Plan(Box<RunArguments>),
    /// List the checks with the clauses they cite.
    List {
        /// How to print them.
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Explain a clause: its words, what a failure means, a sample request, and the checks that cite it.
    Explain {
        /// Id of the clause, for instance search.match-port.
        clause: String,
    },
    /// Run the check of one finding again. Tokens go to --base-url (or `base-url` of the configuration) only, never to
    /// where a report points.
    Replay {
        /// A report in JSON.
        report: PathBuf,
        /// Id of the check.
        check: String,
        /// Replay against a target that is not the one of the report, for instance
        /// `replay report.json search.total --base-url https://staging.example.com --allow-other-target`.
        #[arg(long)]
        allow_other_target: bool,
        #[command(flatten)]
        target: TargetArguments,
    },
    /// Print the clauses that a report found broken as expected failures, for the configuration.
    Baseline {
        /// A report in JSON.
        report: PathBuf,
        /// Why they are put up with, for instance `--reason 'ticket 123'`.
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// The last day on which they are [default: in 90 days].
        #[arg(long, value_name = "YYYY-MM-DD")]
        until: Option<jiff::civil::Date>,
    },
    /// Record how a target behaves, case by case, what the contract leaves open included.
    Record {
        /// The folder to write to; one file a case.
        folder: PathBuf,
        #[command(flatten)]
        target: TargetArguments,
    },
    /// Compare a recording with another one, or with how a target behaves now.
    Compare {
        /// A recording.
        before: PathBuf,
        /// Another one; without it the target is asked.
        after: Option<PathBuf>,
        #[command(flatten)]
        target: TargetArguments,
    },
    /// Write a configuration with comments; on a terminal it asks for what it needs.
    Init {
        /// The file to write.
        #[arg(default_value = "conformance.toml")]
        file: PathBuf,
        /// Write over a file that is there.
        #[arg(long)]
        force: bool,
    },
    /// Print the JSON Schema of the JSON report.
    Schema,
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// One check on one line.
    Text,
    /// An array of objects.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,
    /// Run only checks whose id, clause or operation fits, or one case, as `check-id/case-label`; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Vec<Glob>,
    /// Leave out checks whose id, clause or operation fits, or one case; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) skip: Vec<Glob>,
    /// Write reports as well: html, json, junit, sarif or md, for instance html=report.html,json=report.json; json=- writes
    /// to standard output.
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',')]
    pub(crate) report: Vec<ReportRequest>,
    #[command(flatten)]
    pub(crate) gates: GateArguments,
    /// Run only as many cases as are needed to notice so many percent of the known faults, the cheapest ones.
    #[arg(long, value_name = "PERCENT", value_parser = percent())]
    pub(crate) detect: Option<u8>,
    /// What is tested, for instance `--implementation 'gateway 4.2'`; reports name it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) implementation: Option<String>,
    /// End the run at the first failure.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Run a check that found something so often again before calling it a failure.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) retries: u8,
    /// Only say what would run, as `plan` does.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print failures and the verdict only.
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print what each check asked and was answered, and what was seen of things that the contract leaves open.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// What a run must show before it conforms. The same keys, without the dashes, stand in [gates] of the configuration.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gates")]
pub(crate) struct GateArguments {
    /// No verdict (exit code 4) unless every clause that fits is judged; may be repeated.
    #[arg(long, value_name = "CLAUSE-GLOB")]
    pub(crate) require: Vec<Glob>,
    /// No verdict unless at least so many clauses are judged.
    #[arg(long, value_name = "N")]
    pub(crate) min_clauses: Option<u16>,
    /// No verdict unless the run would have noticed at least so many percent of the known faults.
    #[arg(long, value_name = "PERCENT", value_parser = percent())]
    pub(crate) min_detection: Option<u8>,
    /// No verdict when a check or a case is skipped.
    #[arg(long)]
    pub(crate) fail_on_skip: bool,
    /// A warning is a failure (exit code 1).
    #[arg(long)]
    pub(crate) fail_on_warning: bool,
}

/// Where the target is, how it is reached and how much of it may be taken.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    /// Where the service is, for instance https://api.example.com.
    #[arg(long, value_name = "URL", env = "CONFORMANCE_BASE_URL")]
    pub(crate) base_url: Option<String>,
    /// A configuration; `conformance init` writes one.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// How much load to put on the target [default: production; full for the embedded server]. Full takes some 1,400
    /// gateways, for instance `--profile full` for a test environment.
    #[arg(long, value_parser = PossibleValuesParser::new(Profile::ALL.map(Profile::name)))]
    pub(crate) profile: Option<String>,
    /// Read the account's token from a file.
    #[arg(long, value_name = "FILE", group = "token")]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Read the account's token from standard input.
    #[arg(long, group = "token")]
    pub(crate) api_key_stdin: bool,
    /// The account's token itself. Every user of this machine can see it in the list of processes.
    #[arg(long, value_name = "TOKEN", group = "token", value_parser = secret("API_KEY"))]
    pub(crate) api_key: Option<Secret>,
    /// Allow plain http to another machine. The token travels in clear text then.
    #[arg(long)]
    pub(crate) allow_http: bool,
    /// Time for one exchange.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<NonZeroU32>,
    /// Trust the certificates in this file, in PEM, as well.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Go through this proxy. One with a password belongs into the configuration.
    #[arg(long, value_name = "URL", value_parser = secret("PROXY"))]
    pub(crate) proxy: Option<Secret>,
    /// Send this header with every request; may be repeated. Its value is kept out of reports.
    #[arg(long, value_name = "NAME: VALUE", value_parser = secret("HEADER"))]
    pub(crate) header: Vec<Secret>,
    /// The same with a value that reports may show.
    #[arg(long, value_name = "NAME: VALUE", value_parser = secret("HEADER"))]
    pub(crate) public_header: Vec<Secret>,
    /// Most requests; reaching it ends the run without a verdict.
    #[arg(long, value_name = "N")]
    pub(crate) max_requests: Option<u64>,
    /// Most gateways that answers may hand out; see the README for what a target can hand out beyond it.
    #[arg(long, value_name = "N")]
    pub(crate) max_gateways: Option<u64>,
    /// Most bytes of bodies, sent and received.
    #[arg(long, value_name = "N")]
    pub(crate) max_bytes: Option<u64>,
    /// Longest time for the whole run.
    #[arg(long, value_name = "N")]
    pub(crate) max_seconds: Option<NonZeroU32>,
    /// Most requests per second.
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<NonZeroU32>,
    /// Checks at the same time.
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<NonZeroU8>,
}

/// A share, from 1 to 100.
fn percent() -> clap::builder::RangedI64ValueParser<u8> {
    clap::value_parser!(u8).range(1..=100)
}

/// Takes an argument as a secret, so that nothing shows it by chance.
fn secret(name: &'static str) -> impl Fn(&str) -> Result<Secret, Infallible> + Clone + Send + Sync + 'static {
    move |text| Ok(Secret::new(name, text))
}

/// A report to be written.
#[derive(Debug, Clone)]
pub(crate) struct ReportRequest {
    pub(crate) format: Format,
    pub(crate) path: PathBuf,
}

impl ReportRequest {
    /// Whether it goes to standard output; what people read goes to standard error then.
    pub(crate) fn is_stdout(&self) -> bool {
        self.path.as_os_str() == "-"
    }
}

impl std::str::FromStr for ReportRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('=').filter(|(_, path)| !path.is_empty());
        let request =
            parts.and_then(|(format, path)| Some(Self { format: Format::named(format)?, path: path.into() }));
        request.ok_or_else(|| {
            let forms = Format::ALL.map(|format| format!("{}=FILE", format.name()));
            format!("expected {}", forms.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn reports_are_asked_for_by_format() {
        let request: ReportRequest = "html=a=b.html".parse().expect("a request");
        assert_eq!((request.format, request.path), (Format::Html, "a=b.html".into()));
        for wrong in ["", "json", "json=", "pdf=x", "=x"] {
            assert!(wrong.parse::<ReportRequest>().expect_err(wrong).contains("json=FILE"));
        }
    }
}
