//! Runs that repeat: the folder of a watch with its state, what changed with a run, and how many gateways the next one may take.

mod allowance;
mod folder;

pub use allowance::{Allowance, Extraction};
pub use folder::{Changes, WatchFolder};
