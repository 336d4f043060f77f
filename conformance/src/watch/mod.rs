//! Runs that repeat: what is kept of each (a line, and the report of one that is no pass), how often a clause was broken, and how many gateways the next run may take.

mod allowance;
mod history;
mod rate;
mod record;
mod reports;
mod trend;

pub use allowance::Allowance;
pub use history::{History, HistoryError};
pub use rate::Rate;
pub use record::RunRecord;
pub use trend::{Change, ClauseTrend, changes, trends};
