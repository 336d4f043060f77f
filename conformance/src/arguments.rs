use std::num::NonZeroU8;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sallyport_conformance::run::Glob;

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
  conformance run --base-url https://api.example.com --only 'groups.*'
  conformance run --report json=report.json
  conformance explain search.match-port

The account's token is read from SALLYPORT_API_KEY. `conformance list` names the checks; a check that is skipped names the
variable that supplies what it needs.

Exit codes:
  0  the service conforms to every clause that was checked
  1  it breaks at least one
  2  wrong usage or configuration
  3  it could not be reached
  4  no verdict: the budget was used up, a check came to no result, or nothing ran";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the checks.
    #[command(after_help = EXAMPLES)]
    Run(RunArguments),
    /// List the checks with the clauses they cite.
    List {
        /// How to print them.
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Explain a clause: its words, and the checks that cite it.
    Explain {
        /// Id of the clause, for instance search.match-port.
        clause: String,
    },
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
    /// Where the service is, for instance https://api.example.com.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Run only checks whose id, clause or operation fits; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Vec<Glob>,
    /// Leave out checks whose id, clause or operation fits; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) skip: Vec<Glob>,
    /// Write a report as well, for instance json=report.json; may be repeated.
    #[arg(long, value_name = "FORMAT=FILE")]
    pub(crate) report: Vec<ReportRequest>,
    /// Checks at the same time.
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<NonZeroU8>,
    /// Most requests; reaching it ends the run without a verdict.
    #[arg(long, value_name = "N")]
    pub(crate) max_requests: Option<u64>,
    /// Most gateways that extractions may take.
    #[arg(long, value_name = "N")]
    pub(crate) max_gateways: Option<u64>,
    /// Allow plain http to another machine. The token travels in clear text then.
    #[arg(long)]
    pub(crate) allow_http: bool,
}

/// A report to be written, in JSON.
#[derive(Debug, Clone)]
pub(crate) struct ReportRequest {
    pub(crate) path: PathBuf,
}

impl std::str::FromStr for ReportRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some(("json", path)) if !path.is_empty() => Ok(Self { path: path.into() }),
            _ => Err("expected json=FILE".to_owned()),
        }
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
    fn run_is_the_default() {
        let arguments = Arguments::try_parse_from(["conformance", "--only", "groups.*"]).expect("valid");
        assert!(arguments.command.is_none());
        assert_eq!(arguments.run.only, [Glob::new("groups.*")]);
        assert!(Arguments::try_parse_from(["conformance", "--report", "xml=a"]).is_err());
    }
}
