use std::path::PathBuf;

use clap::Args;
use sallyport_conformance::check::InferredClauses;
use sallyport_conformance::observe::Archive;

use super::{inferred, integer};
use crate::program::reports::ReportRequest;

#[derive(Debug, Args)]
pub(crate) struct ObserveArguments {
    /// HTTP Archive (HAR), as browsers, proxies and `--report har=FILE` write it.
    pub(crate) file: PathBuf,
    /// Judge the calls to the service at this URL [default: the only one that the file has calls to].
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Read at most N bytes.
    #[arg(long, value_name = "N", default_value_t = Archive::MAX_BYTES, value_parser = integer::<u64>(1..=u64::MAX))]
    pub(crate) max_bytes: u64,
    /// Also write reports, as `run` does, in any format but har.
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',')]
    pub(crate) report: Vec<ReportRequest>,
    /// Report findings on clauses that are inferred, not stated, as warnings (warn) or failures (fail) [default: fail].
    #[arg(long, value_name = "LEVEL", value_parser = inferred())]
    pub(crate) inferred: Option<InferredClauses>,
    /// Treat warnings as failures (exit code 1).
    #[arg(long)]
    pub(crate) fail_on_warning: bool,
    /// Also print all findings of a check, and the clauses that the traffic does not show.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}
