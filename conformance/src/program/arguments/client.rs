use std::ffi::OsString;
use std::num::NonZeroU8;

use clap::Args;
use sallyport_conformance::check::InferredClauses;
use sallyport_conformance::report::Format;
use sallyport_conformance::run::Glob;

use super::{inferred, integer};
use crate::program::reports::ReportRequest;

/// The client to test.
#[derive(Debug, Args)]
#[cfg_attr(
    not(feature = "embedded"),
    allow(dead_code, reason = "clients are tested in front of the embedded server")
)]
pub(crate) struct ClientArguments {
    /// Run only cases whose id or duty matches, for example 'client.wait-*'; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Vec<Glob>,
    /// Also write reports: json or junit, for example junit=client.xml; json=- writes to standard output.
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',', value_parser = ReportRequest::one_of(&Format::OF_CLIENTS))]
    pub(crate) report: Vec<ReportRequest>,
    /// Run at most N cases at the same time, 1 to 255.
    #[arg(long, value_name = "N", default_value = "8", value_parser = integer::<NonZeroU8>(1..=u8::MAX.into()))]
    pub(crate) concurrency: NonZeroU8,
    /// Count findings on duties that are inferred, not stated, as warnings (warn) or failures (fail) [default: fail].
    #[arg(long, value_name = "LEVEL", value_parser = inferred())]
    pub(crate) inferred: Option<InferredClauses>,
    /// Print failures and the verdict only.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// List the cases with their titles; run nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// The program and its arguments; `--` before it is optional.
    #[arg(trailing_var_arg = true, required_unless_present = "list", value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
