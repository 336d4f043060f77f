use std::path::PathBuf;

use clap::Args;

use super::TargetArguments;

#[derive(Debug, Args)]
pub(crate) struct JudgeArguments {
    /// File with the curl command that was run.
    #[arg(long, value_name = "FILE", requires = "response", required_unless_present = "har")]
    pub(crate) curl: Option<PathBuf>,
    /// File with what `curl -i` printed: status line, headers, an empty line and the body.
    #[arg(long, value_name = "FILE", requires = "curl")]
    pub(crate) response: Option<PathBuf>,
    /// HTTP Archive (HAR) with the exchange.
    #[arg(long, value_name = "FILE", conflicts_with = "curl")]
    pub(crate) har: Option<PathBuf>,
    /// Number of the exchange in `log.entries`, from 0 [default: the only one].
    #[arg(long, value_name = "N", requires = "har")]
    pub(crate) entry: Option<usize>,
    /// Judge this clause, for example search.total [default: each that the exchange can show].
    #[arg(long, value_name = "CLAUSE")]
    pub(crate) clause: Option<String>,
    /// Say whether the run of this report in JSON would have noticed it.
    #[arg(long, value_name = "REPORT")]
    pub(crate) run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) target: TargetArguments,
}
