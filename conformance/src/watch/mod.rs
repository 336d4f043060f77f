//! Runs that repeat: the folder in which a watch keeps its state and reports, what changed with a run, and how many gateways the
//! next run may take.

mod allowance;
mod folder;

pub use allowance::{Allowance, Extraction};
pub use folder::{Changes, WatchFolder};
