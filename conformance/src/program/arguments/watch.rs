use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use sallyport_conformance::Selection;

use sallyport_conformance::config::time;

use super::{TargetArguments, integer, loopback};

/// In seconds.
const WEEK: u64 = 7 * 24 * 60 * 60;

#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,
    /// Begin a run at this interval, for example 90s, 15m or 6h.
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = time(1, WEEK))]
    pub(crate) every: Duration,
    /// Keep what the next run is compared with, and reports of runs, in this folder, which one program at a time may use.
    #[arg(long, value_name = "FOLDER", default_value = "conformance-history")]
    pub(crate) history: PathBuf,
    /// Extract at most N gateways in any 24 hours, over all runs; once they are used up, runs skip extraction.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) gateways_per_day: u64,
    /// Keep the latest N JSON reports of runs that did not pass, in the folder of the history, and remove older ones; 0 keeps none.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = integer::<u16>(0..=1_000))]
    pub(crate) keep_reports: u16,
    /// Serve the page, /metrics and /healthz at this address of the loopback interface; port 0 chooses a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9464", value_parser = loopback)]
    pub(crate) listen: SocketAddr,
    /// Run this program after each run with a change, without a shell and for at most 30 seconds, for example `./alert`. It reads
    /// the change as JSON from standard input: `new`, `fixed` and `unchanged` violated clauses, `verdict` and `verdict_before`.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) on_change: Option<PathBuf>,
    /// End after N runs, with the exit code of the last one [default: run until a signal].
    #[arg(long, value_name = "N", value_parser = integer::<NonZeroU32>(1..=u32::MAX.into()))]
    pub(crate) runs: Option<NonZeroU32>,
    #[command(flatten)]
    pub(crate) selection: Selection,
}
